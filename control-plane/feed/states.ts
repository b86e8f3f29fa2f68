/**
 * What each tenant's instances are told, and what their credentials are checked with: read once,
 * kept until a change of the tenant is committed. Every poll of every instance looks here, so most
 * of them cost no query, no encoding and no cipher.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../shared/limits.ts'
import type { Revoked } from '../../shared/snapshot.ts'
import type { Revocations } from '../accounts/revocations.ts'
import { findTenant, findTenantSecrets, type Tenant } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import { secretHashesOf, type SecretHashes } from '../tenants/client-secrets.ts'

export interface FeedState {
  readonly tenant: Tenant
  readonly secrets: SecretHashes
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
  readonly bytesMax?: number
}): FeedStates {
  const { store, revocations, bytesMax = LIMITS.feedStateBytesMax } = world
  const states = new LRUCache<string, Kept>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  })
  // A reading that a commit overtakes is not among them any more when it ends
  store.onCommit(({ tenantIds, revoked }) => {
    for (const tenantId of tenantIds) states.delete(tenantId)
    for (const tenantId of revoked.keys()) states.delete(tenantId)
  })

  async function read(tenantId: string): Promise<FeedState | undefined> {
    const tenant = await findTenant(store.read, tenantId)
    const secrets = await findTenantSecrets(store.read, tenantId)
    if (tenant === undefined || secrets === undefined) return undefined
    const revoked = await revocations.revokedState(tenantId)
    return stateOf(tenant, secretHashesOf(secrets), revoked)
  }

  return {
    current(tenantId) {
      const known = states.get(tenantId)
      if (known !== undefined) return known.state
      const state = read(tenantId)
      const kept = { state, bytes: BYTES_AT_FIRST }
      states.set(tenantId, kept)
      const isKept = () => states.peek(tenantId) === kept
      state.then(
        (found) => {
          if (!isKept()) return
          if (found === undefined) states.delete(tenantId)
          else states.set(tenantId, { state, bytes: BYTES_AT_FIRST + 2 * found.body(0).length })
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
