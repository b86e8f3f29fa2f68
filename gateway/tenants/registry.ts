/**
 * The tenants that this process serves, found by host. A change costs one tenant: the new state is
 * compiled aside, then one reference is swapped, and a running request keeps the one it has.
 */
import { nowSeconds, type Clock } from '../../shared/clock.ts'
import type { Revoked, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { RevokedState } from '../../shared/enforcement/revoked-state.ts'

export interface ServedTenant {
  readonly tenantId: string
  readonly revision: number
  readonly hostnames: readonly string[]
}

/**
 * When a state was made. Revisions only compare within one full synchronisation, since a restored
 * database counts from a lower one again.
 */
export interface SyncedRevision {
  readonly sync: number
  readonly revision: number
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
  readonly clock: Clock
  readonly compile: (snapshot: TenantSnapshot) => T
  /** `next` is undefined for a tenant that is gone. */
  readonly onRetire?: (old: T, next: T | undefined) => void
  /** What is newly revoked, so that open streams of those sessions can be closed. */
  readonly onRevoked?: (tenantId: string, revoked: Revoked) => void
}

interface Entry<T> {
  readonly tenantId: string
  synced: SyncedRevision
  served: Served<T> | undefined
  /** Nothing is wrong with it: it was not asked for lately. */
  isIndexed: boolean
  /** Since somebody wanted to know. */
  isAsked: boolean
  hostnames: readonly string[]
  /** What a request for one of its hosts finds; null: that it is indexed. */
  found: HostLookup<T> | null
}

export type TenantRegistry<T extends ServedTenant> = ReturnType<typeof createTenantRegistry<T>>

export function createTenantRegistry<T extends ServedTenant>(options: RegistryOptions<T>) {
  const { clock, compile, onRetire, onRevoked } = options
  const entryById = new Map<string, Entry<T>>()
  const entryByHost = new Map<string, Entry<T>>()
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
    isIndexed = false,
  ) {
    const served = tenant && { tenant, revoked: revokedOf(tenantId) }
    const entry = entryById.get(tenantId) ?? {
      tenantId,
      synced,
      served,
      isIndexed,
      isAsked: false,
      hostnames: [],
      found: STATE_LOST,
    }
    entryById.set(tenantId, entry)
    entry.synced = synced
    entry.served = served
    entry.isIndexed = isIndexed
    if (served === undefined) servedEntries.delete(entry)
    else servedEntries.add(entry)
    judge(entry)
    claim(entry, [...hostnames])
  }

  function judge(entry: Entry<T>) {
    const { tenantId, served, isIndexed } = entry
    if (heldIds.has(tenantId)) entry.found = STATE_LOST
    else if (served !== undefined) entry.found = { kind: 'served', served }
    else entry.found = isIndexed ? null : STATE_LOST
  }

  /**
   * A host that moves between tenants arrives in two messages, in either order. It belongs to the
   * newer claim, and the older one is void even after the newer is given up.
   */
  function claim(entry: Entry<T>, hostnames: readonly string[]) {
    for (const host of entry.hostnames)
      if (!hostnames.includes(host) && entryByHost.get(host) === entry) entryByHost.delete(host)
    entry.hostnames = hostnames.filter((host) => {
      const holder = entryByHost.get(host)
      if (holder !== undefined && holder !== entry && isNewer(holder.synced, entry.synced))
        return false
      entryByHost.set(host, entry)
      return true
    })
  }

  return {
    /** False when what is served is as new. Throws what `compile` throws, and then keeps it. */
    apply(snapshot: TenantSnapshot, sync: number) {
      const { tenant_id: tenantId, revision } = snapshot
      const synced = { sync, revision }
      const entry = entryById.get(tenantId)
      if (entry !== undefined && !replaces(synced, entry)) return false
      const next = compile(snapshot)
      revokedOf(tenantId).expectSessionSeconds(snapshot.max_session_seconds)
      const old = entry?.served?.tenant
      place(tenantId, synced, next, next.hostnames)
      if (old !== undefined) onRetire?.(old, next)
      return true
    },
    remove(tenantId: string) {
      const entry = entryById.get(tenantId)
      revokedById.delete(tenantId)
      heldIds.delete(tenantId)
      if (entry === undefined) return
      claim(entry, [])
      entryById.delete(tenantId)
      servedEntries.delete(entry)
      if (entry.served !== undefined) onRetire?.(entry.served.tenant, undefined)
    },
    /** A tenant that is known to exist and cannot be read: its hosts answer 503 until it comes. */
    reserve(tenantId: string, hostnames: readonly string[], synced: SyncedRevision) {
      const entry = entryById.get(tenantId)
      const isNew = entry === undefined
      if (isNew || (entry.served === undefined && replaces(synced, entry)))
        place(tenantId, synced, undefined, hostnames)
    },
    /** A tenant that is there and can be asked for. What is served stays: its newer state follows. */
    index(tenantId: string, hostnames: readonly string[], synced: SyncedRevision) {
      const entry = entryById.get(tenantId)
      if (entry === undefined || (entry.served === undefined && isNewer(synced, entry.synced)))
        place(tenantId, synced, undefined, hostnames, true)
    },
    /** Nobody has asked for it lately: from now on it is indexed only. */
    unload(tenantId: string) {
      const entry = entryById.get(tenantId)
      if (entry?.served === undefined) return
      const { tenant } = entry.served
      place(tenantId, entry.synced, undefined, entry.hostnames, true)
      onRetire?.(tenant, undefined)
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
      if (entry === undefined) return absent
      entry.isAsked = true
      return entry.found ?? { kind: 'indexed', tenantId: entry.tenantId }
    },
    byId(tenantId: string) {
      const entry = entryById.get(tenantId)
      if (entry?.found?.kind !== 'served') return undefined
      entry.isAsked = true
      return entry.found.served
    },
    isConfigured: () => absent !== NOT_READY,
    *tenants() {
      for (const { served } of servedEntries) if (served !== undefined) yield served.tenant
    },
    size: () => entryById.size,
  }
}

/** What is only indexed is of the very state that comes when it is asked for. */
function replaces(next: SyncedRevision, { synced, isIndexed }: Entry<unknown>): boolean {
  return isIndexed ? !isNewer(synced, next) : isNewer(next, synced)
}

export function isNewer(a: SyncedRevision, b: SyncedRevision): boolean {
  return a.sync > b.sync || (a.sync === b.sync && a.revision > b.revision)
}
