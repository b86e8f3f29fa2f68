/** The states that a tenant can be in, and the ways between them. */
import { Refusal } from '../../shared/errors.ts'
import type { Plan } from '../../shared/fleet/snapshot.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { findTenant, updateTenant, type Tenant } from '../store/queries/tenants.ts'
import { checksOf, freshPasses } from '../store/queries/verification.ts'
import { endWaiting } from '../store/queries/webhook-endings.ts'
import { listenFromNow } from '../store/queries/webhooks.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { followEndings } from '../store/webhook-endings.ts'
import { found, type Alter } from './alter.ts'
import { failedLocally, REQUIRED_CHECKS, refuseGoLive, reportOf } from './protection.ts'

export interface ProtectionState {
  readonly tenantId: string
  readonly protection: 'on' | 'pass-through'
  readonly atMs: number
}

interface GoLiveOptions {
  readonly force: boolean
  readonly ignoresLocalChecks?: boolean
  /** The one report that is ignored, if it is still the latest when it comes to that. */
  readonly ignoredReport?: string
}

export function createTenantStates(world: { store: Store; keys: SigningKeys; alter: Alter }) {
  const { store, keys, alter } = world

  return {
    /** Served by the gateways from now on, in pass-through, with a key to sign sessions. */
    async publish(tenantId: string, actor: Actor): Promise<Tenant> {
      const before = found(await findTenant(store.read, tenantId))
      if (before.status === 'suspended') throw new Refusal('tenant_suspended')
      if (before.status === 'published') return before
      const candidate = await keys.generate()
      return alter(tenantId, actor, 'tenant.published', async (change, { status }) => {
        if (status !== 'draft') return undefined // somebody else was faster
        await keys.ensureCurrent(change, tenantId, candidate)
        await updateTenant(change.queries, tenantId, {
          status: 'published',
          publishedAt: change.nowMs,
        })
        return {}
      })
    },

    async suspend(tenantId: string, actor: Actor): Promise<Tenant> {
      return alter(tenantId, actor, 'tenant.suspended', async (change, { status }) => {
        if (status === 'draft') throw new Refusal('tenant_draft')
        if (status === 'suspended') return undefined
        await updateTenant(change.queries, tenantId, { status: 'suspended' })
        await change.emit('tenant.suspended', tenantId, { status: 'suspended' })
        return {}
      })
    },

    async activate(tenantId: string, actor: Actor): Promise<Tenant> {
      return alter(tenantId, actor, 'tenant.activated', async (change, { status }) => {
        if (status === 'draft') throw new Refusal('tenant_draft')
        if (status === 'published') return undefined
        await updateTenant(change.queries, tenantId, { status: 'published' })
        await change.emit('tenant.activated', tenantId, { status: 'published' })
        return {}
      })
    },

    async goLive(tenantId: string, { ignoredReport, ...options }: GoLiveOptions, actor: Actor) {
      const tenant = await alter(tenantId, actor, 'protection.on', async (change, before) => {
        if (before.protection === 'on') return undefined
        const passed = await freshPasses(change.queries, tenantId, change.nowMs)
        const missing = REQUIRED_CHECKS.filter((check) => !passed.has(check))
        const failed = failedLocally(await checksOf(change.queries, tenantId), change.nowMs)
        const isRead = ignoredReport !== undefined && ignoredReport === reportOf(failed)
        const wish = isRead ? { ...options, ignoresLocalChecks: true } : options
        const refusal = refuseGoLive(before, missing, failed, wish)
        if (refusal !== undefined) throw new Refusal(refusal.code, refusal.fields)
        await setProtection(change, tenantId, 'on')
        const ignored = failed.map(({ check }) => check)
        return { force: options.force, missing, ...(ignored.length > 0 && { ignored }) }
      })
      return protectionOf(tenant)
    },

    /** Never refused, in no state of the tenant. */
    async goBack(tenantId: string, actor: Actor): Promise<ProtectionState> {
      const tenant = await alter(tenantId, actor, 'protection.off', async (change, before) => {
        if (before.protection === 'pass-through') return undefined
        await setProtection(change, tenantId, 'pass-through')
        return {}
      })
      return protectionOf(tenant)
    },

    async setPlan(tenantId: string, plan: Plan, actor: Actor): Promise<Tenant> {
      const tenant = await alter(tenantId, actor, 'plan.changed', async (change, before) => {
        if (before.plan === plan) return undefined
        await updateTenant(change.queries, tenantId, { plan })
        await followPlan(change, tenantId, plan)
        return { plan, was: before.plan }
      })
      await followEndings(store, tenantId)
      return tenant
    },
  }
}

/**
 * Webhooks come with premium. Who loses it gets nothing more, not even what waits; who gets it back
 * is told of what happens from now on.
 */
async function followPlan({ queries }: Change, tenantId: string, plan: Plan): Promise<void> {
  if (plan === 'premium') return listenFromNow(queries, tenantId)
  const problem = 'the plan of the tenant has no webhooks any more'
  await endWaiting(queries, { tenantId }, { state: 'cancelled', problem })
}

async function setProtection(
  { queries, nowMs }: Change,
  tenantId: string,
  protection: 'on' | 'pass-through',
) {
  await updateTenant(queries, tenantId, { protection, protectionAt: nowMs })
}

function protectionOf(tenant: Tenant): ProtectionState {
  const { tenantId, protection } = tenant
  return { tenantId, protection, atMs: tenant.protectionAt ?? tenant.createdAt }
}
