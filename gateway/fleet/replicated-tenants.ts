/** What this gateway knows of each tenant: what it serves, what is revoked, and what it has received. */
import { RevokedState } from '../../shared/enforcement/revoked-state.ts'
import { canonicalJson, StateDigest } from '../../shared/fleet/digest.ts'
import { IndexBuckets, type Indexed } from '../last-known-good/index-buckets.ts'
import type { StoredState } from '../last-known-good/kept-state.ts'
import { Roster } from '../last-known-good/roster.ts'
import type { Recovered } from '../last-known-good/recovery.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import { isNewer, type SyncedRevision } from '../tenants/synced-revision.ts'
import { LIMITS } from '../../shared/limits.ts'
import { indexText, type RelayChange } from './relay-messages.ts'

interface Kept {
  readonly synced: SyncedRevision
  readonly hash: string
  readonly version: string
  readonly hostnames: readonly string[]
  /** Every worker has it: its connectors come without being asked. */
  readonly isPushed: boolean
  /** Of its text. */
  readonly bytes: number
  /** The checked snapshot as JSON, for workers that are still to come; null: on the disk, see `textOf`. */
  readonly text: string | null
}

/** Who has been mentioned since a full synchronisation began. */
export interface Mentioned {
  readonly tenants: Set<string>
  readonly revoked: Set<string>
}

export class ReplicatedTenants {
  readonly kept = new Map<string, Kept>()
  /** Those that nobody asks for here: never one that is kept. */
  readonly indexed = new IndexBuckets()
  /** Kept, and known to be newer elsewhere: nothing counts as served until that is here. */
  readonly outdated = new Set<string>()
  /** Known, and not to be read: their hosts answer 503. */
  readonly reserved = new Map<string, { hostnames: readonly string[]; synced: SyncedRevision }>()
  /** Their revocations are not whole: 503 until they are. */
  readonly held = new Set<string>()
  readonly rejected = new Set<string>()
  /** Found out since the last look: all is to be asked for. */
  readonly damaged = new Set<string>()
  /** Versions, of rejected snapshots too: compared with what the control plane has sent. */
  readonly received = new StateDigest()
  roster = new Roster()
  /** Removed since the last `synced`: an older state that was read before must not return. */
  readonly removed = new Map<string, SyncedRevision>()
  readonly #revokedById = new Map<string, RevokedState>()
  #readKept: StoredState['readTenant'] | undefined

  /** The newest that is known of a tenant, its end too. */
  knownOf(tenantId: string): SyncedRevision | undefined {
    return this.kept.get(tenantId)?.synced ?? this.removed.get(tenantId)
  }

  /** False: nothing new. With `isSameEpoch` a version means what it did when it was kept. */
  index(tenantId: string, next: Indexed, isSameEpoch: boolean): boolean {
    const known = this.knownOf(tenantId) ?? this.indexed.get(tenantId)?.synced
    if (known !== undefined && !isNewer(next.synced, known)) return false
    this.received.set(tenantId, next.version)
    const kept = this.kept.get(tenantId)
    if (kept === undefined) {
      this.indexed.set(tenantId, next)
      this.roster.add(tenantId)
    } else if (isSameEpoch && kept.version === next.version) {
      this.kept.set(tenantId, { ...kept, synced: next.synced })
      return false
    } else this.outdated.add(tenantId)
    return true
  }

  /** From now on it is only known that it is there. */
  unload(tenantId: string): void {
    const kept = this.kept.get(tenantId)
    if (kept === undefined) return
    const { synced, version, hostnames } = kept
    this.kept.delete(tenantId)
    this.indexed.set(tenantId, { synced, version, hostnames })
  }

  /**
   * What lies on the disk since before the start is read here. One that is not what its guard has told is
   * served as far as it may be, or reserved, and known to be `damaged`.
   */
  textOf(tenantId: string): string | undefined {
    const kept = this.kept.get(tenantId)
    if (kept === undefined || kept.text !== null) return kept?.text ?? undefined
    const { tenant, isExact } = this.#readKept!(tenantId)
    const isAsTold = isExact && tenant?.hash === kept.hash && tenant.version === kept.version
    if (!isAsTold) this.damaged.add(tenantId)
    if (tenant === null) {
      const { hostnames, synced } = kept
      this.kept.delete(tenantId)
      this.received.delete(tenantId)
      this.reserved.set(tenantId, { hostnames, synced })
      return undefined
    }
    if (isAsTold) {
      const text = canonicalJson(tenant.snapshot)
      this.kept.set(tenantId, { ...kept, text })
      return text
    }
    // in the place of the one that workers know by name
    const text = canonicalJson({ ...tenant.snapshot, revision: kept.synced.revision })
    const hostnames = Object.keys(tenant.snapshot.edge_urls)
    this.kept.set(tenantId, { ...kept, hash: '', version: '', hostnames, text })
    this.received.set(tenantId, '')
    return text
  }

  revokedOf(tenantId: string): RevokedState {
    let state = this.#revokedById.get(tenantId)
    if (state === undefined) this.#revokedById.set(tenantId, (state = new RevokedState()))
    return state
  }

  /** All that is revoked here, of tenants that are served elsewhere too. */
  *revoked(): Iterable<readonly [string, Revoked]> {
    for (const [tenantId, state] of this.#revokedById) {
      const whole = state.whole()
      if (whole.all > 0 || state.entriesCount > 0) yield [tenantId, whole]
    }
  }

  keep(tenantId: string, kept: Kept, sessionSecondsMax: number): void {
    this.kept.set(tenantId, kept)
    this.indexed.delete(tenantId)
    this.outdated.delete(tenantId)
    this.roster.add(tenantId)
    this.reserved.delete(tenantId)
    this.removed.delete(tenantId)
    this.rejected.delete(tenantId)
    this.revokedOf(tenantId).expectSessionSeconds(sessionSecondsMax)
  }

  forget(tenantId: string): void {
    this.kept.delete(tenantId)
    this.indexed.delete(tenantId)
    this.outdated.delete(tenantId)
    this.rejected.delete(tenantId)
    this.reserved.delete(tenantId)
    this.#revokedById.delete(tenantId)
    this.held.delete(tenantId)
    this.received.delete(tenantId)
    this.roster.delete(tenantId)
  }

  /** Those of whom a full synchronisation has said nothing: they are gone. */
  notAmong({ tenants, revoked }: Mentioned): string[] {
    const known = [...this.received.tenantIds(), ...this.kept.keys(), ...this.reserved.keys()]
    const isGone = (tenantId: string) => !tenants.has(tenantId)
    const ofRevoked = [...this.#revokedById.keys()].filter((tenantId) => !revoked.has(tenantId))
    return [...new Set([...known, ...ofRevoked].filter(isGone))]
  }

  /** What lay on the disk. Answers whose revocations are better written anew: a copy may be bad. */
  restore({ tenants, index, roster, readTenant }: RestoredState, nowSeconds: number): string[] {
    const doubtful: string[] = []
    this.#readKept = readTenant
    const ids = new Set(tenants.map(({ tenantId }) => tenantId))
    const told = new Map<string, SyncedRevision>()
    for (const [tenantId, sync, revision] of index)
      if (ids.has(tenantId)) told.set(tenantId, { sync, revision })
    for (const recovered of tenants) {
      const { tenantId, reserved, revoked, isRevokedLost, problems } = recovered
      const kept = keptOf(recovered)
      const newer = told.get(tenantId)
      // it had made room, and the process ended before its files were gone: they may say less
      const isOld = newer !== undefined && kept !== null && isNewer(newer, kept.synced)
      if (kept !== null && !isOld) {
        this.kept.set(tenantId, kept)
        this.received.fill(tenantId, kept.version)
        this.revokedOf(tenantId).expectSessionSeconds(kept.sessionSeconds)
      }
      if (reserved !== null) this.reserved.set(tenantId, reserved)
      if (revoked !== null) this.revokedOf(tenantId).merge(revoked, nowSeconds)
      if (revoked !== null && problems.length > 0) doubtful.push(tenantId)
      if (isRevokedLost) this.held.add(tenantId)
    }
    for (const [tenantId, sync, revision, version, hostnames] of index) {
      if (this.kept.has(tenantId) || this.reserved.has(tenantId)) continue
      this.indexed.set(tenantId, { synced: { sync, revision }, version, hostnames })
      this.received.fill(tenantId, version)
    }
    this.roster = roster
    this.indexed.takeChanged()
    return doubtful
  }

  /** All that a new worker needs of them, read step by step. */
  *changes(): Iterable<RelayChange> {
    for (const tenantId of this.held) yield { type: 'hold', tenantId }
    for (const [tenantId, revoked] of this.revoked()) yield { type: 'revoked', tenantId, revoked }
    for (const [tenantId, hosts] of this.reserved) yield { type: 'reserve', tenantId, ...hosts }
    // whoever has not all of them is told of all by name: a worker asks for what it has visitors for
    const isByNeed = this.indexed.size > 0
    for (const [tenantId, { synced, isPushed }] of this.kept) {
      if (isByNeed && !isPushed) continue
      const text = this.textOf(tenantId)
      const reserved = this.reserved.get(tenantId)
      if (text !== undefined) yield { type: 'tenant', tenantId, sync: synced.sync, text }
      else if (reserved !== undefined) yield { type: 'reserve', tenantId, ...reserved }
    }
    // with one that has made room meanwhile, it is so by now
    if (!isByNeed && this.indexed.size === 0) return
    const tenantIds = [...this.kept.keys(), ...this.indexed.keys()]
    for (let at = 0; at < tenantIds.length; at += LIMITS.fleetIndexEntriesSentMax)
      yield {
        type: 'index',
        tenants: indexText(this.#named(tenantIds, at, at + LIMITS.fleetIndexEntriesSentMax)),
      }
  }

  /** As they are by now: meanwhile some have come, made room, or gone. */
  #named(tenantIds: readonly string[], from: number, to: number) {
    return tenantIds.slice(from, to).flatMap((tenantId) => {
      const known = this.kept.get(tenantId) ?? this.indexed.get(tenantId)
      if (known === undefined) return []
      const { hostnames, synced } = known
      return [{ tenantId, hostnames, synced }]
    })
  }
}

type RestoredState = Pick<StoredState, 'tenants' | 'index' | 'roster' | 'readTenant'>

function keptOf({ tenant, unread }: Recovered): (Kept & { sessionSeconds: number }) | null {
  if (unread !== null) {
    const { synced, hostnames, current } = unread
    const { hash, version, bytes, session_seconds: sessionSeconds } = current
    const text = null
    return { synced, hash, version, hostnames, isPushed: false, bytes, text, sessionSeconds }
  }
  if (tenant === null) return null
  const { synced, hash, version, snapshot } = tenant
  const text = canonicalJson(snapshot)
  return {
    synced,
    hash,
    version,
    hostnames: Object.keys(snapshot.edge_urls),
    isPushed: snapshot.mode === 'connector',
    bytes: text.length,
    text,
    sessionSeconds: snapshot.max_session_seconds,
  }
}
