/**
 * The primary's side of the relay: every change to every worker, and a promise that settles when
 * all of them serve it. A worker that dies is waited for no longer; one that hangs is ended, since
 * it would go on serving what has been revoked.
 */
import type { Logger } from 'pino'
import { SECOND_MS } from '../../shared/clock.ts'
import type { ConnectorNews } from '../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RelayChange, Report, ToPrimary, WorkerPort } from './relay-messages.ts'

const HANDLING_MS_MAX = 15 * SECOND_MS

export interface RelayOptions {
  readonly log: Logger
  /** What a new worker needs. Read step by step, while it may be changing. */
  readonly state: () => Iterable<RelayChange>
  readonly onFailed: (tenantId: string, reason: string) => void
  readonly onReport: (report: Report) => void
  readonly onWant?: (tenantId: string, worker: WorkerPort) => void
  readonly onAsked?: (tenantIds: readonly string[]) => void
  /** Null: that worker is gone, and with it all that it had. */
  readonly onConnectors?: (worker: WorkerPort, news: ConnectorNews | null) => void
  readonly handlingMsMax?: number
}

/** A change that some of the workers have asked for, and what it is to the others. */
export interface OnlyFor {
  readonly workers: ReadonlySet<WorkerPort>
  readonly others?: RelayChange
}

interface Worker {
  readonly port: WorkerPort
  sent: number
  handled: number
  /** Has everything, or is about to: from here on it is waited for. */
  isServing: boolean
  isReady: boolean
  /** Who waits until so many changes are handled, the fewest first. */
  readonly waiting: { readonly changes: number; readonly settle: () => void }[]
  roomMade: () => void
  watchdog: NodeJS.Timeout | undefined
}

export function createRelay(options: RelayOptions) {
  const { log, state, onFailed, onReport, onConnectors } = options
  const handlingMsMax = options.handlingMsMax ?? HANDLING_MS_MAX
  const workers = new Set<Worker>()

  function push(worker: Worker, change: RelayChange) {
    worker.sent += 1
    worker.port.send({ channel: 'tenants', change })
    watch(worker)
  }

  function handled(worker: Worker, changes: number) {
    worker.handled += changes
    clearTimeout(worker.watchdog)
    worker.watchdog = undefined
    if (worker.handled < worker.sent) watch(worker)
    while (worker.waiting.length > 0 && worker.waiting[0]!.changes <= worker.handled)
      worker.waiting.shift()!.settle()
    worker.roomMade()
  }

  /** Asks twice: after this process itself was held up, the answers are there but not read yet. */
  function watch(worker: Worker) {
    if (worker.handled === 0) return // still starting, and not serving anything
    worker.watchdog ??= setTimeout(() => {
      worker.watchdog = setTimeout(() => {
        log.error('a worker does not take changes any more, ending it')
        worker.port.kill()
      }, handlingMsMax / 4).unref()
    }, handlingMsMax).unref()
  }

  function hear(worker: Worker, message: ToPrimary) {
    switch (message.type) {
      case 'handled':
        return handled(worker, message.changes)
      case 'ready':
        worker.isReady = true
        return log.debug({ workers: workers.size }, 'a worker has the whole state')
      case 'failed':
        return onFailed(message.tenantId, message.reason)
      case 'report':
        return onReport(message.report)
      case 'want':
        return options.onWant?.(message.tenantId, worker.port)
      case 'asked':
        return options.onAsked?.(message.tenantIds)
      case 'connectors':
        return onConnectors?.(worker.port, message)
    }
  }

  /** In steps, so that a revocation is not behind ten thousand tenants. */
  async function handOver(worker: Worker) {
    for (const change of state()) {
      while (worker.sent - worker.handled >= LIMITS.fleetWindowMessagesMax && workers.has(worker))
        await new Promise<void>((resolve) => (worker.roomMade = resolve))
      if (!workers.has(worker)) return
      push(worker, change)
    }
    worker.isServing = true
    push(worker, { type: 'complete' })
  }

  function leave(worker: Worker) {
    if (workers.delete(worker)) onConnectors?.(worker.port, null)
    clearTimeout(worker.watchdog)
    for (const { settle } of worker.waiting.splice(0)) settle()
    worker.roomMade()
  }

  return {
    /** Hands the whole state over, then every change. */
    attach(port: WorkerPort) {
      const worker: Worker = {
        port,
        sent: 0,
        handled: 0,
        isServing: false,
        isReady: false,
        waiting: [],
        roomMade: () => {},
        watchdog: undefined,
      }
      workers.add(worker)
      port.onMessage((message) => hear(worker, message))
      port.onClose(() => leave(worker))
      handOver(worker).catch((error: unknown) => {
        log.error({ error }, 'cannot hand the state over to a worker, ending it')
        port.kill()
      })
    },
    /** Settles when every worker that serves has dealt with it. */
    async send(change: RelayChange, only?: OnlyFor) {
      const waits: Promise<void>[] = []
      for (const worker of workers) {
        const own = only === undefined || only.workers.has(worker.port) ? change : only.others
        if (own === undefined) continue
        push(worker, own)
        // One that is still starting does not serve yet, and will have this when it does.
        if (!worker.isServing || worker.handled === 0) continue
        const changes = worker.sent
        waits.push(new Promise((settle) => worker.waiting.push({ changes, settle })))
      }
      await Promise.all(waits)
    },
    workersReady: () => [...workers].filter((worker) => worker.isReady).length,
    close() {
      for (const worker of workers) leave(worker)
    },
  }
}
