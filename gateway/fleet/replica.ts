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
import { canonicalJson, snapshotHash } from '../../shared/fleet/digest.ts'
import { issueReason } from '../../shared/fleet/parse.ts'
import {
  TenantSnapshotSchema,
  type DownMessage,
  type FleetSettings,
  type Revoked,
  type TenantSnapshot,
  type UpMessage,
} from '../../shared/fleet/snapshot.ts'
import { type RegistryStatus } from '../tenants/registry.ts'
import { isNewer, type SyncedRevision } from '../tenants/synced-revision.ts'
import type { StoredState } from '../last-known-good/kept-state.ts'
import type { LastKnownGood } from '../last-known-good/last-known-good.ts'
import type { PositionRecord } from '../last-known-good/stored-records.ts'
import type { OnlyFor } from './relay.ts'
import { indexText, type RelayChange } from './relay-messages.ts'
import { createAcknowledgements } from './acknowledgements.ts'
import { HeldRevocations } from './held-revocations.ts'
import { createNeededTenants } from './needed-tenants.ts'
import { ReplicatedTenants, type Mentioned } from './replicated-tenants.ts'

type Down<Type extends DownMessage['type']> = DownMessage & { type: Type }

export interface ReplicaStatus extends RegistryStatus {
  readonly epoch: string
  readonly revision: number
  readonly tenants: number
  /** Tenants whose newest state cannot be served. */
  readonly rejected: number
}

interface ReplicaOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly disk: LastKnownGood
  /** Throws for a snapshot that the workers could not serve. */
  readonly validate: (snapshot: TenantSnapshot) => void
  readonly relay: (change: RelayChange, only?: OnlyFor) => Promise<void>
  /** False: there is no link. */
  readonly send: (message: UpMessage) => boolean
  readonly keptBytesMax?: number | undefined
}

export type Replica = ReturnType<typeof createReplica>

export function createReplica(options: ReplicaOptions) {
  const { clock, log, disk, relay, send } = options
  const tenants = new ReplicatedTenants()
  const acknowledgements = createAcknowledgements({ disk, send })
  const needed = createNeededTenants({
    clock,
    tenants,
    disk,
    relay,
    send,
    onDamaged() {
      for (const tenantId of tenants.damaged) {
        const reserved = tenants.reserved.get(tenantId)
        if (reserved !== undefined) void relay({ type: 'reserve', tenantId, ...reserved })
      }
      tenants.damaged.clear()
      askForEverything('a kept tenant is damaged')
    },
    keptBytesMax: options.keptBytesMax,
  })
  const held = new HeldRevocations({
    all: () => tenants.revoked(),
    send,
    onHanded(handed_epoch) {
      if (saved !== null) savePosition({ ...saved, handed_epoch })
    },
  })
  let saved: PositionRecord | null = null
  let settings: FleetSettings | null = null
  let status: RegistryStatus = { isConfigured: false, isDamaged: false }
  let position: { epoch: string; revision: number } | null = null
  let sync = 0
  /** Of what was received last. */
  let lastEpoch = ''
  let isSameEpoch = true
  /** While a full synchronisation is under way. */
  let mentioned: Mentioned | null = null

  function receive(message: DownMessage): void {
    switch (message.type) {
      case 'welcome':
        return welcome(message)
      case 'tenant':
        acknowledgements.consume(receiveTenant(message))
        return needed.settled(message.tenant_id)
      case 'index':
        return acknowledgements.consume(receiveIndex(message))
      case 'remove':
        acknowledgements.consume(receiveRemoval(message))
        return needed.settled(message.tenant_id)
      case 'keep':
        tenants.received.set(message.tenant_id, message.version ?? message.hash)
        tenants.outdated.delete(message.tenant_id)
        mentioned?.tenants.add(message.tenant_id)
        acknowledgements.consume(null)
        return needed.settled(message.tenant_id)
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
      case 'held_received':
        return held.onReceived(message.batch)
      case 'holders':
      case 'events_received':
      case 'figures_received':
        return
    }
  }

  function welcome({ epoch, revision, is_full, by_need = false }: Down<'welcome'>) {
    log.info({ epoch, revision, is_full, by_need }, 'the control plane sends what is missing')
    mentioned = null
    isSameEpoch = lastEpoch === epoch
    held.onWelcome()
    needed.follow(by_need)
    if (!is_full && position?.epoch !== epoch) return askForEverything('the epoch is another one')
    if (!is_full && !by_need && tenants.indexed.size > 0)
      return askForEverything('all tenants are sent now')
    if (!is_full) return
    sync += 1
    position = null
    mentioned = { tenants: new Set(), revoked: new Set() }
  }

  /** null: nothing to be done; else what has to happen before it counts as served. */
  function receiveTenant(message: Down<'tenant'>): Promise<unknown> | null {
    const { tenant_id: tenantId, revision, hash, version = hash } = message
    mentioned?.tenants.add(tenantId)
    const synced = { sync, revision }
    const known = tenants.knownOf(tenantId)
    if (known !== undefined && !isNewer(synced, known)) return null
    tenants.received.set(tenantId, version)
    tenants.outdated.delete(tenantId)
    const kept = tenants.kept.get(tenantId)
    if (kept?.hash === hash && kept.synced.revision === revision) {
      tenants.kept.set(tenantId, { ...kept, synced, version })
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
    const hostnames = Object.keys(snapshot.edge_urls)
    const isPushed = snapshot.mode === 'connector'
    const next = { synced, hash, version, hostnames, isPushed, bytes: text.length, text }
    // the other workers know it by name, and ask when they have a visitor for it
    const workers = kept === undefined && !isPushed ? needed.wanting(tenantId) : undefined
    const byName = indexText([{ tenantId, hostnames, synced }])
    const others = { type: 'index', tenants: byName } as const
    tenants.keep(tenantId, next, snapshot.max_session_seconds)
    const change = { type: 'tenant', tenantId, sync, text } as const
    const served = relay(change, workers && { workers, others })
    const saved = disk.saveTenant({
      tenantId,
      synced,
      hash,
      version,
      snapshot: message.snapshot,
      hostnames,
      isProtected: snapshot.protection === 'on',
      isSuspended: snapshot.status === 'suspended',
      atStart: isPushed
        ? null
        : { bytes: text.length, sessionSeconds: snapshot.max_session_seconds },
    })
    acknowledgements.settle(served, saved)
    return served
  }

  function receiveIndex(message: Down<'index'>) {
    const fresh: { tenantId: string; hostnames: string[]; synced: SyncedRevision }[] = []
    for (const [tenantId, revision, version, hostnames] of message.tenants) {
      mentioned?.tenants.add(tenantId)
      const synced = { sync, revision }
      if (!tenants.index(tenantId, { synced, version, hostnames }, isSameEpoch)) continue
      if (tenants.kept.has(tenantId)) needed.renew(tenantId)
      else fresh.push({ tenantId, hostnames, synced })
    }
    if (fresh.length === 0) return null
    const served = relay({ type: 'index', tenants: indexText(fresh) })
    acknowledgements.settle(served, Promise.resolve(true))
    return served
  }

  /** Nothing of it can be served, and its hosts must not look unknown. */
  function hold({ tenant_id: tenantId, edge_urls }: TenantSnapshot, synced: SyncedRevision) {
    const hostnames = Object.keys(edge_urls)
    tenants.reserved.set(tenantId, { hostnames, synced })
    return relay({ type: 'reserve', tenantId, hostnames, synced })
  }

  function receiveRemoval({ tenant_id: tenantId, revision }: Down<'remove'>) {
    const synced = { sync, revision }
    const known = tenants.knownOf(tenantId)
    if (known !== undefined && !isNewer(synced, known)) return null
    mentioned?.tenants.delete(tenantId)
    tenants.removed.set(tenantId, synced)
    return remove(tenantId)
  }

  function remove(tenantId: string) {
    tenants.forget(tenantId)
    const served = relay({ type: 'remove', tenantId })
    acknowledgements.settle(served, disk.removeTenant(tenantId))
    return served
  }

  function receiveRevoked({ tenant_id: tenantId, revoked, sequence }: Down<'revoked'>) {
    mentioned?.revoked.add(tenantId)
    revoke(tenantId, revoked)
    acknowledgements.revokedApplied(sequence)
  }

  function revoke(tenantId: string, revoked: Revoked) {
    const state = tenants.revokedOf(tenantId)
    const news = state.merge(revoked, nowSeconds(clock))
    if (news === null) return
    const served = relay({ type: 'revoked', tenantId, revoked: news })
    const saved = disk.saveRevoked(tenantId, state)
    acknowledgements.settleRevoked(served, saved)
    acknowledgements.settle(served, saved)
  }

  function receiveRevokedSynced({ sequence }: Down<'revoked_synced'>) {
    for (const tenantId of tenants.held) {
      log.info({ tenant_id: tenantId }, 'the revocations of this tenant are complete again')
      const saved = disk.saveRevoked(tenantId, tenants.revokedOf(tenantId))
      acknowledgements.settleRevoked(relay({ type: 'release', tenantId }), saved)
    }
    tenants.held.clear()
    acknowledgements.revokedApplied(sequence)
  }

  function receiveSettings(message: Down<'settings'>) {
    if (!isDeepStrictEqual(settings, message.settings)) {
      settings = message.settings
      // Another gateway may be in them no more, which ends what it has here.
      const served = relay({ type: 'settings', settings })
      acknowledgements.settleRevoked(served, disk.saveSettings(settings))
    }
    acknowledgements.revokedApplied(message.sequence ?? 0)
  }

  function receiveSynced({ epoch, revision, state_hash }: Down<'synced'>) {
    // what is newer elsewhere has been asked for, and is followed by another one of these
    if (tenants.outdated.size > 0) return
    tenants.removed.clear()
    acknowledgements.settle(Promise.resolve(), needed.saveIndex())
    const isFull = mentioned !== null
    if (mentioned !== null) {
      for (const tenantId of tenants.notAmong(mentioned)) void remove(tenantId)
      mentioned = null
    } else if (position === null) {
      return // a resync is asked for and has not begun
    }
    if (state_hash !== undefined && state_hash !== tenants.received.hex()) {
      log.error({ epoch, revision }, 'the state differs from that of the control plane')
      return askForEverything('the state hash differs')
    }
    if (isFull || state_hash !== undefined) setStatus({ isConfigured: true, isDamaged: false })
    position = { epoch, revision }
    lastEpoch = epoch
    held.onSynced(epoch)
    acknowledge(position)
  }

  function askForEverything(reason: string) {
    position = null
    send({ type: 'resync', reason })
  }

  function acknowledge(reached: { epoch: string; revision: number }) {
    const reachedSync = sync
    acknowledgements.applied(reached, () => {
      // Only what is on the disk may be claimed by the next start.
      if (position === null || sync !== reachedSync) return
      const roster = tenants.roster.written()
      savePosition({ ...reached, ...roster, sync: reachedSync, handed_epoch: held.epoch })
    })
  }

  function savePosition(record: PositionRecord) {
    saved = record
    void disk.savePosition(record)
  }

  function reject(tenantId: string, revision: number, reason: string) {
    const short = reason.slice(0, 500)
    tenants.rejected.add(tenantId)
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

  return {
    receive,
    restore(state: StoredState) {
      ;({ settings, position, sync } = state)
      lastEpoch = position?.epoch ?? ''
      held.restore(state.handedEpoch)
      status = { isConfigured: state.isConfigured, isDamaged: state.isDamaged }
      for (const tenantId of tenants.restore(state, nowSeconds(clock)))
        void disk.saveRevoked(tenantId, tenants.revokedOf(tenantId))
    },
    /** A message that could not be read: if it was about one tenant, that one is rejected. */
    malformed(type: string, reason: string, content: unknown) {
      log.error({ type, reason }, 'a message of the control plane cannot be read')
      if (type !== 'tenant' && type !== 'remove' && type !== 'keep') return
      const { tenant_id, revision, hash } = (content ?? {}) as Record<string, unknown>
      const tenantId = typeof tenant_id === 'string' ? tenant_id.slice(0, 100) : ''
      mentioned?.tenants.add(tenantId)
      if (typeof hash === 'string') tenants.received.set(tenantId, hash)
      reject(tenantId, Number.isSafeInteger(revision) ? Math.max(0, Number(revision)) : 0, reason)
      acknowledgements.consume(null)
    },
    /** A worker has a visitor for it. */
    want: needed.want,
    /** Tenants that workers were asked for. */
    asked(tenantIds: readonly string[]) {
      needed.asked(tenantIds)
      needed.makeRoom()
    },
    /** There is no link. */
    cutOff: needed.cutOff,
    hello: () => ({ epoch: position?.epoch ?? '', revision: position?.revision ?? 0 }),
    /** Everything that a new worker needs, read step by step. */
    *state(): Iterable<RelayChange> {
      yield { type: 'status', status }
      if (settings !== null) yield { type: 'settings', settings }
      yield* tenants.changes()
    },
    /** Somebody signed out here, or was ended here: dead in every worker and on disk, link or no link. */
    endSession(tenantId: string, sid: string, issuedSeconds: number) {
      if (!tenants.kept.has(tenantId) && tenants.indexed.get(tenantId) === undefined) return
      mentioned?.revoked.add(tenantId)
      const notBefore = endedFrom(nowSeconds(clock), issuedSeconds)
      revoke(tenantId, { all: 0, subjects: {}, sids: { [sid]: notBefore } })
    },
    /** Of the newest state of this tenant that is served here. */
    revisionOf: (tenantId: string) => tenants.kept.get(tenantId)?.synced.revision,
    /** Settles when everything received so far is served, and written or given up. */
    settled: acknowledgements.settled,
    status: () => ({
      ...status,
      epoch: position?.epoch ?? '',
      revision: position?.revision ?? 0,
      tenants: tenants.kept.size + tenants.indexed.size,
      rejected: tenants.rejected.size,
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
