/** Verification and going live, for the tenant whose analyzer key comes along. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import type { VerificationStatus } from '../verification/verification.ts'
import { ProtectionAnswer } from './answer-fields.ts'
import { count, described, time } from '../requests/described.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'
import { NothingBody } from '../requests/fields.ts'
import { GoLiveAnywayBody } from '../requests/key-fields.ts'
import { viewOf } from '../requests/field-names.ts'
import { protectionView } from './operator/views.ts'
import type { ApiWorld } from './world.ts'

const analyzer = endpointsOf('verification', 'analyzer')

const Check = v.strictObject({
  check: v.string(),
  status: v.picklist(['pass', 'fail', 'warn', 'skip']),
  detail: described(v.string(), 'What was found. May be empty.'),
  next_action: described(v.string(), 'What to do next. May be empty.'),
  at: time,
  source: described(
    v.picklist(['platform', 'self_report']),
    '`platform`: seen by the service itself; `self_report`: reported by the tool.',
  ),
})

const VerificationAnswer = v.strictObject({
  status: described(
    v.picklist(['pass', 'fail', 'unknown']),
    '`fail` if the newest result of any check failed; `unknown` until one has run.',
  ),
  ran: described(count, 'How many checks have run.'),
  checks: v.array(Check),
  held_back: described(
    v.array(v.string()),
    'The checks whose self-report makes `go-live` answer `local_checks_failed`, whatever `status` says.',
  ),
})

export function verificationEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { rates, tenants, verification } = world
  return [
    analyzer.get('/api/v1/verify/status', {
      summary: 'Shows the results of the checks.',
      answers: { 200: json(VerificationAnswer, 'The newest result of each check.') },
      handle: async (c) => c.json(statusView(await verification.status(c.var.tenant.tenantId))),
    }),
    analyzer.post('/api/v1/verify/probe', {
      summary: "Runs the platform's checks: genuine and forged probes sent through the service.",
      body: NothingBody,
      answers: { 200: json(VerificationAnswer, 'The results, as in `verify/status`.') },
      refusals: ['tenant_draft', 'not_published', 'changed_meanwhile'],
      handle: async (c) => {
        const { tenantId } = c.var.tenant
        rates.take('probe', tenantId, LIMITS.rateProbe)
        return c.json(statusView(await verification.probe(tenantId)))
      },
    }),
    analyzer.post('/api/v1/go-live', {
      summary: 'Turns protection on. Verification must have confirmed the middleware and the key.',
      description:
        'From then on every request requires a sign-in. Calling it again changes nothing. A report of the command line tool never counts toward it and can hold it back: `local_checks_failed` while the latest one, of the last day, fails `middleware_mounted`, `listeners_guarded` or `websockets_guarded`. `checks` says what to do; `ignore_local_checks` goes live anyway, and is audited.',
      body: GoLiveAnywayBody, // `force` is the operator's alone, and audited
      example: { ignore_local_checks: false },
      answers: { 200: json(ProtectionAnswer, 'Protection is on.') },
      refusals: ['not_verified', 'local_checks_failed', 'tenant_draft', 'licence_blocked'],
      handle: async (c, { body }) => {
        const wish = { force: false, ignoresLocalChecks: body.ignore_local_checks }
        const state = await tenants.goLive(c.var.tenant.tenantId, wish, c.var.actor)
        await world.changesSettled()
        return c.json(protectionView(state))
      },
    }),
    /** No rate, and no body that could be wrong. */
    analyzer.post('/api/v1/go-back', {
      isUnlimited: true,
      summary: 'Turns protection off and returns to pass-through. Always allowed.',
      answers: { 200: json(ProtectionAnswer, 'Protection is off: all requests pass through.') },
      handle: async (c) => {
        const state = await tenants.goBack(c.var.tenant.tenantId, c.var.actor)
        await world.changesSettled()
        return c.json(protectionView(state))
      },
    }),
  ]
}

function statusView({ status, checks, heldBack }: VerificationStatus) {
  return { status, ran: checks.length, checks: checks.map(viewOf(Check)), held_back: heldBack }
}
