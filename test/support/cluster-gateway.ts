/**
 * A gateway with real worker processes, for tests. Run as
 * `node cluster-gateway.ts <control plane> <folder> <workers>`; it answers questions over IPC.
 */
import cluster, { type Worker } from 'node:cluster'
import { pino } from 'pino'
import { createTenantRegistry } from '../../gateway/tenants/registry.ts'
import { startFleetLink } from '../../gateway/fleet/fleet-link.ts'
import { clusterPrimaryPort, clusterWorkerPort } from '../../gateway/fleet/ports.ts'
import { followRelay } from '../../gateway/fleet/relay-follower.ts'
import { systemClock } from '../../shared/clock.ts'
import { compileForTest, FLEET_KEY, statusOf } from './fleet.ts'

export type Question =
  /** Answered with what every worker serves at a host. */
  { readonly ask: string } | { readonly kill: 'SIGKILL' | 'SIGSTOP' }

export interface WorkerAnswer {
  readonly host: string
  readonly pid: number
  readonly status: number
  readonly revision: number
  readonly revokedAll: number
}

export interface Answer {
  readonly workersReady: number
  readonly workers: readonly WorkerAnswer[]
}

const log = pino({ level: 'silent' })
const HANDLING_MS_MAX = 200

if (cluster.isPrimary) runPrimary()
else runWorker()

function runPrimary() {
  const [controlPlaneUrl, directory, workers] = process.argv.slice(2)
  const link = startFleetLink({
    controlPlaneUrls: [controlPlaneUrl!],
    fleetKey: FLEET_KEY,
    gatewayId: 'cluster',
    version: '1.0.0',
    directory: directory!,
    validate: (snapshot) => void compileForTest(snapshot),
    clock: systemClock,
    log,
    random: Math.random,
    timing: { backoffMsMin: 5, backoffMsMax: 50, handlingMsMax: HANDLING_MS_MAX },
  })
  const fork = () => link.attachWorker(clusterWorkerPort(cluster.fork()))
  for (let count = 0; count < Number(workers); count += 1) fork()
  cluster.on('exit', fork)

  process.on('message', (question: Question) => {
    const all = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    if ('kill' in question) return void all[0]?.process.kill(question.kill)
    void Promise.all(all.map((worker) => ask(worker, question.ask))).then((answers) =>
      process.send?.({
        workersReady: link.status().workersReady,
        workers: answers.filter((answer) => answer !== null),
      } satisfies Answer),
    )
  })
  process.on('disconnect', () => process.exit())
  process.send?.('started')
}

/** null for a worker that does not answer. */
function ask(worker: Worker, host: string): Promise<WorkerAnswer | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), 500)
    const hear = (message: { answer?: WorkerAnswer }) => {
      if (message.answer?.host !== host) return
      clearTimeout(timer)
      worker.off('message', hear)
      resolve(message.answer)
    }
    worker.on('message', hear)
    worker.send({ ask: host }, () => {})
  })
}

function runWorker() {
  const registry = createTenantRegistry({ clock: systemClock, compile: compileForTest })
  followRelay({ port: clusterPrimaryPort(process), registry, log })
  process.on('message', ({ ask: host }: { ask?: string }) => {
    if (host === undefined) return
    const found = registry.byHost(host)
    const served = found.kind === 'served' ? found.served : undefined
    const answer: WorkerAnswer = {
      host,
      pid: process.pid,
      status: statusOf(registry, host),
      revision: served?.tenant.revision ?? 0,
      revokedAll: served?.revoked.all ?? 0,
    }
    process.send?.({ answer })
  })
}
