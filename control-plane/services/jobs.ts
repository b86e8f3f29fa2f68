/**
 * What has to be done from time to time, registered where it is made. Nothing breaks when it runs
 * late, or twice.
 */
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { noTracing, type Tracing } from '../tracing/tracing.ts'
import { createCoalescingRunner, type CoalescingRunner } from '../concurrency/coalescing-runner.ts'

export type Jobs = ReturnType<typeof createJobs>
type Prunable = { prune(limit: number): Promise<number> }

const EVERY_MS = 60 * SECOND_MS
/** So many per change, some of which are several rows, so that none keeps others waiting for long. */
const BATCH = LIMITS.rowsDeletedAtOnceMax

export function createJobs(
  log: Pick<Logger, 'error'>,
  clock: Clock,
  tracing: Pick<Tracing, 'span'> = noTracing(),
) {
  const prunes = new Map<string, (limit: number) => Promise<number>>()
  const begun: (() => Promise<void>)[] = []
  const following: { readonly runner: CoalescingRunner; readonly everyMs: number | undefined }[] =
    []
  const timers: NodeJS.Timeout[] = []
  let isClosed = false
  let running: Promise<void> | undefined
  let doneAtMs: number | undefined

  async function round() {
    for (const begin of begun) void begin()
    for (const [name, prune] of prunes) {
      try {
        await tracing.span('job', { attributes: { job: name } }, async () => {
          while (!isClosed && (await prune(BATCH)) === BATCH);
        })
      } catch (error) {
        log.error({ error, job: name }, 'tidying up failed, trying again later')
      }
    }
    for (const { runner } of following) await runner.run()
    doneAtMs = clock.nowMs()
  }

  function every(milliseconds: number, work: () => Promise<void>) {
    const timer = setInterval(() => void work(), milliseconds)
    timer.unref()
    timers.push(timer)
  }

  /** Whoever leaves rows behind: `prune` takes away so many of them, and answers how many. */
  function tidies(name: string, prune: (limit: number) => Promise<number>) {
    if (prunes.has(name)) throw new Error(`two jobs are called ${name}`)
    prunes.set(name, prune)
  }

  const run = () => (running ??= round().finally(() => (running = undefined)))

  return {
    tidies,
    /** The same, for what is made in the same breath. */
    tidied<One extends Prunable>(name: string, one: One): One {
      tidies(name, (limit) => one.prune(limit))
      return one
    },
    /** Begun with every round; not waited for, since others' servers are. It never rejects. */
    begins: (work: () => Promise<void>) => void begun.push(work),
    /** One at a time, behind the tidying; and by itself as often as it says. */
    follows(work: (isClosed: () => boolean) => Promise<void>, failure: string, everyMs?: number) {
      const runner = createCoalescingRunner(work, (error) => log.error({ error }, failure))
      following.push({ runner, everyMs })
    },
    /** What is followed and has no lease, which would name it. */
    timed:
      (name: string, work: (isClosed: () => boolean) => Promise<void>) =>
      (isClosed: () => boolean): Promise<void> =>
        tracing.span('job', { attributes: { job: name } }, () => work(isClosed)),
    /** When the last round was over, and all of it had been tried; undefined before the first. */
    get doneAtMs() {
      return doneAtMs
    },
    get tidying() {
      return [...prunes.keys()]
    },
    start(everyMs = EVERY_MS) {
      every(everyMs, run)
      for (const { runner, everyMs: ownMs } of following)
        if (ownMs !== undefined) every(ownMs, () => runner.run())
    },
    /** One round now; shared by whoever asks while it runs. */
    run,
    async close() {
      isClosed = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all(following.map(({ runner }) => runner.close()))
      await running
    },
  }
}
