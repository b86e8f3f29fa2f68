/**
 * What each tenant's instances are told, and what their credentials are checked with: read once,
 * kept until a change of the tenant is committed. Every poll of every instance looks here, so most
 * of them cost no query, no encoding and no cipher.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { nowSeconds, type Clock } from '../../shared/clock.ts'
import { RevokedState } from '../../shared/enforcement/revoked-state.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { needsOf, type Feature } from '../../shared/fleet/features.ts'
import type { EnforcedRules } from '../../shared/fleet/access-rules.ts'
import type { EnforcedServices } from '../../shared/fleet/services.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import type { Revocations } from '../sessions/revocations.ts'
import { findAccessRules } from '../store/queries/access.ts'
import { servicesOf, serviceSecretsOf } from '../store/queries/services.ts'
import { signingKeysOf } from '../store/queries/signing-keys.ts'
import { findTenant, findTenantSecrets, type Tenant } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import { contactOf, enforcedRulesOf } from '../tenants/access-rules.ts'
import type { ServiceIdentities } from '../tenants/service-identities.ts'
import { secretHashesOf, type SecretHashes } from '../tenants/client-secrets.ts'

interface FeedState extends WrittenState {
  readonly tenant: Tenant
  readonly access: EnforcedRules | undefined
  readonly contact: string | undefined
  readonly services: EnforcedServices | undefined
  readonly secrets: SecretHashes
  readonly revoked: Revoked
  /** What an instance has to know of to be told it. */
  readonly needs: readonly Feature[]
  /** For one that does not: suspended. */
  closed(): WrittenState
}

/** As an instance gets it. */
interface WrittenState {
  /** Of everything but the poll interval. */
  readonly hash: string
  etag(pollSeconds: number): string
  body(pollSeconds: number): string
}

export interface FeedStates {
  /** undefined: there is no such tenant. Askers at the same time share one reading. */
  current(tenantId: string): Promise<FeedState | undefined>
  /** The same, if nothing has to be read for it. */
  known(tenantId: string): Promise<FeedState | undefined> | undefined
}

export function createFeedStates(world: {
  readonly store: Store
  readonly revocations: Pick<Revocations, 'revokedState'>
  readonly clock: Clock
  readonly identities: ServiceIdentities
  readonly bytesMax?: number
}): FeedStates {
  const { identities } = world
  const { store, revocations, clock, bytesMax = LIMITS.feedStateBytesMax } = world
  const states = new LRUCache<string, Kept>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  })
  store.onCommit(({ tenantIds, revoked }) => {
    for (const tenantId of tenantIds) states.delete(tenantId)
    for (const [tenantId, news] of revoked) addNews(tenantId, news)
  })
  store.onRestart(() => states.clear())

  /**
   * Sign-outs of a busy tenant come many a second, and it may have ten thousands of them: they are
   * added to what is known, and only now and then is all of it read again without what is moot, or
   * written anew. It is kept as instances keep it, who hold no more entries either. A reading that a
   * commit overtakes is not among the states any more when it ends.
   */
  function addNews(tenantId: string, news: Revoked) {
    const kept = states.peek(tenantId)
    const isOld = clock.steadyMs() - (kept?.readMs ?? 0) >= LIMITS.feedStateReadAgainMs
    if (kept?.written === undefined || isOld) states.delete(tenantId)
    else if (kept.written.revoked.merge(news, nowSeconds(clock)) !== null) kept.hasNews = true
  }

  async function read(tenantId: string): Promise<Omit<Written, 'atMs'> | undefined> {
    const tenant = await findTenant(store.read, tenantId)
    const secrets = await findTenantSecrets(store.read, tenantId)
    if (tenant === undefined || secrets === undefined) return undefined
    const rules = await findAccessRules(store.read, tenantId)
    const access = enforcedRulesOf(rules)
    const services = identities.of({
      services: await servicesOf(store.read, tenantId),
      secrets: await serviceSecretsOf(store.read, tenantId),
      access: rules,
      keys: await signingKeysOf(store.read, tenantId),
    })
    const revoked = new RevokedState()
    revoked.merge(await revocations.revokedState(tenantId), nowSeconds(clock))
    const parts = { tenant, access, contact: contactOf(rules), services }
    return { found: stateOf(parts, secretHashesOf(secrets), revoked.whole()), revoked }
  }

  function keep(tenantId: string, found: FeedState, revoked: RevokedState, readMs: number) {
    const bytes = BYTES_AT_FIRST + 4 * found.body(0).length
    const written = { found, revoked, atMs: clock.steadyMs() }
    const kept = { state: Promise.resolve(found), written, hasNews: false, readMs, bytes }
    states.set(tenantId, kept)
    return kept.state
  }

  /** All the entries make one text: of many, that is too much work for each poll. */
  function mayBeWritten({ revoked: { entriesCount }, atMs }: Written): boolean {
    if (entriesCount <= LIMITS.feedStateSmallEntriesMax) return true
    return clock.steadyMs() - atMs >= LIMITS.feedStateWrittenAgainMs
  }

  return {
    current(tenantId) {
      // others may have changed what is kept here, and no database can be asked
      if (store.isBehind()) return Promise.reject(new Refusal('unavailable', { retry_after: 5 }))
      const known = states.get(tenantId)
      if (known?.written !== undefined && known.hasNews && mayBeWritten(known.written)) {
        const { found, revoked } = known.written
        const next = stateOf(found, found.secrets, revoked.whole())
        return keep(tenantId, next, revoked, known.readMs)
      }
      if (known !== undefined) return known.state
      const readMs = clock.steadyMs()
      const reading = read(tenantId)
      const state = reading.then((written) => written?.found)
      const kept = { state, written: undefined, hasNews: false, readMs, bytes: BYTES_AT_FIRST }
      states.set(tenantId, kept)
      const isKept = () => states.peek(tenantId) === kept
      reading.then(
        (written) => {
          if (!isKept()) return
          if (written === undefined) states.delete(tenantId)
          else void keep(tenantId, written.found, written.revoked, readMs)
        },
        () => isKept() && states.delete(tenantId), // the next one tries again
      )
      return state
    },
    known: (tenantId) => (store.isBehind() ? undefined : states.get(tenantId)?.state),
  }
}

interface Kept {
  readonly state: Promise<FeedState | undefined>
  /** Once it has been read. */
  readonly written: Written | undefined
  /** That something was revoked since. */
  hasNews: boolean
  readonly readMs: number
  readonly bytes: number
}

interface Written {
  readonly found: FeedState
  /** With what has come since. */
  readonly revoked: RevokedState
  readonly atMs: number
}

/** What a state takes beside its text, generously. */
const BYTES_AT_FIRST = 4096

function stateOf(
  {
    tenant,
    access,
    contact,
    services,
  }: Pick<FeedState, 'tenant' | 'access' | 'contact' | 'services'>,
  secrets: SecretHashes,
  revoked: Revoked,
): FeedState {
  const view = tenantView(tenant)
  const whole = { ...view, access, access_contact: contact, services }
  return {
    tenant,
    access,
    contact,
    services,
    secrets,
    revoked,
    needs: needsOf(whole),
    closed: () => written({ tenant: { ...view, status: 'suspended' }, revoked }),
    ...written({ tenant: whole, revoked }),
  }
}

function written(state: { readonly tenant: object; readonly revoked: Revoked }): WrittenState {
  const text = JSON.stringify(state)
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const rest = text.slice(1)
  return {
    hash,
    etag: (pollSeconds) => `"${hash}.${pollSeconds}"`,
    body: (pollSeconds) => `{"poll_after":${pollSeconds},${rest}`,
  }
}

function tenantView(tenant: Tenant) {
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    mode: tenant.mode,
    status: tenant.status,
    protection: tenant.protection,
    licence: tenant.licence,
    licence_blocks_signin: tenant.licenceBlocksSignin,
    origin: tenant.origin,
    sealed: tenant.sealed,
    excluded: tenant.excluded,
    health: tenant.health,
    max_session_seconds: tenant.maxSessionSeconds,
    idle_seconds: tenant.idleSeconds,
    session_binding: tenant.sessionBinding,
  }
}
