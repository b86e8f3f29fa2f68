/** Who may sign in, how strongly, from where and on what: read, set, and tried on the past. */
import * as v from 'valibot'
import { LIMITS } from '../../../shared/limits.ts'
import { DEFAULT_POLICIES, POLICY_NAMES, type PolicyName } from '../../policy/policies.ts'
import type { PolicyInput } from '../../tenants/policies.ts'
import { Enforced } from '../answer-fields.ts'
import { count, described, time } from '../../requests/described.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import { viewOf } from '../../requests/field-names.ts'
import { enforcedAnswers } from './enforced-answers.ts'
import { whole } from '../../requests/fields.ts'
import { POLICY_ANSWERS, POLICY_BODIES } from '../../requests/policy-fields.ts'
import type { ApiWorld } from '../world.ts'

const days = v.optional(whole(1, LIMITS.replayDaysMax, ' of days'), 7)

const outcome = described(v.string(), '`signed_in`, or why not.')
const Example = v.strictObject({
  sign_in_id: v.string(),
  at: time,
  user_id: v.nullable(v.string()),
  ip: v.string(),
  before: outcome,
  after: outcome,
})
const ofExample = viewOf(Example)
const ReplayAnswer = v.strictObject({
  policy: v.picklist(POLICY_NAMES),
  days: count,
  sign_ins: count,
  same: count,
  differences: v.array(v.strictObject({ before: outcome, after: outcome, count })),
  examples: v.array(Example),
  truncated: described(v.boolean(), 'Only the oldest of these days were included.'),
})

const operator = endpointsOf('policies', 'operator')
const POLICIES = '/api/v1/operator/tenants/{tenant_id}/policies'

/** Said with each answer about it, and not in it: what was shown can be put again as it is. */
const HIDDEN =
  '299 - "Network policies cannot work: a proxy terminates TLS, but control_plane.trusted_proxies does not list it."'

const SessionPolicyAnswer = v.strictObject({
  ...POLICY_ANSWERS.session.entries,
  enforced: described(Enforced, 'Gateways end sessions that the new policy no longer allows.'),
})

export function policyEndpoints(world: ApiWorld) {
  const { policies, replayPolicy, clientsHidden } = world
  const enforcement = enforcedAnswers(world)
  const warnOf = (name: PolicyName): Record<string, string> =>
    name === 'network' && clientsHidden ? { Warning: HIDDEN } : {}

  const all = operator.get(POLICIES, {
    summary: 'Shows all policies of a tenant.',
    answers: { 200: json(v.strictObject(POLICY_ANSWERS), 'Every policy in force.') },
    handle: async (c, { path }) =>
      c.json(await policies.of(path.tenant_id), 200, warnOf('network')),
  })

  const each = POLICY_NAMES.flatMap((name): Endpoint[] => {
    const policy = POLICY_BODIES[name]
    const { [name]: example } = DEFAULT_POLICIES
    const answer = json(POLICY_ANSWERS[name], 'The policy in force.')
    const headers = { Warning: 'Why it cannot work, if so.' }
    const answers = { 200: name === 'network' ? { ...answer, headers } : answer }
    return [
      operator.get(`${POLICIES}/${name}`, {
        summary: `Shows the ${name} policy.`,
        answers,
        handle: async (c, { path }) =>
          c.json((await policies.of(path.tenant_id))[name], 200, warnOf(name)),
      }),
      operator.put(`${POLICIES}/${name}`, {
        summary: `Sets the ${name} policy; fields you leave out get their defaults.`,
        body: policy,
        example,
        answers:
          name === 'session'
            ? { 200: json(SessionPolicyAnswer, 'The policy, and which gateways apply it.') }
            : answers,
        refusals: name === 'password' ? ['connection_not_active'] : [],
        handle: async (c, { path, body }) => {
          const input = body as PolicyInput<typeof name>
          const put = await policies.put(path.tenant_id, name, input, c.var.actor)
          // what the others say is asked for here, at the next sign-in, and not at any gateway
          if (name !== 'session') return c.json(put, 200, warnOf(name))
          return c.json({ ...put, enforced: await enforcement.change(path.tenant_id) })
        },
      }),
      operator.post(`${POLICIES}/${name}/replay`, {
        summary: `Previews the impact of another ${name} policy; changes nothing.`,
        body: v.strictObject({ days, policy }),
        example: { days: 7, policy: example },
        answers: { 200: json(ReplayAnswer, 'The sign-ins of these days under that policy.') },
        handle: async (c, { path, body }) => {
          const input = body.policy as PolicyInput<typeof name>
          const result = await replayPolicy(path.tenant_id, name, input, body.days)
          return c.json({
            policy: name,
            days: body.days,
            sign_ins: result.signIns,
            same: result.same,
            differences: result.differences,
            examples: result.examples.map(({ id, at, ...same }) =>
              ofExample({ ...same, signInId: id, at: at * 1000 }),
            ),
            truncated: result.isCut,
          })
        },
      }),
    ]
  })

  return [all, ...each]
}
