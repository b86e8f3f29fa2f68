/**
 * The control plane's end of the fleet link: pushes every change to every gateway, and knows how
 * far each of them has come.
 */
import type { Server } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { WebSocket } from 'ws'
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { ConnectorsMessage } from '../../shared/fleet/connector-presence.ts'
import type { Holders } from '../../shared/fleet/holders.ts'
import type {
  DecisionFigures,
  EnforcementEvent,
  FleetSettings,
  GatewayDoor,
  Revoked,
  SessionActivity,
  UpMessage,
} from '../../shared/fleet/snapshot.ts'
import {
  createAdmission,
  NO_GATEWAY_KEYS,
  type Credential,
  type GatewayKeyRegistry,
  type SharedKeyUse,
} from './admission.ts'
import { followChanges } from './change-tail.ts'
import { FLEET_TIMING, type FleetTiming } from './fleet-timing.ts'
import { createGatewayRegistry, type Rejection } from './gateway-registry.ts'
import {
  needsEverything,
  openGatewayLink,
  type GatewayLink,
  type LinkContext,
} from './gateway-link.ts'
import { writeChange, writeHolders, writeRevoked, type Outgoing } from './outgoing.ts'
import { serveConnection, type Hello } from './gateway-connection.ts'
import type { FleetSource, TenantChange } from './source.ts'
import { watchForLostCommits } from './lost-commits.ts'
import type { Nodes } from '../store/engine.ts'
import type { LiveKey } from '../keys/live-key.ts'
import { createStateIndex } from './state-index.ts'
import { acknowledgeEverywhere } from './everywhere.ts'
import { acceptGateways } from './accept-gateways.ts'

const TOO_OLD =
  'this gateway is too old for this tenant’s access rules; it answers 503 for the tenant until it is replaced'
const RECENT_BYTES_MAX = 32 * 1024 * 1024

export interface FleetHubOptions {
  readonly source: FleetSource
  /** Of this machine: for gateways beside the control plane. */
  readonly fleetKey: LiveKey
  readonly sharedKey?: SharedKeyUse
  /** Of each gateway. */
  readonly keys?: GatewayKeyRegistry
  readonly clock: Clock
  readonly log: Logger
  readonly settings: FleetSettings
  readonly onActivity?: (gatewayId: string, sessions: SessionActivity[]) => void | Promise<void>
  /** It has come in, and says where connectors dial it, if anywhere. */
  readonly onDoor?: (gatewayId: string, door: GatewayDoor | undefined) => void | Promise<void>
  /** Once it has settled, the gateway forgets these events; it may see a batch twice. */
  readonly onEvents?: (gatewayId: string, events: EnforcementEvent[]) => void | Promise<void>
  /** The same; it sees a batch twice, too, and has to tell. */
  readonly onFigures?: (gatewayId: string, figures: DecisionFigures) => void | Promise<void>
  /** What it holds as revoked, after the database may have lost some of it. */
  readonly onHeld?: (gatewayId: string, tenants: Held['tenants']) => Promise<void>
  /** Which connectors are at it. */
  readonly onConnectors?: (gatewayId: string, message: ConnectorsMessage) => void
  /** At which gateways tenants' connectors are. */
  readonly holders?: () => Iterable<Holders>
  /** Other control planes, whose gateways count as well. */
  readonly nodes?: Nodes | undefined
  readonly timing?: Partial<FleetTiming>
  /** With more tenants, or certificates, gateways are told which there are, and ask. */
  readonly tenantsToldWholeMax?: number
  readonly certificatesToldWholeMax?: number
}

type Held = UpMessage & { type: 'held' }

export type FleetHub = ReturnType<typeof createFleetHub>

export function createFleetHub(options: FleetHubOptions) {
  const { source, log, clock, keys = NO_GATEWAY_KEYS, sharedKey = 'local' } = options
  const { tenantsToldWholeMax = LIMITS.fleetTenantsToldWholeMax } = options
  const { certificatesToldWholeMax = LIMITS.fleetCertificatesToldWholeMax } = options
  let { settings } = options
  const timing = { ...FLEET_TIMING, ...options.timing }
  const links = new Map<string, GatewayLink>()
  const credentials = new Map<WebSocket, Credential>()
  const registry = createGatewayRegistry(clock)
  const index = createStateIndex(source, log)
  const unsendable = new Map<string, Rejection>()
  const recent = new LRUCache<string, Outgoing>({
    maxSize: RECENT_BYTES_MAX,
    sizeCalculation: (outgoing) => outgoing.bytes,
  })
  let revokedSequence = 0
  const lostCommits = watchForLostCommits({ source, log, clock })

  const tail = followChanges({
    source,
    log,
    pollMs: timing.pollMs,
    onChange(change, revision) {
      const outgoing = prepare(change)
      remember(outgoing)
      index.follow(outgoing)
      registry.forgive(change.tenant_id)
      for (const link of links.values()) link.changed(change.tenant_id, revision)
    },
    onRestart(position) {
      log.warn({ ...position }, 'the database was replaced or restored, gateways start over')
      recent.clear()
      closeLinks(1012, 'the database was replaced')
      void index.rebuild()
    },
  })

  const everywhere = acknowledgeEverywhere({
    links,
    registry,
    unsendable,
    keys,
    log,
    nodes: options.nodes,
    onCutOff: () => closeLinks(1013, 'this control plane cannot read its database'),
  })
  const { progressed } = everywhere

  function closeLinks(code: number, reason: string) {
    for (const link of links.values()) link.close(code, reason)
  }

  const contextFor = (gatewayId: string): LinkContext => ({
    source,
    log,
    settings: () => settings,
    holders() {
      const all = [...(options.holders?.() ?? [])]
      // A fleet without connectors is told nothing of them.
      return all.length === 0 && settings.gateways === undefined ? [] : writeHolders(all, true)
    },
    position: () => tail.position(),
    prepare,
    nextRevokedSequence: () => ++revokedSequence,
    stateHash: () => index.current(),
    async newest(tenantId) {
      const known = recent.get(tenantId)
      if (known !== undefined) return known
      const change = await source.snapshot(tenantId)
      return change && remember(prepare(change))
    },
    tooOld(tenantId, revision) {
      log.error(
        { gateway_id: gatewayId, tenant_id: tenantId, revision },
        'a gateway is too old for a tenant’s access rules: the tenant is suspended there until it is replaced',
      )
      registry.rejected(gatewayId, tenantId, revision, TOO_OLD)
    },
  })

  /** A snapshot that cannot be sent is the control plane's own rejection, and shown as one. */
  function prepare(change: TenantChange): Outgoing {
    const outgoing = writeChange(change, source.fingerprint)
    const { tenantId, revision, problem } = outgoing
    if (problem === null) unsendable.delete(tenantId)
    else if (unsendable.get(tenantId)?.revision !== revision) {
      log.error({ tenant_id: tenantId, revision, reason: problem }, 'a snapshot cannot be sent')
      const at = new Date(clock.nowMs()).toISOString()
      unsendable.set(tenantId, { tenant_id: tenantId, revision, reason: problem, at })
    }
    return outgoing
  }

  function remember(outgoing: Outgoing): Outgoing {
    const known = recent.peek(outgoing.tenantId)
    if (known !== undefined && known.revision > outgoing.revision) return known
    recent.set(outgoing.tenantId, outgoing)
    return outgoing
  }

  const { fleetKey } = options
  const admission = createAdmission({ fleetKey, sharedKey, keys, log })
  const accepting = acceptGateways(admission.authenticate, enter, log)

  fleetKey.onReplaced(() => {
    for (const [socket, credential] of credentials)
      if (credential.kind === 'shared' && !fleetKey.isLive(credential.number)) socket.terminate()
  })

  function enter(socket: WebSocket, address: string, credential: Credential) {
    credentials.set(socket, credential)
    socket.once('close', () => credentials.delete(socket))
    const refusalOf = (gatewayId: string) => admission.refusalOf(credential, gatewayId)
    const onSeen = (gatewayId: string) => registry.seen(gatewayId)
    const talk = { socket, clock, log: log.child({ address }), timing, onSeen, onMessage }
    serveConnection({ ...talk, refusalOf, welcome: (hello) => welcome(hello, credential) })
  }

  async function onMessage(gatewayId: string, link: GatewayLink, message: UpMessage) {
    if (links.get(gatewayId) !== link) return // replaced; what it still says is void
    switch (message.type) {
      case 'applied':
        if (message.epoch !== tail.position().epoch) return
        registry.applied(gatewayId, message.revision, message.is_durable)
        return progressed()
      case 'revoked_applied':
        link.revokedApplied(message.sequence, message.is_durable)
        return progressed()
      case 'consumed':
        return link.consumed(message.messages)
      case 'want':
        return link.want(message.tenant_ids, message.has === true)
      case 'unwant':
        return link.unwant(message.tenant_ids)
      case 'rejected': {
        const { tenant_id: tenantId, revision, reason } = message
        log.error(
          { gateway_id: gatewayId, tenant_id: tenantId, revision, reason },
          'a gateway rejected a snapshot',
        )
        registry.rejected(gatewayId, tenantId.slice(0, 100), revision, reason)
        return progressed()
      }
      case 'resync':
        log.warn({ gateway_id: gatewayId, reason: message.reason }, 'a gateway asks for everything')
        return link.resync()
      case 'activity':
        return options.onActivity?.(gatewayId, message.sessions)
      case 'events':
        await options.onEvents?.(gatewayId, message.events)
        return link.eventsReceived(message.batch)
      case 'figures':
        await options.onFigures?.(gatewayId, message)
        return link.figuresReceived(message.run, message.batch)
      case 'held':
        await options.onHeld?.(gatewayId, message.tenants)
        return link.heldReceived(message.batch)
      case 'connectors':
        return options.onConnectors?.(gatewayId, message)
      case 'hello':
        return
      default:
        return unreachable(message)
    }
  }

  /** For a gateway that starts, and for what its workers hold. */
  async function areTooMany(): Promise<boolean> {
    if ((await source.count()) > tenantsToldWholeMax) return true
    return (await source.countCertificates()) > certificatesToldWholeMax
  }

  async function welcome(hello: Hello, credential: Credential): Promise<GatewayLink | null> {
    const { socket, id, version } = hello
    await tail.started
    const isByNeed = hello.byNeed && (await areTooMany())
    if (socket.readyState !== socket.OPEN) return null
    if (await lostCommits.foundBy(hello)) {
      socket.close(1012, 'the database has lost commits')
      tail.wake()
      return null
    }
    await followedUpTo(hello)
    await everywhere.arrives(id)
    if (socket.readyState !== socket.OPEN) return null
    const older = links.get(id)
    if (older !== undefined) {
      hello.log.warn('a newer connection of this gateway replaces the older one')
      older.close(4000, 'replaced by a newer connection of the same gateway')
    }
    const isBehind = needsEverything(hello, tail.position())
    if (isBehind) hello.log.info('the gateway is sent everything')
    const keyId = credential.kind === 'own' ? credential.keyId : null
    registry.connected(id, version, isBehind ? 0 : hello.revision, keyId)
    const link = openGatewayLink(socket, hello, {
      ...contextFor(id),
      isByNeed,
      log: hello.log,
    })
    links.set(id, link)
    socket.once('close', () => {
      if (links.get(id) !== link) return
      links.delete(id)
      registry.disconnected(id)
      progressed()
    })
    // not awaited: until this returns nobody hears what the gateway answers
    void Promise.try(() => options.onDoor?.(id, hello.connect)).catch((error: unknown) =>
      hello.log.error({ error }, 'where connectors dial this gateway could not be kept'),
    )
    if (index.current() === undefined) void index.rebuild().then(compareAll)
    return link
  }

  /** It may come from another control plane, which had read more of the database. */
  async function followedUpTo({ epoch, revision }: Hello): Promise<void> {
    const ours = tail.position()
    if (epoch !== ours.epoch || revision <= ours.revision) return
    const newest = await source.position()
    await tail.reached({ epoch, revision: Math.min(revision, newest.revision) })
  }

  function compareAll() {
    for (const link of links.values()) link.compare()
  }
  const comparing = setInterval(compareAll, timing.compareMs)
  const rebuilding = setInterval(() => {
    if (links.size > 0) void index.rebuild().then(compareAll)
  }, timing.rebuildMs)
  comparing.unref()
  rebuilding.unref()

  return {
    /** Takes over `/fleet` of a listening or not yet listening server. */
    attach: (server: Server) => accepting.attach(server),
    /** To be called after the commit; what changed is read from the source. */
    tenantChanged: (_tenantId?: string) => tail.wake(),
    /** To be called after the commit, with what is new or with the whole state. */
    revoked(tenantId: string, revoked: Revoked) {
      revokedSequence += 1
      const texts = writeRevoked(tenantId, revoked, revokedSequence)
      for (const link of links.values()) link.revoked(texts)
    },
    /** From now on every gateway is told these; whoever is in them no more counts as revoked. */
    changeSettings(next: FleetSettings) {
      settings = next
      revokedSequence += 1
      for (const link of links.values()) link.settingsChanged(revokedSequence)
    },
    /** Of these tenants, connectors are elsewhere than before. */
    holdersChanged(changed: readonly Holders[]) {
      const texts = writeHolders(changed, false)
      for (const link of links.values()) link.holdersChanged(texts)
    },
    gateways: () => everywhere.gateways(tail.position().revision),
    /** Waits until every connected gateway serves `revision`, at most so long. */
    settled: everywhere.applied,
    /** Waits until every connected gateway goes by this state of the tenant, at most so long. */
    enforced: everywhere.taken,
    /**
     * Waits until every connected gateway enforces all that was revoked so far, at most so long; at
     * other control planes, up to this position of their log.
     */
    revocationsSettled: (timeoutMs: number, position: number | null = null) =>
      everywhere.revoked({ sequence: revokedSequence, position }, timeoutMs),
    /** All that other control planes have revoked up to this position of their log has been told. */
    heard: (position: number) => everywhere.heard(position, revokedSequence),
    /** What others have done meanwhile is not known: gateways come again, and are told all of it. */
    startOver() {
      everywhere.startOver()
      revokedSequence += 1 // which none of them has acknowledged
      closeLinks(1012, 'what has been revoked is read again')
    },
    /** Whoever has come in with these keys is out, at once. */
    cut(keyIds: readonly string[]) {
      for (const [socket, credential] of credentials)
        if (credential.kind === 'own' && keyIds.includes(credential.keyId)) socket.terminate()
    },
    /** The same for whoever has come in with any other than these. */
    cutAllBut(keyIds: ReadonlySet<string>) {
      for (const [socket, credential] of credentials)
        if (credential.kind === 'own' && !keyIds.has(credential.keyId)) socket.terminate()
    },
    /** A gateway that has no key any more is not waited for. */
    forget: (gatewayId: string) => registry.forget(gatewayId),
    async close() {
      clearInterval(comparing)
      clearInterval(rebuilding)
      index.close()
      accepting.close()
      closeLinks(1001, 'the control plane stops')
      await everywhere.close()
      await tail.close()
    },
  }
}

function unreachable(message: never): never {
  throw new Error(`no case for ${JSON.stringify(message)}`)
}
