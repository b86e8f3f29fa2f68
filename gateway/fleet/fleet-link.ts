/**
 * Everything between the control plane and the workers, for the primary process: what the disk
 * remembers, what the control plane sends, and who is told.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import type { DecisionCount, GatewayDoor, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { createConnectorOutbox } from './connector-outbox.ts'
import { createGatewayConnectors } from './gateway-connectors.ts'
import { createKnownHolders } from './known-holders.ts'
import { openFeed, type FeedTiming } from './feed.ts'
import { openFiguresFile } from './figures-file.ts'
import { createFiguresOutbox } from './figures-outbox.ts'
import { createReplica, type Replica, type ReplicaStatus } from './replica.ts'
import { openLastKnownGood } from '../last-known-good/last-known-good.ts'
import { endsSession, type Report, type WorkerPort } from './relay-messages.ts'
import { createRelay } from './relay.ts'
import { createReportOutbox } from './report-outbox.ts'
import { createToldTime, type Correction } from './told-time.ts'

const CLOSE_MS_MAX = 1_000

interface FleetLinkOptions {
  readonly controlPlaneUrls: readonly string[]
  /** Of this gateway alone. */
  readonly fleetKey: string
  /** What it was until this start; null: the same. */
  readonly previousKey?: string | null
  /** Whether the link may go to another machine in the clear. */
  readonly mayBePlain?: boolean
  readonly transport?: Parameters<typeof openFeed>[0]['transport']
  readonly gatewayId: string
  readonly version: string
  /** Where connectors dial it; undefined: nowhere. */
  readonly connect?: GatewayDoor | undefined
  /** `<data_dir>/gateway/<id>` */
  readonly directory: string
  /** Throws for a snapshot that a worker could not compile. */
  readonly validate: (snapshot: TenantSnapshot) => void
  readonly clock: Clock
  /** Of `clock`: the control plane knows better. */
  readonly onCorrection?: (correction: Correction) => void
  readonly log: Logger
  readonly random: () => number
  /** Of snapshots, where tenants come by need. */
  readonly keptBytesMax?: number
  readonly timing?: Partial<
    FeedTiming & {
      retryMs: number
      gatherMs: number
      handlingMsMax: number
      figuresMs: number
      connectorsMs: number
    }
  >
}

export interface FleetLinkStatus extends ReplicaStatus {
  readonly isConnected: boolean
  /** When the control plane last confirmed that nothing is missing, by the steady clock; null since the start. */
  readonly syncedMs: number | null
  readonly workersReady: number
  readonly isDiskHealthy: boolean
  /** What is added to this machine's clock. */
  readonly correctionMs: number
}

export type FleetLink = ReturnType<typeof startFleetLink>

export function startFleetLink(options: FleetLinkOptions) {
  const { log, clock, timing } = options
  const {
    directory,
    fleetKey,
    previousKey = null,
    controlPlaneUrls,
    gatewayId,
    version,
    random,
  } = options
  const retryMs = timing?.retryMs === undefined ? {} : { retryMs: timing.retryMs }
  const disk = openLastKnownGood({ directory, fleetKey, previousKey, log, ...retryMs })
  let syncedMs: number | null = null

  const relay = createRelay({
    log,
    ...(timing?.handlingMsMax === undefined ? {} : { handlingMsMax: timing.handlingMsMax }),
    *state() {
      const correction = toldTime.correction()
      if (correction !== undefined) yield { type: 'clock', correction }
      yield* replica.state()
      yield* holders.state()
      yield* here.state()
    },
    onFailed(tenantId, reason) {
      const revision = replica.status().revision
      feed.send({ type: 'rejected', tenant_id: tenantId, revision, reason: reason.slice(0, 500) })
    },
    onReport(report) {
      for (const event of report.type === 'events' ? report.events : [])
        if (endsSession(event))
          replica.endSession(event.tenant_id, event.sid ?? '', event.issued_at ?? 0)
      outbox.add(withRevisions(report, replica.revisionOf))
    },
    onWant: (tenantId, worker) => replica.want(tenantId, worker),
    onAsked: (tenantIds) => replica.asked(tenantIds),
    onConnectors(worker, news) {
      here.add(worker, news)
      connectors.add(worker, news)
    },
  })
  const replica = createReplica({
    clock,
    log,
    disk,
    validate: options.validate,
    relay: (change, only) => relay.send(change, only),
    send: (message) => feed.send(message),
    keptBytesMax: options.keptBytesMax,
  })
  const holders = createKnownHolders({ relay: (change) => void relay.send(change) })
  const here = createGatewayConnectors((change) => void relay.send(change))
  const toldTime = createToldTime({
    log,
    onCorrection(correction) {
      options.onCorrection?.(correction)
      void relay.send({ type: 'clock', correction })
    },
  })
  const kept = disk.load()
  replica.restore(kept)

  const feed = openFeed({
    controlPlaneUrls,
    fleetKey,
    previousKey,
    gatewayId,
    version,
    connect: options.connect,
    mayBePlain: options.mayBePlain ?? false,
    ...(options.transport && { transport: options.transport }),
    log,
    random,
    hello: () => replica.hello(),
    onMessage(message) {
      replica.receive(message)
      if (message.type === 'welcome') {
        outbox.connected()
        figures.connected()
        connectors.connected()
      }
      if (message.type === 'holders') holders.receive(message)
      if (message.type === 'synced') syncedMs = clock.steadyMs()
      if (message.type === 'events_received') outbox.eventsReceived(message.batch)
      if (message.type === 'figures_received') figures.received(message.run, message.batch)
    },
    onPing: toldTime.hear,
    onLost: () => replica.cutOff(),
    onMalformed: (type, reason, content) => replica.malformed(type, reason, content),
    ...(timing === undefined ? {} : { timing }),
  })
  const outbox = createReportOutbox({
    log,
    send: (message) => feed.send(message),
    endings: kept.endings,
    saveEndings: (endings) => void disk.saveEndings(endings),
    gatherMs: timing?.gatherMs ?? 200,
  })
  const connectors = createConnectorOutbox({
    clock,
    log,
    send: (message) => feed.send(message),
    ...(timing?.connectorsMs === undefined ? {} : { renewMs: timing.connectorsMs }),
  })
  const figures = createFiguresOutbox({
    log,
    clock,
    file: openFiguresFile(directory, log),
    run: randomUUID(),
    send: (message) => feed.send(message),
    ...(timing?.figuresMs === undefined ? {} : { everyMs: timing.figuresMs }),
  })

  return {
    /** Another key, while all goes on: what is on the disk is sealed anew, and the link opened anew. */
    turnTo(key: string, door: GatewayDoor | undefined) {
      void disk.turnTo(key)
      feed.turnTo(key, door)
    },
    attachWorker: (port: WorkerPort) => relay.attach(port),
    /** What workers have decided since the last time, for the control plane's figures. */
    countDecisions: (counts: readonly DecisionCount[]) => figures.add(counts),
    status: () => ({
      ...replica.status(),
      isConnected: feed.isConnected(),
      syncedMs,
      workersReady: relay.workersReady(),
      isDiskHealthy: disk.isHealthy(),
      correctionMs: toldTime.correction()?.wallMs ?? 0,
    }),
    async close() {
      outbox.close()
      figures.close()
      connectors.close()
      holders.close()
      await feed.close()
      relay.close()
      // What has been written is claimed by a last position; a long queue is not waited for.
      const patience = setTimeout(() => void disk.close(), CLOSE_MS_MAX)
      await replica.settled()
      clearTimeout(patience)
      await disk.close()
    },
  }
}

/** They may wait for days: until then their tenant may be gone, and its id another's. */
function withRevisions(report: Report, revisionOf: Replica['revisionOf']): Report {
  if (report.type !== 'events') return report
  const events = report.events.map((event) => {
    const revision = revisionOf(event.tenant_id)
    return revision === undefined ? event : { ...event, revision }
  })
  return { ...report, events }
}
