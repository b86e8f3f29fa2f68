/** The primary process: holds the fleet link and the last known good, and keeps workers running. */
import cluster, { type Worker } from 'node:cluster'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { systemClock } from '../shared/clock.ts'
import type { GatewaySettings } from './config.ts'
import { onLife, type FromPrimary, type FromWorker } from './lifecycle.ts'
import { checkSnapshot } from './tenants/compiled.ts'
import { startFleetLink } from './tenants/fleet-link.ts'
import { clusterWorkerPort } from './tenants/ports.ts'
import { VERSION } from '../shared/version.ts'

const RESPAWN_MS = 500
const STOP_MS_MAX = 35_000

/** Settles with the exit code when the gateway has stopped. */
export function runPrimary(settings: GatewaySettings, log: Logger): Promise<number> {
  const stopped = Promise.withResolvers<number>()
  const link = startFleetLink({
    controlPlaneUrl: settings.fleetUrl,
    fleetKey: settings.fleetKey,
    gatewayId: settings.id,
    version: VERSION,
    directory: settings.dataDir,
    validate: checkSnapshot,
    clock: systemClock,
    log,
    random: Math.random,
  })
  let isStopping = false
  let listening = 0

  // one worker may own the socket; several are dealt their connections in turn by the primary
  cluster.schedulingPolicy = settings.workers === 1 ? cluster.SCHED_NONE : cluster.SCHED_RR

  function spawn() {
    const worker = cluster.fork()
    link.attachWorker(clusterWorkerPort(worker))
    onLife<FromWorker>(worker, (message) => {
      if (message.type === 'failed') return void stop(1, message.line)
      greet(message.address)
    })
  }

  function greet(address: AddressInfo) {
    listening++
    if (listening !== settings.workers) return
    log.info({ id: settings.id, address: address.address, port: address.port }, 'gateway listens')
    process.send?.({ ready: true, address })
  }

  async function stop(code: number, line?: string) {
    if (isStopping) return
    isStopping = true
    if (line !== undefined) process.stderr.write(`${line}\n`)
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    await Promise.all(workers.map(drain))
    await link.close()
    log.info('gateway stopped')
    stopped.resolve(code)
  }

  cluster.on('exit', (worker, code, signal) => {
    if (isStopping) return
    log.error({ worker: worker.id, code, signal }, 'a worker died, starting another')
    setTimeout(() => {
      if (!isStopping) spawn()
    }, RESPAWN_MS)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0))
  process.on('disconnect', () => void stop(0)) // never outlives who started it
  for (let count = 0; count < settings.workers; count++) spawn()
  return stopped.promise
}

function drain(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const impatience = setTimeout(() => worker.process.kill('SIGKILL'), STOP_MS_MAX)
    worker.once('exit', () => {
      clearTimeout(impatience)
      resolve()
    })
    if (worker.isDead()) return resolve()
    const message: FromPrimary = { channel: 'life', type: 'drain' }
    worker.send(message, () => {})
  })
}
