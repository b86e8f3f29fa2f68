/**
 * What the command line tool asks of its tenant and reports of itself, and the end of an
 * integration: a sign-in from end to end.
 */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { MODES, PROTECTIONS } from '../../shared/fleet/snapshot.ts'
import type { Connectors } from '../connectors/connectors.ts'
import type { Tenant } from '../tenants/tenants.ts'
import { count, described, time } from '../requests/described.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'
import { SelfReportBody } from './integration-fields.ts'
import { NothingBody } from '../requests/fields.ts'
import { fromOutside, iso, viewOf } from '../requests/field-names.ts'
import { tenantView } from './operator/views.ts'
import type { ApiWorld } from './world.ts'

const analyzer = endpointsOf('integration', 'analyzer')
const verification = endpointsOf('verification', 'analyzer')

/** What an integrator has to know of the tenant, and no more: strict, so nothing else goes out. */
const FactsAnswer = v.strictObject({
  tenant_id: v.string(),
  name: v.string(),
  mode: described(v.picklist(MODES), 'Where access is enforced.'),
  status: v.picklist(['draft', 'published', 'suspended']),
  protection: v.picklist(PROTECTIONS),
  edge_urls: described(v.record(v.string(), v.string()), 'The public URL of each hostname.'),
  origin: described(v.string(), 'Where the application runs.'),
  health: v.string(),
  sealed: described(v.array(v.string()), 'Paths that return 404 to everyone.'),
  excluded: described(v.array(v.string()), 'Paths open without a sign-in.'),
  issuer: v.string(),
  client_id: v.string(),
  integration_completed_at: v.nullable(time),
  connectors_connected: described(
    v.nullable(count),
    'How many connectors are connected now; null if the mode is not `connector`.',
  ),
})

const RecordedAnswer = v.strictObject({
  recorded: described(count, 'How many results were recorded.'),
})

const Check = v.strictObject({
  check: v.string(),
  status: described(
    v.picklist(['pass', 'fail', 'warn', 'skip']),
    '`skip`: the detail says why, for example because of a policy.',
  ),
  detail: v.string(),
  next_action: v.string(),
})

const IntegrationAnswer = v.strictObject({
  completed_at: described(time, 'When the integration was completed.'),
  checks: described(v.array(Check), 'The steps of one sign-in, in order.'),
})

export function integrationEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { rates, selfReports, integration } = world
  return [
    analyzer.get('/api/v1/integration', {
      summary: 'Shows what an application and its tools need to know about their tenant.',
      answers: { 200: json(FactsAnswer, 'Contains no secrets.') },
      handle: async (c) => c.json(await factsView(c.var.tenant, world)),
    }),
    verification.post('/api/v1/verify/local', {
      summary: 'Records what the command-line tool found on a local machine.',
      description:
        'Stored as a self-report: `verify/status` labels it so, it never counts toward go-live (a failure can hold it back) and never hides what the platform itself saw. The newest result of each check counts.',
      body: SelfReportBody,
      example: {
        cli_version: '0.1.0',
        project: { framework: 'express', language: 'typescript' },
        checks: [{ check: 'config_found', status: 'pass', detail: '', next_action: '' }],
      },
      answers: { 200: json(RecordedAnswer, 'What was recorded.') },
      handle: async (c, { body }) => {
        const { tenantId } = c.var.tenant
        rates.take('self_report', tenantId, LIMITS.rateProbe)
        const { cli_version: cliVersion, project, checks } = body
        const report = { cliVersion, ...project, checks: checks.map(fromOutside) }
        return c.json({ recorded: await selfReports.record(tenantId, report, c.var.actor) })
      },
    }),
    verification.post('/api/v1/integration-complete', {
      summary: 'Runs one sign-in from end to end and marks the integration complete.',
      description:
        'As a browser would, with a person who exists for this alone: front page, sign-in page, callback, application, sign-out. Besides, the platform must have confirmed the middleware and the key. What a policy leaves to a person is skipped. Otherwise 409 `not_complete` names the checks that are `missing`. Asked again, it looks again. The application sees the person, `sign-in-check-…`, at every call: one that adds users on sight keeps one for each, so it is ten calls and then one a minute; beyond, 429 with `Retry-After`.',
      body: NothingBody,
      answers: { 200: json(IntegrationAnswer, 'The integration is complete.') },
      refusals: ['not_complete', 'tenant_draft', 'tenant_suspended', 'changed_meanwhile'],
      handle: async (c) => {
        const { tenantId } = c.var.tenant
        rates.take('integration', tenantId, LIMITS.rateIntegration)
        const result = await integration.complete(tenantId, c.var.actor)
        const checks = result.checks.map(viewOf(Check))
        const { completedAtMs, missing } = result
        if (completedAtMs === null) throw new Refusal('not_complete', { missing, checks })
        return c.json({ completed_at: iso(completedAtMs), checks })
      },
    }),
  ]
}

const FACTS = Object.keys(FactsAnswer.entries) as (keyof typeof FactsAnswer.entries)[]

async function factsView(tenant: Tenant, world: ApiWorld) {
  const view = {
    ...tenantView(tenant, world),
    connectors_connected: await connectedOf(tenant, world.connectors),
  }
  return Object.fromEntries(FACTS.map((name) => [name, view[name]]))
}

/** Also those that do not reach the application: it may not run yet. */
async function connectedOf(
  { tenantId, mode }: Tenant,
  connectors: Pick<Connectors, 'list'>,
): Promise<number | null> {
  if (mode !== 'connector') return null
  const all = await connectors.list(tenantId)
  return all.filter(({ state }) => state === 'connected' || state === 'unreachable').length
}
