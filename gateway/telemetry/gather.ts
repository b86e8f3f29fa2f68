/** Asks all workers for what they have counted, when somebody asks us. */
import { SECOND_MS } from '../../shared/clock.ts'
import { ASK_REPORT, isTelemetry, type AskReport, type WorkerReport } from './messages.ts'

/** A worker that is busy for longer is heard the next time: nothing that it counted is lost. */
const ANSWER_MS_MAX = SECOND_MS

export interface ReportingWorker {
  send(message: AskReport): void
  onMessage(listener: (message: unknown) => void): void
  onClose(listener: () => void): void
}

interface GathererOptions {
  readonly absorb: (slot: number, report: WorkerReport) => void
  readonly answerMsMax?: number
}

export function createGatherer({ absorb, answerMsMax }: GathererOptions) {
  const workers = new Set<ReportingWorker>()
  /** Who has not answered in this round. */
  const missing = new Set<ReportingWorker>()
  let round: { readonly done: Promise<void>; readonly end: () => void } | undefined

  function answered(worker: ReportingWorker) {
    missing.delete(worker)
    if (missing.size === 0) round?.end()
  }

  /** Settles when every worker has answered, or has had its time. Askers at once share one round. */
  function gather(): Promise<void> {
    if (round !== undefined) return round.done
    if (workers.size === 0) return Promise.resolve()
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const impatience = setTimeout(end, answerMsMax ?? ANSWER_MS_MAX)
    function end() {
      clearTimeout(impatience)
      missing.clear()
      round = undefined
      resolve()
    }
    round = { done, end }
    for (const worker of workers) missing.add(worker)
    for (const worker of workers) worker.send(ASK_REPORT)
    return done
  }

  return {
    attach(slot: number, worker: ReportingWorker) {
      workers.add(worker)
      worker.onMessage((message) => {
        if (!isTelemetry(message) || message.type !== 'report') return
        absorb(slot, message.report)
        answered(worker)
      })
      worker.onClose(() => {
        workers.delete(worker)
        answered(worker)
      })
    },
    gather,
    close: () => round?.end(),
  }
}
