/**
 * What this gateway has of the fleet's state, in the primary process: judges every message of the
 * control plane, keeps the text of every tenant for the disk and for new workers, and acknowledges
 * what all workers serve. A bad tenant is rejected alone and keeps what it has.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { nowSeconds, type Clock } from '../../shared/clock.ts'
import { endedFrom } from '../../shared/enforcement/session.ts'
import { canonicalJson, snapshotHash, StateDigest } from '../../shared/fleet/digest.ts'
import { issueReason } from '../../shared/fleet/parse.ts'
import {
  TenantSnapshotSchema,
  type DownMessage,
  type FleetSettings,
  type Revoked,
  type TenantSnapshot,
  type UpMessage,
} from '../../shared/fleet/snapshot.ts'
import { isNewer, type RegistryStatus, type SyncedRevision } from '../tenants/registry.ts'
import { addToRoster, type StoredState } from '../last-known-good/kept-state.ts'
import type { LastKnownGood } from '../last-known-good/last-known-good.ts'
import type { RelayChange } from './relay-messages.ts'
import { RevokedState } from '../../shared/enforcement/revoked-state.ts'

type Down<Type extends DownMessage['type']> = DownMessage & { type: Type }

interface Kept {
  readonly synced: SyncedRevision
  readonly hash: string
  /** The checked snapshot as JSON, for workers that are still to come. */
  readonly text: string
}

export interface Replica {
  restore(state: StoredState): void
  /** Somebody signed out here, or was ended here: dead in every worker and on disk, link or no link. */
  endSession(tenantId: string, sid: string, issuedSeconds: number): void
  /** Of the newest state of this tenant that is served here. */
  revisionOf(tenantId: string): number | undefined
  receive(message: DownMessage): void
  /** A message that could not be read: if it was about one tenant, that one is rejected. */
  malformed(type: string, reason: string, content: unknown): void
  hello(): { readonly epoch: string; readonly revision: number }
  /** Everything that a new worker needs, read step by step. */
  state(): Iterable<RelayChange>
  status(): ReplicaStatus
  /** Settles when everything received so far is served, and written or given up. */
  settled(): Promise<void>
}

export interface ReplicaStatus extends RegistryStatus {
  readonly epoch: string
  readonly revision: number
  readonly tenants: number
  /** Tenants whose newest state cannot be served. */
  readonly rejected: number
}

export interface ReplicaOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly disk: LastKnownGood
  /** Throws for a snapshot that the workers could not serve. */
  readonly validate: (snapshot: TenantSnapshot) => void
  readonly relay: (change: RelayChange) => Promise<void>
  readonly send: (message: UpMessage) => void
}

export function createReplica(options: ReplicaOptions): Replica {
  const { clock, log, disk, relay, send } = options
  const tenants = new Map<string, Kept>()
  const reserved = new Map<string, { hostnames: readonly string[]; synced: SyncedRevision }>()
  const revokedById = new Map<string, RevokedState>()
  const held = new Set<string>()
  /** What was received, rejected snapshots too: compared with what the control plane has sent. */
  const received = new StateDigest()
  const rejected = new Set<string>()
  const roster = new StateDigest()
  /** Removed since the last `synced`: an older state that was read before must not return. */
  const removed = new Map<string, SyncedRevision>()

  let settings: FleetSettings | null = null
  let status: RegistryStatus = { isConfigured: false, isDamaged: false }
  let position: { epoch: string; revision: number } | null = null
  let sync = 0
  /** Who has been mentioned since a full synchronisation began. */
  let mentioned: { tenants: Set<string>; revoked: Set<string> } | null = null
  let everythingServed: Promise<unknown> = Promise.resolve()
  let revokedServed: Promise<unknown> = Promise.resolve()
  let consumed = 0

  function receive(message: DownMessage): void {
    switch (message.type) {
      case 'welcome':
        return welcome(message)
      case 'tenant':
        return consume(receiveTenant(message))
      case 'remove':
        return consume(receiveRemoval(message))
      case 'keep':
        received.set(message.tenant_id, message.hash)
        mentioned?.tenants.add(message.tenant_id)
        return consume(null)
      case 'revoked':
        return receiveRevoked(message)
      case 'revoked_synced':
        return receiveRevokedSynced(message)
      case 'settings':
        return receiveSettings(message)
      case 'synced':
        return receiveSynced(message)
      case 'refused':
        return log.error({ reason: message.reason }, 'the control plane refuses this gateway')
      case 'events_received':
      case 'figures_received':
        return
      default:
        return unreachable(message)
    }
  }

  function welcome({ epoch, revision, is_full }: Down<'welcome'>) {
    log.info({ epoch, revision, is_full }, 'the control plane sends what is missing')
    mentioned = null
    if (!is_full && position?.epoch === epoch) return
    if (!is_full) return askForEverything('the epoch is another one')
    sync += 1
    position = null
    mentioned = { tenants: new Set(), revoked: new Set() }
  }

  /** null: nothing to be done; else what has to happen before it counts as served. */
  function receiveTenant(message: Down<'tenant'>): Promise<unknown> | null {
    const { tenant_id: tenantId, revision, hash } = message
    mentioned?.tenants.add(tenantId)
    const synced = { sync, revision }
    const kept = tenants.get(tenantId)
    const known = kept?.synced ?? removed.get(tenantId)
    if (known !== undefined && !isNewer(synced, known)) return null
    received.set(tenantId, hash)
    if (kept?.hash === hash && kept.synced.revision === revision) {
      tenants.set(tenantId, { ...kept, synced })
      return null
    }
    let snapshot: TenantSnapshot | undefined
    try {
      snapshot = check(message)
      options.validate(snapshot)
    } catch (error) {
      reject(tenantId, revision, error instanceof Error ? error.message : String(error))
      return kept === undefined && snapshot !== undefined ? hold(snapshot, synced) : null
    }
    const text = canonicalJson(snapshot)
    tenants.set(tenantId, { synced, hash, text })
    addToRoster(roster, tenantId)
    reserved.delete(tenantId)
    removed.delete(tenantId)
    rejected.delete(tenantId)
    revokedOf(tenantId).expectSessionSeconds(snapshot.max_session_seconds)
    const served = relay({ type: 'tenant', tenantId, sync, text })
    const saved = disk.saveTenant({
      tenantId,
      synced,
      hash,
      snapshot: message.snapshot,
      hostnames: Object.keys(snapshot.edge_urls),
      isProtected: snapshot.protection === 'on',
      isSuspended: snapshot.status === 'suspended',
    })
    settle(served, saved)
    return served
  }

  /** Nothing of it can be served, and its hosts must not look unknown. */
  function hold({ tenant_id: tenantId, edge_urls }: TenantSnapshot, synced: SyncedRevision) {
    const hostnames = Object.keys(edge_urls)
    reserved.set(tenantId, { hostnames, synced })
    return relay({ type: 'reserve', tenantId, hostnames, synced })
  }

  function receiveRemoval({ tenant_id: tenantId, revision }: Down<'remove'>) {
    const synced = { sync, revision }
    const known = tenants.get(tenantId)?.synced ?? removed.get(tenantId)
    if (known !== undefined && !isNewer(synced, known)) return null
    mentioned?.tenants.delete(tenantId)
    removed.set(tenantId, synced)
    return remove(tenantId)
  }

  function remove(tenantId: string) {
    tenants.delete(tenantId)
    rejected.delete(tenantId)
    reserved.delete(tenantId)
    revokedById.delete(tenantId)
    held.delete(tenantId)
    received.delete(tenantId)
    roster.delete(tenantId)
    const served = relay({ type: 'remove', tenantId })
    settle(served, disk.removeTenant(tenantId))
    return served
  }

  function receiveRevoked({ tenant_id: tenantId, revoked, sequence }: Down<'revoked'>) {
    mentioned?.revoked.add(tenantId)
    revoke(tenantId, revoked)
    acknowledgeRevoked(sequence)
  }

  function revoke(tenantId: string, revoked: Revoked) {
    const state = revokedOf(tenantId)
    const news = state.merge(revoked, nowSeconds(clock))
    if (news === null) return
    const served = relay({ type: 'revoked', tenantId, revoked: news })
    const saved = disk.saveRevoked(tenantId, state)
    revokedServed = Promise.all([revokedServed, served, saved])
    settle(served, saved)
  }

  function receiveRevokedSynced({ sequence }: Down<'revoked_synced'>) {
    for (const tenantId of held) {
      log.info({ tenant_id: tenantId }, 'the revocations of this tenant are complete again')
      const saved = disk.saveRevoked(tenantId, revokedOf(tenantId))
      revokedServed = Promise.all([revokedServed, saved, relay({ type: 'release', tenantId })])
    }
    held.clear()
    acknowledgeRevoked(sequence)
  }

  /** Only now is anybody told that a session has ended: it stays so, whoever is killed next. */
  function acknowledgeRevoked(sequence: number) {
    if (sequence === 0) return
    void revokedServed.then(() =>
      send({ type: 'revoked_applied', sequence, is_durable: disk.isHealthy() }),
    )
  }

  function receiveSettings(message: Down<'settings'>) {
    if (isDeepStrictEqual(settings, message.settings)) return
    settings = message.settings
    void relay({ type: 'settings', settings })
    void disk.saveSettings(settings)
  }

  function receiveSynced({ epoch, revision, state_hash }: Down<'synced'>) {
    removed.clear()
    const isFull = mentioned !== null
    if (mentioned !== null) {
      forgetUnmentioned(mentioned)
      mentioned = null
    } else if (position === null) {
      return // a resync is asked for and has not begun
    }
    if (state_hash !== undefined && state_hash !== received.hex()) {
      log.error({ epoch, revision }, 'the state differs from that of the control plane')
      return askForEverything('the state hash differs')
    }
    if (isFull || state_hash !== undefined) setStatus({ isConfigured: true, isDamaged: false })
    position = { epoch, revision }
    acknowledge(position)
  }

  function askForEverything(reason: string) {
    position = null
    send({ type: 'resync', reason })
  }

  function forgetUnmentioned({ tenants: known, revoked }: NonNullable<typeof mentioned>) {
    for (const tenantId of [...received.tenantIds(), ...tenants.keys(), ...reserved.keys()])
      if (!known.has(tenantId)) void remove(tenantId)
    for (const tenantId of revokedById.keys())
      if (!known.has(tenantId) && !revoked.has(tenantId)) void remove(tenantId)
  }

  function acknowledge(reached: { epoch: string; revision: number }) {
    const reachedSync = sync
    void everythingServed.then(() => {
      const isDurable = disk.isHealthy()
      send({ type: 'applied', ...reached, is_durable: isDurable })
      // Only what is on the disk may be claimed by the next start.
      if (isDurable && position !== null && sync === reachedSync)
        void disk.savePosition({ ...reached, sync: reachedSync, roster: roster.hex() })
    })
  }

  function settle(served: Promise<void>, saved: Promise<boolean>) {
    everythingServed = Promise.all([everythingServed, served, saved])
  }

  /** The control plane may send as much again, once the workers have dealt with it. */
  function consume(served: Promise<unknown> | null) {
    if (served === null) return countConsumed()
    void served.then(countConsumed)
  }

  function countConsumed() {
    consumed += 1
    if (consumed > 1) return
    setImmediate(() => {
      send({ type: 'consumed', messages: consumed })
      consumed = 0
    })
  }

  function reject(tenantId: string, revision: number, reason: string) {
    const short = reason.slice(0, 500)
    rejected.add(tenantId)
    log.error(
      { tenant_id: tenantId, revision, reason: short },
      'snapshot rejected, keeping the last good one',
    )
    send({ type: 'rejected', tenant_id: tenantId, revision, reason: short })
  }

  function setStatus(next: RegistryStatus) {
    if (next.isConfigured === status.isConfigured && next.isDamaged === status.isDamaged) return
    status = next
    void relay({ type: 'status', status })
  }

  function revokedOf(tenantId: string): RevokedState {
    let state = revokedById.get(tenantId)
    if (state === undefined) revokedById.set(tenantId, (state = new RevokedState()))
    return state
  }

  return {
    receive,
    restore(state) {
      ;({ settings, position, sync } = state)
      status = { isConfigured: state.isConfigured, isDamaged: state.isDamaged }
      for (const recovered of state.tenants) {
        const { tenantId, tenant, reserved: hosts, revoked, isRevokedLost, problems } = recovered
        if (tenant !== null) {
          const { synced, hash, snapshot } = tenant
          tenants.set(tenantId, { synced, hash, text: canonicalJson(snapshot) })
          received.set(tenantId, hash)
          revokedOf(tenantId).expectSessionSeconds(snapshot.max_session_seconds)
        }
        if (hosts !== null) reserved.set(tenantId, hosts)
        if (tenant !== null || hosts !== null) addToRoster(roster, tenantId)
        if (revoked !== null) revokedOf(tenantId).merge(revoked, nowSeconds(clock))
        if (revoked !== null && problems.length > 0)
          void disk.saveRevoked(tenantId, revokedOf(tenantId)) // one of its two copies may be bad
        if (isRevokedLost) held.add(tenantId)
      }
    },
    malformed(type, reason, content) {
      log.error({ type, reason }, 'a message of the control plane cannot be read')
      if (type !== 'tenant' && type !== 'remove' && type !== 'keep') return
      const { tenant_id, revision, hash } = (content ?? {}) as Record<string, unknown>
      const tenantId = typeof tenant_id === 'string' ? tenant_id.slice(0, 100) : ''
      mentioned?.tenants.add(tenantId)
      if (typeof hash === 'string') received.set(tenantId, hash)
      reject(tenantId, Number.isSafeInteger(revision) ? Math.max(0, Number(revision)) : 0, reason)
      countConsumed()
    },
    hello: () => ({ epoch: position?.epoch ?? '', revision: position?.revision ?? 0 }),
    *state() {
      yield { type: 'status', status }
      if (settings !== null) yield { type: 'settings', settings }
      for (const tenantId of held) yield { type: 'hold', tenantId }
      for (const [tenantId, state] of revokedById)
        yield { type: 'revoked', tenantId, revoked: state.whole() }
      for (const [tenantId, hosts] of reserved) yield { type: 'reserve', tenantId, ...hosts }
      for (const [tenantId, { synced, text }] of tenants)
        yield { type: 'tenant', tenantId, sync: synced.sync, text }
    },
    endSession(tenantId, sid, issuedSeconds) {
      if (!tenants.has(tenantId)) return
      mentioned?.revoked.add(tenantId)
      const notBefore = endedFrom(nowSeconds(clock), issuedSeconds)
      revoke(tenantId, { all: 0, subjects: {}, sids: { [sid]: notBefore } })
    },
    revisionOf: (tenantId) => tenants.get(tenantId)?.synced.revision,
    settled: () => everythingServed.then(() => {}),
    status: () => ({
      ...status,
      epoch: position?.epoch ?? '',
      revision: position?.revision ?? 0,
      tenants: tenants.size,
      rejected: rejected.size,
    }),
  }
}

/** The hash is over what was sent, the result is what this version understands of it. */
function check({ tenant_id, revision, hash, snapshot }: Down<'tenant'>): TenantSnapshot {
  if (snapshotHash(canonicalJson(snapshot)) !== hash) throw new Error('the hash does not match')
  const result = v.safeParse(TenantSnapshotSchema, snapshot, { abortEarly: true })
  if (!result.success) throw new Error(issueReason(result.issues[0]))
  if (result.output.tenant_id !== tenant_id) throw new Error('tenant_id: another tenant')
  if (result.output.revision !== revision) throw new Error('revision: not that of the message')
  return result.output
}

function unreachable(message: never): never {
  throw new Error(`no case for ${JSON.stringify(message)}`)
}
