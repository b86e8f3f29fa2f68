/**
 * Which tenants are here although nobody could hold all of them: those that were asked for. What a
 * visitor asks for is fetched; what was not asked for lately makes room.
 */
import type { SteadyClock } from '../../shared/clock.ts'
import type { UpMessage } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { LastKnownGood } from '../last-known-good/last-known-good.ts'
import type { OnlyFor } from './relay.ts'
import type { RelayChange, WorkerPort } from './relay-messages.ts'
import type { ReplicatedTenants } from './replicated-tenants.ts'

interface NeededTenantsWorld {
  readonly clock: SteadyClock
  readonly tenants: ReplicatedTenants
  readonly disk: Pick<LastKnownGood, 'saveIndex' | 'unloadTenant'>
  readonly relay: (change: RelayChange, only?: OnlyFor) => Promise<void>
  /** False: there is no link. */
  readonly send: (message: UpMessage) => boolean
  /** What was kept of some is not what it was taken for. */
  readonly onDamaged: () => void
  readonly keptBytesMax?: number | undefined
}

/** Of workers only those that have told of it lately are sure not to use it. */
const IN_USE_MS = 60_000

export function createNeededTenants(world: NeededTenantsWorld) {
  const { clock, tenants, disk, relay, send } = world
  const { keptBytesMax = LIMITS.fleetKeptBytesMax } = world
  const askedMs = new Map<string, number>()
  /** Visitors of these workers wait for them. */
  const wanted = new Map<string, Set<WorkerPort>>()
  let isByNeed = false

  function tell(
    message: { readonly type: 'want'; readonly has?: boolean } | { readonly type: 'unwant' },
    tenantIds: readonly string[],
  ): boolean {
    for (let at = 0; at < tenantIds.length; at += LIMITS.fleetWantedSentMax) {
      const tenant_ids = tenantIds.slice(at, at + LIMITS.fleetWantedSentMax)
      if (!send({ ...message, tenant_ids })) return false
    }
    return true
  }

  const giveUp = (tenantId: string) => {
    wanted.delete(tenantId)
    void relay({ type: 'unavailable', tenantId })
  }

  /** Those asked for longest ago first, until the rest fits. */
  function makeRoom() {
    let bytes = 0
    for (const kept of tenants.kept.values()) bytes += kept.bytes
    if (!isByNeed || bytes <= keptBytesMax) return
    const inUseFromMs = clock.steadyMs() - IN_USE_MS
    const isInUse = (id: string) => (askedMs.get(id) ?? -Infinity) >= inUseFromMs
    // connectors come without a visitor, and are let in by what is here of their tenant
    const unused = [...tenants.kept]
      .filter(([id, { isPushed }]) => !isPushed && !isInUse(id))
      .map(([id]) => id)
    unused.sort((a, b) => (askedMs.get(a) ?? 0) - (askedMs.get(b) ?? 0))
    const gone: string[] = []
    for (const tenantId of unused) {
      if (bytes <= keptBytesMax) break
      bytes -= tenants.kept.get(tenantId)?.bytes ?? 0
      gone.push(tenantId)
      askedMs.delete(tenantId)
      tenants.unload(tenantId)
      void relay({ type: 'unload', tenantId })
    }
    if (gone.length === 0) return
    tell({ type: 'unwant' }, gone)
    void saveIndex().then((isSaved) => {
      for (const tenantId of isSaved ? gone : [])
        if (tenants.indexed.get(tenantId) !== undefined) void disk.unloadTenant(tenantId)
    })
  }

  async function saveIndex(): Promise<boolean> {
    const changed = tenants.indexed.takeChanged()
    const saved = changed.map((bucket) =>
      disk.saveIndex(bucket, () => tenants.indexed.record(bucket)),
    )
    return (await Promise.all(saved)).every((isSaved) => isSaved)
  }

  return {
    /** The control plane sends what is wanted only; false: it sends all there is. */
    follow(next: boolean) {
      isByNeed = next
      if (!isByNeed) return
      // of what it has from its disk no worker has told yet whether it is in use
      for (const tenantId of tenants.kept.keys())
        if (!askedMs.has(tenantId)) askedMs.set(tenantId, clock.steadyMs())
      tell({ type: 'want', has: true }, [...tenants.kept.keys()])
      tell({ type: 'want' }, [...wanted.keys()])
    },
    /** A visitor of a worker waits for it. */
    want(tenantId: string, worker: WorkerPort) {
      askedMs.set(tenantId, clock.steadyMs())
      const text = tenants.textOf(tenantId)
      const kept = tenants.kept.get(tenantId)
      if (text !== undefined && kept !== undefined) {
        const change = { type: 'tenant', tenantId, sync: kept.synced.sync, text } as const
        void relay(change, { workers: new Set([worker]) })
      }
      if (tenants.damaged.size > 0) world.onDamaged()
      if (text !== undefined) return
      // also if it was asked for before: nobody may have heard that
      wanted.getOrInsertComputed(tenantId, () => new Set<WorkerPort>()).add(worker)
      // before its `welcome` the control plane does not hear it, and hears it again behind that
      if (!tell({ type: 'want' }, [tenantId])) giveUp(tenantId)
    },
    /** Undefined: nobody waits for it. */
    wanting: (tenantId: string): ReadonlySet<WorkerPort> | undefined => wanted.get(tenantId),
    /** What is kept of it is old. */
    renew: (tenantId: string) => void tell({ type: 'want' }, [tenantId]),
    /** It has come, or what came of it cannot be served. */
    settled(tenantId: string) {
      if (!wanted.has(tenantId)) return
      if (tenants.kept.has(tenantId)) wanted.delete(tenantId)
      else giveUp(tenantId)
    },
    /** Nobody answers any more. */
    cutOff() {
      isByNeed = false // what makes room now could not be had again
      for (const tenantId of wanted.keys()) giveUp(tenantId)
    },
    asked(tenantIds: readonly string[]) {
      for (const tenantId of tenantIds) askedMs.set(tenantId, clock.steadyMs())
    },
    makeRoom,
    saveIndex,
  }
}
