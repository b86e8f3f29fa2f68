/**
 * The tenants that this process serves, found by host. A change costs one tenant: the new state is
 * compiled aside, then one reference is swapped, and a running request keeps the one it has.
 */
import { nowSeconds, type WallClock } from '../../shared/clock.ts'
import type { Revoked, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { RevokedState } from '../../shared/enforcement/revoked-state.ts'
import { IndexedTenants } from './indexed-tenants.ts'
import { isNewer, type SyncedRevision } from './synced-revision.ts'

export interface ServedTenant {
  readonly tenantId: string
  readonly revision: number
  readonly hostnames: readonly string[]
}

export type HostLookup<T> =
  | { readonly kind: 'served'; readonly served: Served<T> }
  /** Answered 503, never 404 or pass-through: known to exist, or feared to. */
  | { readonly kind: 'held'; readonly reason: 'state_lost' | 'not_ready' }
  /** Known to exist; what it serves is to be asked for. */
  | { readonly kind: 'indexed'; readonly tenantId: string }
  | { readonly kind: 'unknown' }

/** A tenant as it is served now, and the revocations that outlive each of its snapshots. */
export interface Served<T> {
  readonly tenant: T
  readonly revoked: RevokedState
}

const NOT_READY = { kind: 'held', reason: 'not_ready' } as const
const STATE_LOST = { kind: 'held', reason: 'state_lost' } as const
const UNKNOWN = { kind: 'unknown' } as const

export interface RegistryStatus {
  readonly isConfigured: boolean
  /** Some tenant has been lost from the disk: an unknown host may be its host. */
  readonly isDamaged: boolean
}

interface RegistryOptions<T extends ServedTenant> {
  readonly clock: WallClock
  readonly compile: (snapshot: TenantSnapshot) => T
  /** `next` is undefined for a tenant that is gone. */
  readonly onRetire?: (old: T, next: T | undefined) => void
  /** What is newly revoked, so that open streams of those sessions can be closed. */
  readonly onRevoked?: (tenantId: string, revoked: Revoked) => void
}

/** One that is served, or reserved. Those that are only indexed have none. */
interface Entry<T> {
  readonly tenantId: string
  synced: SyncedRevision
  served: Served<T> | undefined
  /** Since somebody wanted to know. */
  isAsked: boolean
  hostnames: readonly string[]
  /** What a request for one of its hosts finds. */
  found: HostLookup<T>
}

export type TenantRegistry<T extends ServedTenant> = ReturnType<typeof createTenantRegistry<T>>

export function createTenantRegistry<T extends ServedTenant>(options: RegistryOptions<T>) {
  const { clock, compile, onRetire, onRevoked } = options
  const entryById = new Map<string, Entry<T>>()
  const entryByHost = new Map<string, Entry<T>>()
  /** Not asked for lately, and none of the entries. */
  const indexed = new IndexedTenants()
  const servedEntries = new Set<Entry<T>>()
  const revokedById = new Map<string, RevokedState>()
  const heldIds = new Set<string>()
  let absent: HostLookup<T> = NOT_READY

  function revokedOf(tenantId: string): RevokedState {
    let revoked = revokedById.get(tenantId)
    if (revoked === undefined) revokedById.set(tenantId, (revoked = new RevokedState()))
    return revoked
  }

  function place(
    tenantId: string,
    synced: SyncedRevision,
    tenant: T | undefined,
    hostnames: Iterable<string>,
  ) {
    const served = tenant && { tenant, revoked: revokedOf(tenantId) }
    const entry = entryById.get(tenantId) ?? {
      tenantId,
      synced,
      served,
      isAsked: false,
      hostnames: [],
      found: STATE_LOST,
    }
    indexed.delete(tenantId)
    entryById.set(tenantId, entry)
    entry.synced = synced
    entry.served = served
    if (served === undefined) servedEntries.delete(entry)
    else servedEntries.add(entry)
    judge(entry)
    claim(entry, [...hostnames])
  }

  function judge(entry: Entry<T>) {
    const { tenantId, served } = entry
    const isHeld = served === undefined || heldIds.has(tenantId)
    entry.found = isHeld ? STATE_LOST : { kind: 'served', served }
  }

  function claim(entry: Entry<T>, hostnames: readonly string[]) {
    for (const host of entry.hostnames)
      if (!hostnames.includes(host) && entryByHost.get(host) === entry) entryByHost.delete(host)
    const { tenantId, synced } = entry
    entry.hostnames = hostnames.filter((host) => {
      if (!takeHost(tenantId, host, synced)) return false
      entryByHost.set(host, entry)
      return true
    })
  }

  /**
   * A host that moves between tenants arrives in two messages, in either order. It belongs to the
   * newer claim, and the older one is void even after the newer is given up.
   */
  function takeHost(tenantId: string, host: string, synced: SyncedRevision): boolean {
    const holder = entryByHost.get(host)
    const isOthers = holder !== undefined && holder.tenantId !== tenantId
    if (isOthers && isNewer(holder.synced, synced)) return false
    const indexedAs = indexed.syncedAt(host)
    if (
      indexedAs !== undefined &&
      isNewer(indexedAs, synced) &&
      indexed.tenantAt(host) !== tenantId
    )
      return false
    if (isOthers) entryByHost.delete(host)
    if (indexedAs !== undefined) indexed.dropHost(host)
    return true
  }

  function forget(entry: Entry<T>) {
    claim(entry, [])
    entryById.delete(entry.tenantId)
    servedEntries.delete(entry)
  }

  /** What is only indexed is of the very state that comes when it is asked for. */
  function isOld(tenantId: string, synced: SyncedRevision): boolean {
    const entry = entryById.get(tenantId)
    if (entry !== undefined) return !isNewer(synced, entry.synced)
    const indexedAs = indexed.syncedOf(tenantId)
    return indexedAs !== undefined && isNewer(indexedAs, synced)
  }

  return {
    /** False when what is served is as new. Throws what `compile` throws, and then keeps it. */
    apply(snapshot: TenantSnapshot, sync: number) {
      const { tenant_id: tenantId, revision } = snapshot
      const synced = { sync, revision }
      if (isOld(tenantId, synced)) return false
      const next = compile(snapshot)
      revokedOf(tenantId).expectSessionSeconds(snapshot.max_session_seconds)
      const old = entryById.get(tenantId)?.served?.tenant
      place(tenantId, synced, next, next.hostnames)
      if (old !== undefined) onRetire?.(old, next)
      return true
    },
    remove(tenantId: string) {
      const entry = entryById.get(tenantId)
      revokedById.delete(tenantId)
      heldIds.delete(tenantId)
      indexed.delete(tenantId)
      if (entry === undefined) return
      forget(entry)
      if (entry.served !== undefined) onRetire?.(entry.served.tenant, undefined)
    },
    /** A tenant that is known to exist and cannot be read: its hosts answer 503 until it comes. */
    reserve(tenantId: string, hostnames: readonly string[], synced: SyncedRevision) {
      const isServed = entryById.get(tenantId)?.served !== undefined
      if (!isServed && !isOld(tenantId, synced)) place(tenantId, synced, undefined, hostnames)
    },
    /** A tenant that is there and can be asked for. What is served stays: its newer state follows. */
    index(tenantId: string, hostnames: readonly string[], synced: SyncedRevision) {
      const entry = entryById.get(tenantId)
      if (entry?.served !== undefined) return
      const known = entry?.synced ?? indexed.syncedOf(tenantId)
      if (known !== undefined && !isNewer(synced, known)) return
      if (entry !== undefined) forget(entry)
      else if (known !== undefined) indexed.delete(tenantId)
      const own = hostnames.filter((host) => takeHost(tenantId, host, synced))
      indexed.add(tenantId, own, synced)
    },
    /** Nobody has asked for it lately: from now on it is indexed only. */
    unload(tenantId: string) {
      const entry = entryById.get(tenantId)
      if (entry?.served === undefined) return
      const { synced, served } = entry
      const own = entry.hostnames.filter((host) => entryByHost.get(host) === entry)
      forget(entry)
      indexed.add(tenantId, own, synced)
      onRetire?.(served.tenant, undefined)
    },
    /** Those that are served and were asked for since the last time. */
    takeAsked(): string[] {
      const asked: string[] = []
      for (const entry of servedEntries) {
        if (entry.isAsked) asked.push(entry.tenantId)
        entry.isAsked = false
      }
      return asked
    },
    /** 503 for the tenant whatever it compiles to, until `release`. */
    hold(tenantId: string) {
      heldIds.add(tenantId)
      const entry = entryById.get(tenantId)
      if (entry !== undefined) judge(entry)
    },
    release(tenantId: string) {
      heldIds.delete(tenantId)
      const entry = entryById.get(tenantId)
      if (entry !== undefined) judge(entry)
    },
    mergeRevoked(tenantId: string, revoked: Revoked) {
      const news = revokedOf(tenantId).merge(revoked, nowSeconds(clock))
      if (news !== null) onRevoked?.(tenantId, news)
    },
    setStatus({ isConfigured, isDamaged }: RegistryStatus) {
      absent = !isConfigured ? NOT_READY : isDamaged ? STATE_LOST : UNKNOWN
    },
    /** The host lower-cased and without a port. Runs once per request. */
    byHost(host: string): HostLookup<T> {
      const entry = entryByHost.get(host)
      if (entry !== undefined) {
        entry.isAsked = true
        return entry.found
      }
      const tenantId = indexed.tenantAt(host)
      if (tenantId === undefined) return absent
      return heldIds.has(tenantId) ? STATE_LOST : { kind: 'indexed', tenantId }
    },
    byId(tenantId: string) {
      const entry = entryById.get(tenantId)
      if (entry?.found.kind !== 'served') return undefined
      entry.isAsked = true
      return entry.found.served
    },
    isConfigured: () => absent !== NOT_READY,
    *tenants() {
      for (const { served } of servedEntries) if (served !== undefined) yield served.tenant
    },
    size: () => entryById.size + indexed.size,
  }
}
