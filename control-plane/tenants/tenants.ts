/** The tenants: their settings, their secrets and what state they are in. */
import { DAY_MS, HOUR_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Mode, Plan, SessionBinding } from '../../shared/fleet/snapshot.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { Vault } from '../keys/vault.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import { keepAcmeOrdersOf } from '../store/queries/acme-orders.ts'
import { keepCertificatesOf } from '../store/queries/certificates.ts'
import {
  deleteHostnameClaim,
  insertHostnameClaim,
  type HostnameClaim,
} from '../store/queries/hostname-claims.ts'
import {
  findHostnameProof,
  keepHostnameProofsOf,
  putHostnameProof,
  type HostnameProof,
} from '../store/queries/hostname-proofs.ts'
import {
  findTenant,
  findTenantLogo,
  insertTenant,
  replaceHostnames,
  tenantsAfter,
  tenantsMatching,
  updateTenant,
  type Tenant,
  type TenantChanges,
  type TenantFilter,
} from '../store/queries/tenants.ts'
import { forgetPlatformChecks, forgetSelfReports } from '../store/queries/verification.ts'
import { isReserved } from '../store/reserved.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { createAlter, found } from './alter.ts'
import { createAnalyzerKeys } from './analyzer-keys.ts'
import { CONSOLE_CALLBACK_PATH } from './application-home.ts'
import { createClientSecrets } from './client-secrets.ts'
import { createLicences } from './licences.ts'
import { logoMediaType, logoTag, type Logo } from './logo.ts'
import { policiesIn } from './policies.ts'
import { requireRoom } from './published-size.ts'
import { createRemoval } from './removal.ts'
import { newAnalyzerKey, newClientSecret } from './secrets.ts'
import { createTenantStates, type ProtectionState } from './tenant-states.ts'
import { toldChange } from './told-changes.ts'

export type { ProtectionState, Tenant }

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
  readonly timeZone?: string
}
export type TenantPatch = Partial<Omit<NewTenant, 'tenantId' | 'plan'>> & {
  /** `#rrggbb` */
  readonly brandColour?: string | null
  /** A checked picture in base64. */
  readonly brandLogo?: string | null
  readonly backchannelLogoutUri?: string | null
}

interface CreatedTenant {
  readonly tenant: Tenant
  readonly clientId: string
  readonly clientSecret: string
  readonly analyzerKey: string
}

interface TenantsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly keys: SigningKeys
  readonly clock: Clock
  readonly edgeUrlFor: (hostname: string) => string
}

export type Tenants = ReturnType<typeof createTenants>

const HOSTNAMES_FULL = `A tenant has at most ${LIMITS.hostnamesPerTenantMax} hostnames. Remove one that is no longer needed.`

/** A verification says something about what it has seen: other addresses, another verification. */
const VERIFIED_SETTINGS = ['mode', 'hostnames', 'origin', 'health'] as const

const LISTED = ['hostnames', 'sealed', 'excluded'] as const

const isLonger = (before: readonly string[], after: readonly string[] | undefined) =>
  after !== undefined && JSON.stringify(after).length > JSON.stringify(before).length

/** The part of the session policy that is a tenant's own, and how the policy names it. */
const SESSION_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['maxSessionSeconds', 'max_session_seconds'],
  ['idleSeconds', 'idle_seconds'],
  ['sessionBinding', 'session_binding'],
])

export function clientIdOf(tenantId: string): string {
  return `${tenantId}-user`
}

export function createTenants({ store, vault, keys, clock, edgeUrlFor }: TenantsWorld) {
  const alter = createAlter(store)
  const removal = createRemoval({ store, clock })

  async function get(tenantId: string): Promise<Tenant> {
    return found(await findTenant(store.read, tenantId))
  }

  return {
    remove: removal.remove,
    sweepLeftBehind: removal.sweepLeftBehind,
    ...createTenantStates({ store, keys, alter }),
    ...createLicences({ store, clock, alter }),
    ...createClientSecrets({ store, vault, clock, alter }),
    ...createAnalyzerKeys({ store, vault, clock, alter }),
    get,
    async find(tenantId: string): Promise<Tenant | undefined> {
      return findTenant(store.read, tenantId)
    },

    async list(page: PageRequest): Promise<Page<Tenant>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? ['']
      const rows = await tenantsAfter(store.read, after, page.limit + 1)
      return toPage(rows, page.limit, (tenant) => [tenant.tenantId])
    },

    /** The same in part. Search and filters cost no more with many tenants than they must. */
    async search(filter: TenantFilter, page: PageRequest): Promise<Page<Tenant>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? ['']
      const rows = await tenantsMatching(store.read, filter, after, page.limit + 1)
      return toPage(rows, page.limit, (tenant) => [tenant.tenantId])
    },

    async logo({ tenantId, brandLogoTag }: Tenant): Promise<Logo | undefined> {
      if (brandLogoTag === null) return undefined
      const bytes = Buffer.from((await findTenantLogo(store.read, tenantId)) ?? '', 'base64')
      const mediaType = logoMediaType(bytes)
      return mediaType === undefined ? undefined : { bytes, mediaType }
    },

    /** Where sign-ins may return to: exactly these, never a pattern. */
    redirectUris(tenant: Pick<Tenant, 'tenantId' | 'mode' | 'origin' | 'hostnames'>): string[] {
      if (isReserved(tenant.tenantId)) return [`${tenant.origin}${CONSOLE_CALLBACK_PATH}`]
      const bases = tenant.mode === 'sdk' ? [tenant.origin] : tenant.hostnames.map(edgeUrlFor)
      return bases.map((base) => `${base}/service/callback`)
    },

    async create(input: NewTenant, actor: Actor): Promise<CreatedTenant> {
      checkReachable(input)
      const { tenantId, hostnames, ...settings } = input
      const clientSecret = newClientSecret(vault, tenantId)
      const analyzerKey = newAnalyzerKey(vault, tenantId)
      await removal.sweep(tenantId) // of whoever had the id before, until nothing is left
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
        const createdRevision = await change.touch(tenantId)
        await updateTenant(change.queries, tenantId, { createdRevision })
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
      return alter(tenantId, actor, 'tenant.changed', (change, before) =>
        applyPatch(change, before, patch),
      )
    },

    /** Shown to be theirs; unless it is not wanted any more. */
    async addProvenHostname(claim: HostnameClaim, how: string, actor: Actor): Promise<Tenant> {
      const { tenantId, hostname, token } = claim
      return alter(tenantId, actor, 'hostname.proven', async (change, before) => {
        // an operator may have added some since it was claimed, and no gateway takes one more than these
        if (before.hostnames.length >= LIMITS.hostnamesPerTenantMax)
          throw new Refusal('hostname_claims_full', {}, HOSTNAMES_FULL)
        if (!(await deleteHostnameClaim(change.queries, tenantId, hostname, token)))
          return undefined
        const hostnames = [...before.hostnames, hostname]
        await applyPatch(change, before, { hostnames })
        if (how === 'dns') await beginRechecks(change, { hostname, tenantId, token })
        return { hostname, how }
      })
    },

    /** Its record is gone for too long: it waits for a proof as it did at first. */
    async stopUnprovenHostname(proof: HostnameProof, actor: Actor): Promise<Tenant> {
      const { tenantId, hostname, token } = proof
      return alter(tenantId, actor, 'hostname.stopped', async (change, before) => {
        const { queries, nowMs } = change
        const now = await findHostnameProof(queries, hostname)
        if (now?.tenantId !== tenantId || now.turn !== proof.turn) return undefined
        const hostnames = before.hostnames.filter((name) => name !== hostname)
        await applyPatch(change, before, { hostnames })
        const times = { createdAt: nowMs, dueAt: nowMs + HOUR_MS, lookedAt: null }
        await insertHostnameClaim(queries, { tenantId, hostname, token, looks: 0, ...times })
        return { hostname }
      })
    },

    async removeHostname(tenantId: string, hostname: string, actor: Actor): Promise<Tenant> {
      return alter(tenantId, actor, 'hostname.removed', async (change, before) => {
        if (!before.hostnames.includes(hostname)) throw new Refusal('hostname_not_found')
        const hostnames = before.hostnames.filter((name) => name !== hostname)
        await applyPatch(change, before, { hostnames })
        return { hostname }
      })
    },
  }
}

function beginRechecks(
  { queries, nowMs }: Change,
  proof: Pick<HostnameProof, 'hostname' | 'tenantId' | 'token'>,
) {
  const fresh = { turn: 0, lookedAt: nowMs, missingSince: null, misses: 0 }
  return putHostnameProof(queries, { ...proof, ...fresh, dueAt: nowMs + DAY_MS })
}

async function applyPatch(change: Change, before: Tenant, patch: TenantPatch) {
  const { queries } = change
  const { tenantId } = before
  const { brandLogo, ...plainWishes } = patch
  const brandLogoTag = brandLogo && logoTag(brandLogo)
  const changed = Object.entries({ ...plainWishes, brandLogoTag }).filter(([name, value]) =>
    isOther(before[name as keyof Tenant], value),
  )
  if (changed.length === 0) return undefined
  checkReachable({ ...before, ...patch })
  checkLogoutUri({ ...before, ...patch })
  const { hostnames, sealed, excluded, ...plain } = patch
  const changes: TenantChanges = { ...plain }
  if (brandLogoTag !== undefined) changes.brandLogoTag = brandLogoTag
  if (sealed !== undefined) changes.sealed = [...sealed]
  if (excluded !== undefined) changes.excluded = [...excluded]
  if (Object.keys(changes).length > 0) await updateTenant(queries, tenantId, changes)
  if (hostnames !== undefined) {
    await replaceHostnames(queries, tenantId, hostnames)
    await keepCertificatesOf(queries, tenantId, hostnames)
    await keepAcmeOrdersOf(queries, tenantId, hostnames)
    await keepHostnameProofsOf(queries, tenantId, hostnames)
  }
  const listed = { hostnames, sealed, excluded }
  if (LISTED.some((name) => isLonger(before[name], listed[name])))
    await requireRoom(queries, tenantId)
  if (VERIFIED_SETTINGS.some((name) => isOther(before[name], patch[name]))) {
    await forgetPlatformChecks(queries, tenantId)
    if (isOther(before.origin, patch.origin) || isOther(before.mode, patch.mode))
      await forgetSelfReports(queries, tenantId)
    await updateTenant(queries, tenantId, { integrationCompletedAt: null })
  }
  const names = changed.map(([name]) => name)
  const sessionSettings = names.flatMap((name) => SESSION_SETTINGS.get(name) ?? [])
  if (sessionSettings.length > 0) {
    const { session } = await policiesIn(queries, tenantId)
    const data = { settings: { ...session }, changed: sessionSettings }
    await change.emit('policy.session.updated', tenantId, data)
  }
  return { changed: names, ...toldChange({ ...before }, Object.fromEntries(changed)) }
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

/** Logout tokens go to the application itself, or through its own edge, and to nobody else. */
function checkLogoutUri(
  tenant: Pick<Tenant, 'origin' | 'hostnames' | 'backchannelLogoutUri'>,
): void {
  const { origin, hostnames, backchannelLogoutUri: uri } = tenant
  if (uri === null) return
  const url = new URL(uri)
  if (url.origin === origin || hostnames.includes(url.hostname)) return
  throw new Refusal(
    'field_invalid',
    { field: 'backchannel_logout_uri' },
    'The address for logout tokens must be on the origin or on a hostname of this tenant.',
  )
}

/** For the audit trail; a picture is only named. */
function isOther(before: unknown, after: unknown): boolean {
  return after !== undefined && JSON.stringify(before) !== JSON.stringify(after)
}
