/**
 * One connected gateway: what it is sent, in which order, and how far it has come. `serve` tells
 * the story; revocations come in from the side and pass everything.
 */
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { LIMITS } from '../../shared/limits.ts'
import { FEATURES, isKnownTo, type Feature } from '../../shared/fleet/features.ts'
import {
  FLEET_FORMAT,
  type DownMessage,
  type FleetSettings,
  type IndexEntry,
} from '../../shared/fleet/snapshot.ts'
import { pageAfter } from './change-tail.ts'
import {
  closedOf,
  entryOfOld,
  entryPages,
  versionOf,
  write,
  writeEntries,
  writeRevoked,
  type Outgoing,
} from './outgoing.ts'
import { createSendWindow } from './send-window.ts'
import type { FleetPosition, FleetSource, TenantChange } from './source.ts'

/** A sign of progress goes out at least so often, even while changes never pause. */
const SYNCED_EVERY_MESSAGES = 256

export interface LinkContext {
  readonly source: FleetSource
  readonly log: Logger
  /** The newest. */
  settings(): FleetSettings
  /** Where connectors are, written. */
  holders(): readonly string[]
  /** How far the hub itself has read. */
  position(): FleetPosition
  /** The newest message about a tenant; undefined if there never was such a tenant. */
  newest(tenantId: string): Promise<Outgoing | undefined>
  /** This gateway does not know what the tenant needs, and serves nobody there. */
  tooOld(tenantId: string, revision: number): void
  /** Written, and its problems noted. */
  prepare(change: TenantChange): Outgoing
  nextRevokedSequence(): number
  stateHash(): { readonly hash: string; readonly revision: number } | undefined
}

export interface GatewayLink {
  readonly socket: WebSocket
  /** A tenant has a newer state, in the order of the hub's reading. Only the newest is sent. */
  changed(tenantId: string, revision: number): void
  /** Written messages, the same for every gateway. */
  revoked(texts: readonly string[]): void
  /** Acknowledged by this number. */
  settingsChanged(sequence: number): void
  holdersChanged(texts: readonly string[]): void
  consumed(messages: number): void
  /** It serves these tenants: now, and as they change. */
  want(tenantIds: readonly string[], isThere: boolean): void
  unwant(tenantIds: readonly string[]): void
  revokedApplied(sequence: number, isDurable: boolean): void
  eventsReceived(batch: number): void
  heldReceived(batch: number): void
  figuresReceived(run: string, batch: number): void
  /** Whether this gateway enforces everything that was revoked up to `sequence`. */
  hasRevoked(sequence: number): boolean
  /** Whether it would still know so after a restart without us. */
  isRevokedDurable(): boolean
  /** Sends the state hash as soon as it can be compared. */
  compare(): void
  /** Sends everything again on this connection. */
  resync(): void
  close(code: number, reason: string): void
}

export function openGatewayLink(
  socket: WebSocket,
  hello: FleetPosition & { readonly byNeed: boolean; readonly features: ReadonlySet<Feature> },
  context: LinkContext & { readonly isByNeed: boolean },
): GatewayLink {
  const { source, log, isByNeed } = context
  const window = createSendWindow(LIMITS.fleetWindowMessagesMax, LIMITS.fleetWindowBytesMax)
  /** Never decreasing: the hub reports in that order, and a repeated tenant moves to the end. */
  const dirty = new Map<string, number>()
  const removed = new Set<string>()
  const wanted = new Set<string>()
  /** Of those, what it has asked for and was not sent. */
  const asked = new Set<string>()
  let sentRevisionMax = 0
  let revokedAppliedSequence = -1
  let isRevokedDurable = true
  let revokedStateSequence = Number.POSITIVE_INFINITY
  /** Not set again by a resync: two ends that cannot agree are to try once a minute, not at once. */
  let isCompareDue = true
  let isResyncDue = false
  let wakeUp = () => {}

  const isOpen = () => socket.readyState === WebSocket.OPEN

  function send(text: string) {
    if (!isOpen()) return
    socket.send(text)
    // The window bounds tenants; a peer that reads nothing at all is left to reconnect.
    if (socket.bufferedAmount > LIMITS.fleetUnsentBytesMax) socket.terminate()
  }
  const tell = (message: DownMessage) => send(write(message))
  const tellSettings = (sequence = 0) =>
    tell({ type: 'settings', settings: context.settings(), sequence })

  async function serve(isFull: boolean) {
    const start = context.position()
    isResyncDue = false
    const kind = { is_full: isFull, by_need: isByNeed }
    tell({ type: 'welcome', format: FLEET_FORMAT, ...start, ...kind })
    tellSettings()
    context.holders().forEach(send)
    await sendAllRevoked()
    if (isFull && isByNeed) await sendIndex()
    else await sendMissed(isFull, start)
    while (isOpen() && !isResyncDue) {
      await sendDirty(sendSynced)
      sendSynced()
      await new Promise<void>((resolve) => {
        wakeUp = resolve
        if (dirty.size + asked.size > 0 || isResyncDue || !isOpen()) resolve()
      })
    }
  }

  async function sendMissed(isFull: boolean, start: FleetPosition) {
    const missed = isFull ? source.all() : changesBetween(source, hello.revision, start.revision)
    for await (const change of missed) {
      await sendDirty()
      if (!isOpen() || isResyncDue) return
      await offer(context.prepare(change))
    }
  }

  /** That they are there: what of them it does not have, or has in another state, it asks for. */
  async function sendIndex() {
    for await (const page of source.index()) {
      for (const { tenant_id, isAlwaysTold } of page) if (isAlwaysTold) asked.add(tenant_id)
      const entries = page.filter(({ isAlwaysTold }) => !isAlwaysTold)
      await sendDirty()
      if (!isOpen() || isResyncDue) return
      await sendEntries(
        entries.map(({ tenant_id, revision, hostnames }) => {
          const version = versionOf(revision, source.fingerprint)
          const entry: IndexEntry = [tenant_id, revision, version, [...hostnames]]
          return isOld(hello) ? entryOfOld(entry) : entry
        }),
      )
    }
  }

  async function sendEntries(entries: readonly IndexEntry[]) {
    for (const page of entryPages(entries)) {
      const text = writeEntries(page)
      await window.room(text.length)
      for (const [, revision] of page) sentRevisionMax = Math.max(sentRevisionMax, revision)
      send(text)
      window.sent(text.length)
    }
  }

  /** A visitor waits for them. */
  async function sendAsked() {
    for (const tenantId of asked) {
      const outgoing = await context.newest(tenantId)
      if (outgoing !== undefined) await window.room(outgoing.bytes)
      if (!isOpen() || isResyncDue) return
      asked.delete(tenantId)
      if (outgoing !== undefined) await push(outgoing)
    }
  }

  async function sendAllRevoked() {
    revokedStateSequence = Number.POSITIVE_INFINITY
    for await (const { tenant_id, revoked } of source.revoked()) {
      for (const text of writeRevoked(tenant_id, revoked, 0)) {
        await drained(socket)
        send(text)
      }
      if (!isOpen()) return
    }
    // A number of its own: what was revoked meanwhile may have been acknowledged before the rest.
    revokedStateSequence = context.nextRevokedSequence()
    tell({ type: 'revoked_synced', sequence: revokedStateSequence })
  }

  async function sendDirty(onProgress?: () => void) {
    let sent = 0
    await sendAsked()
    for (const [tenantId, revision] of dirty) {
      await sendAsked()
      const outgoing = await context.newest(tenantId)
      if (outgoing !== undefined) await window.room(outgoing.bytes)
      if (!isOpen() || isResyncDue) return
      if (dirty.get(tenantId) !== revision) continue // changed meanwhile, and waits at the end
      dirty.delete(tenantId)
      if (outgoing !== undefined) await push(outgoing)
      sent += 1
      if (sent % SYNCED_EVERY_MESSAGES === 0) onProgress?.()
    }
  }

  async function offer(outgoing: Outgoing) {
    await window.room(outgoing.bytes)
    await push(outgoing)
  }

  async function push(written: Outgoing) {
    const isKnown = isKnownTo(hello.features, written.needs)
    const outgoing = isKnown ? written : closedOf(written)
    const { tenantId, revision, version, entry } = outgoing
    if (!isKnown) context.tooOld(tenantId, revision)
    // A gateway forgets a removed tenant's revocations: they come back ahead of the tenant.
    if (version === null) removed.add(tenantId)
    else if (removed.delete(tenantId))
      writeRevoked(tenantId, await source.revokedOf(tenantId), 0).forEach(send)
    sentRevisionMax = Math.max(sentRevisionMax, revision)
    const isServed = !isByNeed || entry === null || wanted.has(tenantId)
    const text = isServed ? outgoing.text : writeEntries([entry])
    send(text)
    window.sent(isServed ? outgoing.bytes : text.length)
  }

  /** Everything below the oldest unsent change has been sent. */
  function sendSynced() {
    const { epoch, revision } = context.position()
    const oldest = dirty.values().next().value
    const sentRevision = oldest === undefined ? revision : oldest - 1
    const canCompare = hello.byNeed && !isOld(hello)
    const state = isCompareDue && canCompare ? context.stateHash() : undefined
    const isComparable =
      state !== undefined &&
      dirty.size === 0 &&
      revision >= Math.max(state.revision, sentRevisionMax)
    if (isComparable) isCompareDue = false
    const hash = isComparable ? { state_hash: state.hash } : {}
    tell({ type: 'synced', epoch, revision: sentRevision, ...hash })
  }

  async function run() {
    let isFull = needsEverything(hello, context.position())
    while (isOpen()) {
      await serve(isFull)
      isFull = true
    }
  }

  socket.once('close', () => {
    window.close()
    wakeUp()
  })
  run().catch((error: unknown) => {
    log.error({ error }, 'cannot read what the gateway needs, closing so that it tries again')
    socket.close(1011, 'cannot read the state')
  })

  return {
    socket,
    changed(tenantId, revision) {
      dirty.delete(tenantId)
      dirty.set(tenantId, revision)
      wakeUp()
    },
    revoked: (texts) => texts.forEach(send),
    settingsChanged: tellSettings,
    holdersChanged: (texts) => texts.forEach(send),
    consumed: (messages) => window.consumed(messages),
    want(tenantIds, isThere) {
      for (const tenantId of tenantIds) {
        wanted.add(tenantId)
        if (!isThere) asked.add(tenantId)
      }
      wakeUp()
    },
    unwant(tenantIds) {
      for (const tenantId of tenantIds) {
        wanted.delete(tenantId)
        asked.delete(tenantId)
      }
    },
    revokedApplied(sequence, isDurable) {
      revokedAppliedSequence = Math.max(revokedAppliedSequence, sequence)
      isRevokedDurable = isDurable
    },
    eventsReceived: (batch) => tell({ type: 'events_received', batch }),
    heldReceived: (batch) => tell({ type: 'held_received', batch }),
    figuresReceived: (run, batch) => tell({ type: 'figures_received', run, batch }),
    hasRevoked: (sequence) => revokedAppliedSequence >= Math.max(sequence, revokedStateSequence),
    isRevokedDurable: () => isRevokedDurable,
    compare() {
      isCompareDue = true
      wakeUp()
    },
    resync() {
      isResyncDue = true
      wakeUp()
    },
    close: (code, reason) => socket.close(code, reason),
  }
}

/** It does not know all that tenants may need; what it has kept it may have misread. */
const isOld = ({ features }: { readonly features: ReadonlySet<Feature> }) =>
  !isKnownTo(features, FEATURES)

/** A gateway that is ahead of us has seen a database that was then restored from a backup. */
export function needsEverything(
  has: FleetPosition & { readonly features: ReadonlySet<Feature> },
  ours: FleetPosition,
): boolean {
  return (
    isOld(has) ||
    has.revision === 0 ||
    has.epoch !== ours.epoch ||
    has.revision > ours.revision ||
    ours.revision - has.revision > LIMITS.fleetBehindRevisionsMax
  )
}

/** What is newer than `until` is on its way through the hub's own reading. */
async function* changesBetween(
  source: FleetSource,
  after: number,
  until: number,
): AsyncGenerator<TenantChange> {
  for (let at = after; at < until;) {
    const page = await pageAfter(source, at, until)
    for (const change of page.changes) if (change.revision <= until) yield change
    at = page.revision
  }
}

/** Lets others have their turn, and waits while more than one window has not left the process. */
async function drained(socket: WebSocket): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > LIMITS.fleetWindowBytesMax)
    await new Promise((resolve) => setTimeout(resolve, 5))
}
