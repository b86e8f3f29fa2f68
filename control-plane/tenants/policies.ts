/**
 * What a tenant's administrators have decided about signing in. The lengths of a session are the
 * tenant's own settings, which gateways enforce; the session policy shows and sets the same ones.
 */
import { Refusal } from '../../shared/errors.ts'
import { revokeIn } from '../accounts/revocations.ts'
import { DEFAULT_POLICIES, type Policies, type PolicyName } from '../policy/policies.ts'
import { findPolicy, policiesOf, upsertPolicy } from '../store/queries/policies.ts'
import { surplusSids } from '../store/queries/sessions.ts'
import { findTenant, updateTenant, type Tenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { createAlter } from './alter.ts'

export type TenantPolicies = ReturnType<typeof createPolicies>

/** What an administrator has decided; what is left out stays as it is with everybody. */
export type PolicyInput<Name extends PolicyName> = Partial<Policies[Name]>

export function createPolicies({ store }: { store: Store }) {
  const alter = createAlter(store)

  async function of(tenantId: string): Promise<Policies> {
    const tenant = await findTenant(store.read, tenantId)
    if (tenant === undefined) throw new Refusal('tenant_not_found')
    const decided = new Map<PolicyName, object>(
      (await policiesOf(store.read, tenantId)).map((row) => [row.name, row.settings]),
    )
    const settled = <Name extends PolicyName>(name: Name): Policies[Name] => ({
      ...DEFAULT_POLICIES[name],
      ...decided.get(name),
    })
    return {
      password: settled('password'),
      lockout: settled('lockout'),
      mfa: settled('mfa'),
      network: settled('network'),
      device: settled('device'),
      session: { ...settled('session'), ...lengthsOf(tenant) },
    }
  }

  return {
    of,

    /** Whether administrators have decided this one, or only the defaults hold. */
    async isDecided(tenantId: string, name: PolicyName): Promise<boolean> {
      return (await findPolicy(store.read, tenantId, name)) !== undefined
    },

    async put<Name extends PolicyName>(
      tenantId: string,
      name: Name,
      input: PolicyInput<Name>,
      actor: Actor,
    ): Promise<Policies[Name]> {
      const before = (await of(tenantId))[name]
      const base = name === 'session' ? before : DEFAULT_POLICIES[name]
      const settings: Policies[Name] = { ...base, ...input }
      const changed = Object.keys(settings).filter((key) => isOther(before, settings, key))
      await alter(tenantId, actor, `policy.${name}.changed`, async (change) => {
        await upsertPolicy(change.queries, {
          tenantId,
          name,
          settings: { ...settings },
          updatedAt: change.nowMs,
        })
        if (name === 'session')
          await applySession(change, tenantId, settings as Policies['session'])
        await change.emit(`policy.${name}.updated`, tenantId, { settings, changed })
        return { settings, changed }
      })
      return settings
    },
  }
}

function lengthsOf(tenant: Tenant) {
  return {
    max_session_seconds: tenant.maxSessionSeconds,
    idle_seconds: tenant.idleSeconds,
    session_binding: tenant.sessionBinding,
  }
}

/** Running sessions follow: a shorter length ends them at the gateways, the oldest too many here. */
async function applySession(change: Change, tenantId: string, settings: Policies['session']) {
  const { queries, nowMs } = change
  await updateTenant(queries, tenantId, {
    maxSessionSeconds: settings.max_session_seconds,
    idleSeconds: settings.idle_seconds,
    sessionBinding: settings.session_binding,
  })
  const { concurrent_max: most, when_full: whenFull } = settings
  if (most === null || whenFull === 'refuse') return
  for (const sid of await surplusSids(queries, tenantId, nowMs, most))
    await revokeIn(change, tenantId, { sid }, 'surplus')
}

function isOther(before: object, after: object, key: string): boolean {
  const valueOf = (settings: object) => JSON.stringify((settings as Record<string, unknown>)[key])
  return valueOf(before) !== valueOf(after)
}
