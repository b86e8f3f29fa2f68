/** Verification and going live, for the tenant whose analyzer key comes along. */
import { Hono } from 'hono'
import { LIMITS } from '../../shared/limits.ts'
import type { Tenants } from '../tenants/tenants.ts'
import type { Verification, VerificationStatus } from '../verification/verification.ts'
import type { ApiEnv } from './api-env.ts'
import { readJson } from './body.ts'
import type { Callers } from './callers.ts'
import { NothingBody } from './operator/fields.ts'
import { iso, protectionView } from './operator/views.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'

export interface VerificationRoutesWorld {
  readonly callers: Callers
  readonly rates: RateLimits
  readonly tenants: Pick<Tenants, 'goLive' | 'goBack'>
  readonly verification: Verification
  readonly changesSettled: () => Promise<unknown>
}

export function verificationRoutes(world: VerificationRoutesWorld) {
  const { callers, rates, tenants, verification } = world
  const app = new Hono<ApiEnv>()

  app.get('/verify/status', callers.analyzer, async (c) =>
    c.json(statusView(await verification.status(c.var.tenant.tenantId))),
  )

  app.post('/verify/probe', callers.analyzer, async (c) => {
    await readJson(c, NothingBody)
    const { tenantId } = c.var.tenant
    rates.take('probe', tenantId, LIMITS.rateProbe)
    return c.json(statusView(await verification.probe(tenantId)))
  })

  app.post('/go-live', callers.analyzer, async (c) => {
    await readJson(c, NothingBody) // `force` is the operator's alone, and audited
    const { tenantId } = c.var.tenant
    const state = await tenants.goLive(tenantId, { force: false }, c.var.actor)
    await world.changesSettled()
    return c.json(protectionView(state))
  })

  /** Never refused: no rate, and no body that could be wrong. */
  app.post('/go-back', callers.analyzerUnlimited, async (c) => {
    const state = await tenants.goBack(c.var.tenant.tenantId, c.var.actor)
    await world.changesSettled()
    return c.json(protectionView(state))
  })

  return app
}

function statusView({ status, checks }: VerificationStatus) {
  return {
    status,
    ran: checks.length,
    checks: checks.map((row) => ({
      check: row.check,
      status: row.status,
      detail: row.detail,
      next_action: row.nextAction,
      at: iso(row.at),
      source: row.source,
    })),
  }
}
