/** The enforcement feed: what a middleware in sdk mode asks for, and what it reports. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { ContactSchema, EnforcedRulesSchema } from '../../shared/fleet/access-rules.ts'
import { EnforcedServicesSchema } from '../../shared/fleet/services.ts'
import {
  LICENCES,
  MODES,
  PROTECTIONS,
  SESSION_BINDINGS,
  TENANT_STATUSES,
} from '../../shared/fleet/snapshot.ts'
import { EnforcementEventBody, readBatch } from '../events/event-batch.ts'
import { requireFeed } from '../feed/feed.ts'
import { POLL_HEADERS, readPoll } from '../feed/poll-headers.ts'
import { count, described } from '../requests/described.ts'
import { endpointsOf, json, nothing, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

const notBefores = v.record(v.string(), count)

const FeedState = v.strictObject({
  poll_after: described(count, 'Seconds to wait before the next poll.'),
  tenant: v.strictObject({
    tenant_id: v.string(),
    name: v.string(),
    mode: v.picklist(MODES),
    status: v.picklist(TENANT_STATUSES),
    protection: v.picklist(PROTECTIONS),
    licence: v.picklist(LICENCES),
    licence_blocks_signin: v.boolean(),
    origin: described(v.string(), 'The public address of the application.'),
    sealed: described(v.array(v.string()), 'Path prefixes that return 404.'),
    excluded: described(v.array(v.string()), 'Path prefixes open without a sign-in.'),
    health: v.string(),
    max_session_seconds: count,
    idle_seconds: count,
    session_binding: v.picklist(SESSION_BINDINGS),
    access: v.optional(
      described(EnforcedRulesSchema, 'Who may open which paths; left out: whoever is signed in.'),
    ),
    access_contact: v.optional(
      described(ContactSchema, 'Whom to ask for access, where a rule refuses it.'),
    ),
    services: v.optional(
      described(EnforcedServicesSchema, 'Machines, and what rules say of them; left out: none.'),
    ),
  }),
  revoked: v.strictObject({
    all: described(count, 'Epoch seconds: sessions issued earlier are invalid. 0: none.'),
    subjects: described(notBefores, 'The same, per user.'),
    sids: described(notBefores, 'The same, per session.'),
    claims: v.optional(
      described(notBefores, 'Per user: older tokens are to be renewed, as their groups changed.'),
    ),
    session_seconds: v.optional(
      described(count, 'How long to keep these revocations, if longer than a day.'),
    ),
  }),
})

const EventsBody = v.strictObject({
  events: v.pipe(
    v.array(v.unknown(), 'an array of events'),
    v.description(
      `At most ${LIMITS.eventsPerBatchMax}. An invalid event counts as rejected and ` +
        'does not affect the others. Other fields are ignored, including a time set by the client.',
    ),
  ),
})

const client = endpointsOf('enforcement', 'client')

export function feedEndpoints({ feed, enforcement }: ApiWorld): readonly Endpoint[] {
  return [
    client.get('/api/v1/enforcement/state', {
      isUnlimited: true, // but by instance and tenant: below
      summary: 'Shows what to enforce in sdk mode, and which sessions are revoked.',
      description:
        'A suspended tenant gets its state; a draft, or a tenant in another mode, gets 409.',
      headers: POLL_HEADERS,
      answers: {
        200: {
          ...json(FeedState, 'The complete state.'),
          headers: { ETag: 'Send it with the next poll.' },
        },
        304: nothing('Not modified.'),
      },
      refusals: ['mode_not_sdk', 'tenant_draft', 'rate_limited'],
      handle: async (c) => {
        const header = (name: string) => c.req.header(name)
        const poll = readPoll(header)
        feed.admit(c.var.tenant, poll.name)
        const { etag, body } = await feed.poll(c.var.tenant, poll, header('if-none-match'))
        if (body === undefined) return c.body(null, 304, { ETag: etag })
        return c.body(body, 200, { 'Content-Type': 'application/json', ETag: etag })
      },
    }),
    client.post('/api/v1/enforcement/events', {
      summary: 'Receives events from the middleware.',
      description:
        'Events are dated when they arrive. `terminate` and `logout` with a `sid` end ' +
        'that session everywhere, even if the rest of the batch exceeds the limit. On 429, ' +
        'keep the batch and send it again.',
      headers: { 'X-Service-Instance': POLL_HEADERS['X-Service-Instance'] },
      body: EventsBody,
      elements: { events: EnforcementEventBody },
      example: { events: [{ outcome: 'sealed', ip: '192.0.2.1', app_host: 'app.example.com' }] },
      answers: {
        200: json(v.strictObject({ accepted: count, rejected: count }), 'How many were accepted.'),
      },
      refusals: ['mode_not_sdk', 'tenant_draft'],
      handle: async (c, { body }) => {
        const { tenant } = c.var
        requireFeed(tenant)
        if (body.events.length > LIMITS.eventsPerBatchMax)
          throw new Refusal(
            'body_too_large',
            { field: 'events', items_max: LIMITS.eventsPerBatchMax },
            `"events" must hold at most ${LIMITS.eventsPerBatchMax} events.`,
          )
        const { events, rejected } = readBatch(body.events)
        const { name } = readPoll((header) => c.req.header(header))
        await enforcement.take(tenant.tenantId, name, events, rejected)
        return c.json({ accepted: events.length, rejected })
      },
    }),
  ]
}
