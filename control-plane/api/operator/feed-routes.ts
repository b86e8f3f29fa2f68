/** What a tenant's enforcement looks like from here: who polls, and what was enforced. */
import * as v from 'valibot'
import type { FeedInstance } from '../../feed/instances.ts'
import { described, time } from '../../requests/described.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { viewOf } from '../../requests/field-names.ts'
import type { ApiWorld } from '../world.ts'

const Instance = v.strictObject({
  name: described(v.string(), 'The name it reports; instances without one count as a single one.'),
  version: described(v.string(), 'Version of the middleware; empty if it does not report one.'),
  last_poll_at: time,
  up_to_date: described(v.boolean(), 'Whether it has the current state.'),
  clock_offset_ms: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    'Its clock minus ours, as it measured; null: not reported.',
  ),
})

const EnforcementEvent = v.strictObject({
  sequence: v.pipe(v.number(), v.integer()),
  at: described(time, 'When it arrived.'),
  outcome: v.string(),
  subject: v.nullable(v.string()),
  sid: v.nullable(v.string()),
  reason: v.nullable(v.string()),
  ip: v.nullable(v.string()),
  app_host: v.nullable(v.string()),
  path: described(v.nullable(v.string()), 'The path of a refused request, without its query.'),
  count: described(v.number(), 'How many similar requests this entry stands for.'),
  instance: described(v.string(), 'The instance or gateway that enforced.'),
})

const operator = endpointsOf('tenants', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'

export function operatorFeedEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, instances, enforcement } = world
  return [
    operator.get(`${TENANT}/instances`, {
      summary: 'Lists the application instances that poll the enforcement feed, by name.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(Instance), 'One page of instances.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(mapPage(await instances.list(tenantId, query), instanceView))
      },
    }),
    operator.get(`${TENANT}/enforcement-events`, {
      summary: 'Lists what gateways and middleware enforced, newest first.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(EnforcementEvent), 'One page of events.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(mapPage(await enforcement.list(tenantId, query), viewOf(EnforcementEvent)))
      },
    }),
  ]
}

const ofInstance = viewOf(Instance)

function instanceView(instance: FeedInstance) {
  const { lastPollMs: lastPollAt, etagIsCurrent: upToDate } = instance
  return ofInstance({ ...instance, lastPollAt, upToDate })
}
