/** The primary process: holds the fleet link and the last known good, and keeps workers running. */
import cluster, { type Worker } from 'node:cluster'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { systemClock } from '../../shared/clock.ts'
import { listenText } from '../../shared/config/config.ts'
import { trustOf } from '../../shared/fleet/trust.ts'
import type { LogThreshold } from '../../shared/log.ts'
import { VERSION } from '../../shared/version.ts'
import { workerEnvironment, type GatewaySettings } from '../config.ts'
import { rereadSettings } from './reread-settings.ts'
import { superviseWorkers } from './worker-supervisor.ts'
import { FleetClock } from './fleet-clock.ts'
import { lockInstance } from './instance-lock.ts'
import { decisionCounts } from '../telemetry/decision-counts.ts'
import { createGatherer } from '../telemetry/gather.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { openStatusServer, type Readiness, type StatusServer } from '../telemetry/status-server.ts'
import { checkSnapshot } from '../tenants/compiled.ts'
import { FIGURES_EVERY_MS } from '../fleet/figures-outbox.ts'
import { isPlainToElsewhere, ownAddresses, PLAIN_ADVICE } from '../fleet/fleet-address.ts'
import { startFleetLink } from '../fleet/fleet-link.ts'
import { deriveCertificate } from '../../shared/self-signed.ts'
import { passBetween } from '../connectors/passing.ts'
import { clusterWorkerPort } from '../fleet/ports.ts'

/**
 * There are as many workers as cores, so young garbage is collected by the worker itself: helpers
 * on other threads wait for a core, and all its requests with them. One pause in ten took 4 ms, and
 * takes half a millisecond so.
 *
 * What many requests at once had alive when it was collected, V8 would put among the old from then
 * on, and there it holds all that it refers to, long after its request is over.
 *
 * The old are collected when there are four tenths more than were left the last time: a tenth is what
 * V8 takes for enough in a program that makes little garbage. What lies outside its heap, buffers
 * among it, is a part of what was left: else all that has come since is taken for growth of the old.
 *
 * The young have 16 MiB and keep them: by itself V8 gives them between 1 and 32, so a worker held 22 MiB
 * more for clients that had sent one, and paused twice as long when it had all of them.
 */
const WORKER_FLAGS = [
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=40',
  '--external-memory-accounted-in-global-limit',
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
] as const

/**
 * The primary keeps the young generation as small as it is once its program is loaded: at a start with very
 * many tenants V8 would give it 64 MiB, which it never needs again and hardly ever takes back.
 */
const keepYoungSmall = () => setFlagsFromString('--semi-space-growth-factor=1')

function doorOf({ connectAddress: address }: GatewaySettings, fleetKey: string) {
  return address === null
    ? undefined
    : { address, certificate: deriveCertificate(fleetKey).certificate }
}

interface PrimaryWorld {
  readonly log: Logger
  readonly threshold: LogThreshold
  readonly reread: () => GatewaySettings
}

/** Settles with the exit code when the gateway has stopped. */
export function runPrimary(settings: GatewaySettings, world: PrimaryWorld): Promise<number> {
  const { log } = world
  keepYoungSmall()
  const stopped = Promise.withResolvers<number>()
  const { id, workers } = settings
  let { fleetKey } = settings
  const unlock = lockInstance(settings.dataDir, id)
  const own = ownAddresses()
  for (const url of settings.plainFleetLink || trustOf(fleetKey) ? [] : settings.fleetUrls)
    if (isPlainToElsewhere(url, own)) log.warn({ control_plane: url }, PLAIN_ADVICE)
  const clock = new FleetClock()
  const metrics = createMetrics({ id, version: VERSION, clock })
  const gatherer = createGatherer({
    absorb(slot, report) {
      metrics.absorb(slot, report)
      link.countDecisions(decisionCounts(report.counts.requests))
    },
  })
  const gathering = setInterval(() => void gatherer.gather(), FIGURES_EVERY_MS)
  let status: StatusServer | undefined
  let isStopping = false

  // Workers accept by themselves: no process in between, and a queue that outlives each of them.
  // Dealing out in turn (SCHED_RR) would cost every connection a trip through this process.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...WORKER_FLAGS] })
  const pass = passBetween((slot) => supervisor.servingIn(slot), log)
  const early: Worker[] = []
  let attach: (worker: Worker) => void = (worker) => void early.push(worker)
  const supervisor = superviseWorkers({
    size: workers,
    fork: (slot) => cluster.fork(workerEnvironment(fleetKey, slot)),
    onSpawn(slot, worker) {
      pass(worker)
      attach(worker)
      gatherer.attach(slot, {
        send: (message) => void (worker.isConnected() && worker.send(message, () => {})),
        onMessage: (listener) => void worker.on('message', listener),
        onClose: (listener) => void worker.once('exit', listener),
      })
    },
    onListening(address) {
      log.info({ gateway_id: id, address: address.address, port: address.port }, 'gateway listens')
      process.send?.({ ready: true, address, ...(status && { status: status.address }) })
    },
    onFailed: (line) => void stop(1, line),
    onRestart: metrics.restarted,
    clock: systemClock,
    log,
  })

  // reads the disk, for as long as workers load their programs
  const link = startFleetLink({
    controlPlaneUrls: settings.fleetUrls,
    fleetKey,
    previousKey: settings.previousFleetKey,
    gatewayId: id,
    version: VERSION,
    connect: doorOf(settings, fleetKey),
    mayBePlain: settings.plainFleetLink,
    directory: settings.dataDir,
    validate: checkSnapshot,
    clock,
    onCorrection: clock.correct,
    log,
    random: Math.random,
  })
  attach = (worker) => link.attachWorker(clusterWorkerPort(worker))
  for (const worker of early) attach(worker)

  const rereading = rereadSettings({
    ...world,
    settings,
    /** The certificate that connectors know this gateway by follows from its key. */
    onKey(key) {
      fleetKey = key
      link.turnTo(key, doorOf(settings, key))
      if (settings.connectAddress !== null) supervisor.roll()
    },
  })

  function readiness(): Readiness {
    const workersServing = supervisor.serving()
    return { reason: notReadyReason(workersServing), workersWanted: workers, workersServing }
  }

  /** A worker that is being replaced takes no connections, so the others' state is what counts. */
  function notReadyReason(workersServing: number): Readiness['reason'] {
    if (isStopping) return 'draining'
    if (!link.status().isConfigured) return 'not_configured'
    if (!supervisor.hasStarted()) return 'workers_starting'
    return workersServing === 0 ? 'no_worker' : undefined
  }

  async function openStatus() {
    const { statusListen } = settings
    if (statusListen === null) return
    try {
      status = await openStatusServer({
        listen: statusListen,
        readiness,
        async metrics() {
          await gatherer.gather()
          const workersServing = supervisor.serving()
          const state = { link: link.status(), workersWanted: workers, workersServing }
          return { contentType: metrics.contentType, text: await metrics.text(state) }
        },
        onError: (error) => log.error({ error }, 'the status listener failed'),
      })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const advice = 'free it, or set gateway.status_listen in the config file'
      void stop(1, `${listenText(statusListen)} could not be opened (${code}); ${advice}`)
    }
  }

  async function stop(code: number, line?: string) {
    if (isStopping) return
    isStopping = true
    if (line !== undefined) process.stderr.write(`${line}\n`)
    clearInterval(gathering)
    rereading.close()
    await supervisor.stop()
    gatherer.close()
    await status?.close()
    await link.close()
    unlock()
    log.info('gateway stopped')
    stopped.resolve(code)
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0))
  process.on('SIGHUP', () => {
    // a terminal that closes says the same word as an operator who wants new workers
    if (process.stdout.isTTY) return void stop(0)
    rereading.now()
    supervisor.roll() // they read their settings by themselves
  })
  process.on('disconnect', () => void stop(0)) // never outlives who started it
  void openStatus()
  return stopped.promise
}
