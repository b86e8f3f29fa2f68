/**
 * What each tenant's instances are told, and what their credentials are checked with: read once,
 * kept until a change of the tenant is committed. Every poll of every instance looks here, so most
 * of them cost no query, no encoding and no cipher.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { mergeRevoked, type Revoked } from '../../shared/snapshot.ts'
import type { Revocations } from '../accounts/revocations.ts'
import { findTenant, findTenantSecrets, type Tenant } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import { secretHashesOf, type SecretHashes } from '../tenants/client-secrets.ts'

export interface FeedState {
  readonly tenant: Tenant
  readonly secrets: SecretHashes
  readonly revoked: Revoked
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
  readonly bytesMax?: number
}): FeedStates {
  const { store, revocations, clock, bytesMax = LIMITS.feedStateBytesMax } = world
  const states = new LRUCache<string, Kept>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  })
  store.onCommit(({ tenantIds, revoked }) => {
    for (const tenantId of tenantIds) states.delete(tenantId)
    for (const [tenantId, news] of revoked) addNews(tenantId, news)
  })

  /**
   * Sign-outs of a busy tenant come many a second, and it may have ten thousands of them: they are
   * added to what is known, and only now and then is all of it read again without what is moot. A
   * reading that a commit overtakes is not among the states any more when it ends.
   */
  function addNews(tenantId: string, news: Revoked) {
    const kept = states.peek(tenantId)
    const isOld = clock.nowMs() - (kept?.readMs ?? 0) >= LIMITS.feedStateReadAgainMs
    if (kept?.found === undefined || isOld) states.delete(tenantId)
    else kept.news = kept.news === undefined ? news : mergeRevoked(kept.news, news)
  }

  async function read(tenantId: string): Promise<FeedState | undefined> {
    const tenant = await findTenant(store.read, tenantId)
    const secrets = await findTenantSecrets(store.read, tenantId)
    if (tenant === undefined || secrets === undefined) return undefined
    const revoked = await revocations.revokedState(tenantId)
    return stateOf(tenant, secretHashesOf(secrets), revoked)
  }

  function keep(tenantId: string, found: FeedState, readMs: number) {
    const bytes = BYTES_AT_FIRST + 4 * found.body(0).length
    const kept = { state: Promise.resolve(found), found, news: undefined, readMs, bytes }
    states.set(tenantId, kept)
    return kept.state
  }

  return {
    current(tenantId) {
      const known = states.get(tenantId)
      if (known?.found !== undefined && known.news !== undefined) {
        const { tenant, secrets, revoked } = known.found
        const found = stateOf(tenant, secrets, mergeRevoked(revoked, known.news))
        return keep(tenantId, found, known.readMs)
      }
      if (known !== undefined) return known.state
      const readMs = clock.nowMs()
      const state = read(tenantId)
      const kept = { state, found: undefined, news: undefined, readMs, bytes: BYTES_AT_FIRST }
      states.set(tenantId, kept)
      const isKept = () => states.peek(tenantId) === kept
      state.then(
        (found) => {
          if (!isKept()) return
          if (found === undefined) states.delete(tenantId)
          else void keep(tenantId, found, readMs)
        },
        () => isKept() && states.delete(tenantId), // the next one tries again
      )
      return state
    },
    known: (tenantId) => states.get(tenantId)?.state,
  }
}

interface Kept {
  readonly state: Promise<FeedState | undefined>
  /** Once it has been read. */
  readonly found: FeedState | undefined
  /** What was revoked since. */
  news: Revoked | undefined
  readonly readMs: number
  readonly bytes: number
}

/** What a state takes beside its text, generously. */
const BYTES_AT_FIRST = 4096

function stateOf(tenant: Tenant, secrets: SecretHashes, revoked: Revoked): FeedState {
  const text = JSON.stringify({ tenant: tenantView(tenant), revoked })
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const rest = text.slice(1)
  return {
    tenant,
    secrets,
    revoked,
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
