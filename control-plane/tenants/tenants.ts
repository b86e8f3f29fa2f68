/** The tenants: their settings, their secrets and what state they are in. */
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { Licence, Mode, Plan, SessionBinding } from '../../shared/snapshot.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { Vault } from '../keys/vault.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import { keepCertificatesOf } from '../store/queries/certificates.ts'
import {
  deleteTenant,
  findTenant,
  findTenantByAnalyzerHash,
  findTenantSecrets,
  insertTenant,
  replaceHostnames,
  tenantsAfter,
  updateTenant,
  type Tenant,
  type TenantChanges,
} from '../store/queries/tenants.ts'
import { forgetPlatformChecks, freshPasses } from '../store/queries/verification.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { REQUIRED_CHECKS, refuseGoLive } from './protection.ts'
import { clientSecretPurpose, newAnalyzerKey, newClientSecret } from './secrets.ts'

export type { Tenant }

export interface NewTenant {
  readonly tenantId: string
  readonly name: string
  readonly mode: Mode
  readonly plan: Plan
  readonly hostnames: readonly string[]
  readonly origin: string
  readonly sealed: readonly string[]
  readonly excluded: readonly string[]
  readonly health: string
  readonly maxSessionSeconds: number
  readonly idleSeconds: number
  readonly sessionBinding: SessionBinding
}
export type TenantPatch = Partial<Omit<NewTenant, 'tenantId' | 'plan'>>

export interface CreatedTenant {
  readonly tenant: Tenant
  readonly clientId: string
  readonly clientSecret: string
  readonly analyzerKey: string
}

export interface ProtectionState {
  readonly tenantId: string
  readonly protection: 'on' | 'pass-through'
  readonly atMs: number
}

export interface TenantsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly keys: SigningKeys
  readonly clock: Clock
  readonly edgeUrlFor: (hostname: string) => string
}

export type Tenants = ReturnType<typeof createTenants>

/** A verification says something about what it has seen: other addresses, another verification. */
const VERIFIED_SETTINGS = ['mode', 'hostnames', 'origin', 'health'] as const

export function clientIdOf(tenantId: string): string {
  return `${tenantId}-user`
}

export function createTenants({ store, vault, keys, edgeUrlFor }: TenantsWorld) {
  async function get(tenantId: string): Promise<Tenant> {
    return found(await findTenant(store.read, tenantId))
  }

  /** One change of one tenant: read it, alter it, tell the fleet, write it down. */
  async function alter(
    tenantId: string,
    actor: Actor,
    action: string,
    work: (change: Change, before: Tenant) => Promise<Record<string, unknown> | undefined>,
  ): Promise<Tenant> {
    return store.change(async (change) => {
      const before = found(await findTenant(change.queries, tenantId))
      const content = await work(change, before)
      if (content === undefined) return before // nothing to do: no revision, no entry
      await change.touch(tenantId)
      await change.audit(actor, { action, tenantId, content })
      return found(await findTenant(change.queries, tenantId))
    })
  }

  return {
    get,
    async find(tenantId: string): Promise<Tenant | undefined> {
      return findTenant(store.read, tenantId)
    },

    /** Constant work, whatever the key: it is found by its hash. */
    async byAnalyzerKey(key: string): Promise<Tenant | undefined> {
      return findTenantByAnalyzerHash(store.read, vault.hash(key))
    },

    async list(page: PageRequest): Promise<Page<Tenant>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? ['']
      const rows = await tenantsAfter(store.read, after, page.limit + 1)
      return toPage(rows, page.limit, (tenant) => [tenant.tenantId])
    },

    /** Where sign-ins may return to: exactly these, never a pattern. */
    redirectUris(tenant: Pick<Tenant, 'mode' | 'origin' | 'hostnames'>): string[] {
      const bases = tenant.mode === 'sdk' ? [tenant.origin] : tenant.hostnames.map(edgeUrlFor)
      return bases.map((base) => `${base}/service/callback`)
    },

    async create(input: NewTenant, actor: Actor): Promise<CreatedTenant> {
      checkReachable(input)
      const { tenantId, hostnames, ...settings } = input
      const clientSecret = newClientSecret(vault, tenantId)
      const analyzerKey = newAnalyzerKey(vault, tenantId)
      const tenant = await store.change(async (change) => {
        const { nowMs } = change
        await insertTenant(change.queries, {
          ...settings,
          tenantId,
          sealed: [...settings.sealed],
          excluded: [...settings.excluded],
          status: 'draft',
          protection: 'pass-through',
          licence: 'active',
          licenceBlocksSignin: false,
          clientSecretSealed: clientSecret.sealed,
          clientSecretHash: clientSecret.hash,
          analyzerKeySealed: analyzerKey.sealed,
          analyzerKeyHash: analyzerKey.hash,
          revision: 0,
          createdAt: nowMs,
          updatedAt: nowMs,
        })
        await replaceHostnames(change.queries, tenantId, hostnames)
        await change.touch(tenantId)
        await change.audit(actor, { action: 'tenant.created', tenantId })
        return found(await findTenant(change.queries, tenantId))
      })
      return {
        tenant,
        clientId: clientIdOf(tenantId),
        clientSecret: clientSecret.plain,
        analyzerKey: analyzerKey.plain,
      }
    },

    async patch(tenantId: string, patch: TenantPatch, actor: Actor): Promise<Tenant> {
      return alter(tenantId, actor, 'tenant.changed', async ({ queries }, before) => {
        const changed = Object.entries(patch).filter(([name, value]) =>
          isOther(before[name as keyof TenantPatch], value),
        )
        if (changed.length === 0) return undefined
        checkReachable({ ...before, ...patch })
        const { hostnames, sealed, excluded, ...plain } = patch
        const changes: TenantChanges = { ...plain }
        if (sealed !== undefined) changes.sealed = [...sealed]
        if (excluded !== undefined) changes.excluded = [...excluded]
        if (Object.keys(changes).length > 0) await updateTenant(queries, tenantId, changes)
        if (hostnames !== undefined) {
          await replaceHostnames(queries, tenantId, hostnames)
          await keepCertificatesOf(queries, tenantId, hostnames)
        }
        if (VERIFIED_SETTINGS.some((name) => isOther(before[name], patch[name])))
          await forgetPlatformChecks(queries, tenantId)
        return { changed: changed.map(([name]) => name) }
      })
    },

    async remove(tenantId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        const revision = await change.touch(tenantId)
        await deleteTenant(change.queries, tenantId, revision)
        await change.audit(actor, { action: 'tenant.removed', tenantId })
      })
    },

    /** Served by the gateways from now on, in pass-through, with a key to sign sessions. */
    async publish(tenantId: string, actor: Actor): Promise<Tenant> {
      const before = await get(tenantId)
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

    async goLive(tenantId: string, options: { force: boolean }, actor: Actor) {
      const tenant = await alter(tenantId, actor, 'protection.on', async (change, before) => {
        if (before.protection === 'on') return undefined
        const passed = await freshPasses(change.queries, tenantId, change.nowMs)
        const missing = REQUIRED_CHECKS.filter((check) => !passed.has(check))
        const refusal = refuseGoLive(before, missing, options.force)
        if (refusal !== undefined) throw new Refusal(refusal.code, refusal.fields)
        await setProtection(change, tenantId, 'on')
        return { force: options.force, missing }
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

    async setLicence(
      tenantId: string,
      licence: { readonly state: Licence; readonly blocksSignin: boolean },
      actor: Actor,
    ): Promise<Tenant> {
      const content = { state: licence.state, blocks_signin: licence.blocksSignin }
      return alter(tenantId, actor, 'licence.changed', async (change, before) => {
        const isSame =
          before.licence === licence.state && before.licenceBlocksSignin === licence.blocksSignin
        if (isSame) return undefined
        await updateTenant(change.queries, tenantId, {
          licence: licence.state,
          licenceBlocksSignin: licence.blocksSignin,
        })
        await change.emit('licence.changed', tenantId, content)
        return content
      })
    },

    async setPlan(tenantId: string, plan: Plan, actor: Actor): Promise<Tenant> {
      return alter(tenantId, actor, 'plan.changed', async (change, before) => {
        if (before.plan === plan) return undefined
        await updateTenant(change.queries, tenantId, { plan })
        return { plan, was: before.plan }
      })
    },

    async clientSecret(tenantId: string): Promise<string> {
      const secrets = await findTenantSecrets(store.read, tenantId)
      if (secrets === undefined) throw new Refusal('tenant_not_found')
      return vault.open(secrets.clientSecretSealed, clientSecretPurpose(tenantId))
    },

    /**
     * The old one is worth nothing from the answer on. Everybody signs in once more: gateways
     * derive the key of the companion cookie from this secret.
     */
    async rotateClientSecret(tenantId: string, actor: Actor): Promise<string> {
      const secret = newClientSecret(vault, tenantId)
      await alter(tenantId, actor, 'client_secret.rotated', async ({ queries }) => {
        await updateTenant(queries, tenantId, {
          clientSecretSealed: secret.sealed,
          clientSecretHash: secret.hash,
        })
        return {}
      })
      return secret.plain
    },

    async rotateAnalyzerKey(tenantId: string, actor: Actor): Promise<string> {
      const secret = newAnalyzerKey(vault, tenantId)
      await alter(tenantId, actor, 'analyzer_key.rotated', async ({ queries }) => {
        await updateTenant(queries, tenantId, {
          analyzerKeySealed: secret.sealed,
          analyzerKeyHash: secret.hash,
        })
        return {}
      })
      return secret.plain
    },
  }
}

function found(tenant: Tenant | undefined): Tenant {
  if (tenant === undefined) throw new Refusal('tenant_not_found')
  return tenant
}

/** An edge without a hostname, or with one twice, serves nobody. */
function checkReachable({ mode, hostnames }: Pick<Tenant, 'mode' | 'hostnames'>) {
  const isUnique = new Set(hostnames).size === hostnames.length
  if (!isUnique || (mode !== 'sdk' && hostnames.length === 0))
    throw new Refusal(
      'field_invalid',
      { field: 'hostnames' },
      isUnique ? 'At least one hostname is needed in this mode.' : 'A hostname is given twice.',
    )
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

function isOther(before: unknown, after: unknown): boolean {
  return after !== undefined && JSON.stringify(before) !== JSON.stringify(after)
}
