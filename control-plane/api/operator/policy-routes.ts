/** Who may sign in, how strongly, from where and on what: read, set, and tried on the past. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { PolicyReplay } from '../../accounts/policy-replay.ts'
import { POLICY_NAMES, type PolicyName } from '../../policy/policies.ts'
import type { PolicyInput, TenantPolicies } from '../../tenants/policies.ts'
import type { ApiEnv } from '../api-env.ts'
import { readJson } from '../body.ts'
import { POLICY_BODIES } from './policy-fields.ts'

export interface PolicyRoutesWorld {
  readonly policies: TenantPolicies
  readonly replayPolicy: PolicyReplay
}

const DAYS_WISH = `a whole number of days from 1 to ${LIMITS.replayDaysMax}`
const days = v.optional(
  v.pipe(
    v.number(DAYS_WISH),
    v.integer(DAYS_WISH),
    v.minValue(1, DAYS_WISH),
    v.maxValue(LIMITS.replayDaysMax, DAYS_WISH),
  ),
  7,
)

export function policyRoutes({ policies, replayPolicy }: PolicyRoutesWorld) {
  const app = new Hono<ApiEnv>()

  app.get('/:id/policies', async (c) => c.json(await policies.of(c.req.param('id'))))

  app.get('/:id/policies/:name', async (c) => {
    const name = nameOf(c.req.param('name'))
    return c.json((await policies.of(c.req.param('id')))[name])
  })

  app.put('/:id/policies/:name', async (c) => {
    const name = nameOf(c.req.param('name'))
    const input = (await readJson(c, POLICY_BODIES[name])) as PolicyInput<typeof name>
    return c.json(await policies.put(c.req.param('id'), name, input, c.var.actor))
  })

  /** `{"days": 7, "policy": {…}}`: nothing is changed by it. */
  app.post('/:id/policies/:name/replay', async (c) => {
    const name = nameOf(c.req.param('name'))
    const body = await readJson(c, v.strictObject({ days, policy: POLICY_BODIES[name] }))
    const input = body.policy as PolicyInput<typeof name>
    const result = await replayPolicy(c.req.param('id'), name, input, body.days)
    return c.json({
      policy: name,
      days: body.days,
      sign_ins: result.signIns,
      same: result.same,
      differences: result.differences,
      examples: result.examples.map(({ id, at, userId, ...same }) => ({
        sign_in_id: id,
        at: new Date(at * 1000).toISOString(),
        user_id: userId,
        ...same,
      })),
      truncated: result.isCut,
    })
  })

  return app
}

function nameOf(text: string): PolicyName {
  const name = POLICY_NAMES.find((name) => name === text)
  if (name !== undefined) return name
  throw new Refusal(
    'not_found',
    {},
    `There is no such policy; there are ${POLICY_NAMES.join(', ')}.`,
  )
}
