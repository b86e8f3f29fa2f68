/**
 * How hard a password is to guess, 0 to 4, as zxcvbn says. It runs in a thread of its own, which
 * is started for the first password and ended when one takes too long. Until it has read its
 * dictionaries, which takes a busy machine longer than any estimate, nobody's time runs.
 */
import { Worker } from 'node:worker_threads'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createFairSemaphore } from '../../concurrency/fair-semaphore.ts'

export interface StrengthQuestion {
  readonly id: number
  readonly plain: string
  /** What is known of the person, which others know as well. */
  readonly words: readonly string[]
}

/** 'ready' comes first, once the dictionaries are read. */
export type StrengthAnswer = 'ready' | { readonly id: number; readonly score: number }

export type Strength = ReturnType<typeof createStrength>

/** Whose password it is: tenants take turns, and a person has so many questions at a time. */
interface AskedFor {
  readonly tenantId: string
  readonly person: string
}

interface Running {
  readonly id: number
  readonly resolve: (score: number) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly isReady: Promise<void>
  /** Whoever waits for it waits no longer. */
  readonly refuse: (error: Error) => void
}

const START_MS_MAX = 60_000

interface StrengthOptions {
  readonly timeoutMs?: number
  readonly waitMsMax?: number
  readonly startMsMax?: number
}

export function createStrength({
  timeoutMs = LIMITS.passwordStrengthMsMax,
  waitMsMax = LIMITS.passwordStrengthWaitMsMax,
  startMsMax = START_MS_MAX,
}: StrengthOptions = {}) {
  const semaphore = createFairSemaphore({ concurrency: 1 })
  const askedBy = new Map<string, number>()
  let thread: Thread | undefined
  let lastId = 0
  /** One at a time, so that whoever is slow is ended alone. */
  let running: Running | undefined

  function start(): Thread {
    const worker = new Worker(new URL('./strength-worker.ts', import.meta.url))
    const { promise: isReady, resolve, reject: refuse } = Promise.withResolvers<void>()
    const started = { worker, isReady, refuse }
    const timer = setTimeout(() => giveUp(started), startMsMax)
    isReady.catch(() => {}).finally(() => clearTimeout(timer))
    worker.unref()
    worker.on('message', (said: StrengthAnswer) => {
      if (said === 'ready') resolve()
      else if (running?.id === said.id) running.resolve(said.score)
    })
    worker.on('error', () => giveUp(started))
    worker.on('exit', () => giveUp(started))
    return started
  }

  async function ready(): Promise<Thread> {
    const asked = (thread ??= start())
    await asked.isReady
    return asked
  }

  /** Whoever is asked about is told to try again; the next one starts another thread. */
  function giveUp(failed: Thread | undefined) {
    if (failed === undefined || failed !== thread) return
    thread = undefined
    void failed.worker.terminate()
    failed.refuse(unavailable())
    running?.reject(unavailable())
  }

  async function ask(plain: string, words: readonly string[]): Promise<number> {
    const asked = await ready()
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    running = { id, resolve, reject }
    asked.worker.postMessage({ id, plain, words } satisfies StrengthQuestion)
    const timer = setTimeout(() => giveUp(asked), timeoutMs)
    try {
      return await promise
    } finally {
      running = undefined
      clearTimeout(timer)
    }
  }

  return {
    async of(
      plain: string,
      words: readonly string[],
      { tenantId, person }: AskedFor,
    ): Promise<number> {
      const who = `${tenantId}/${person}`
      const asked = askedBy.get(who) ?? 0
      if (asked >= LIMITS.passwordStrengthPerPersonMax) throw unavailable()
      askedBy.set(who, asked + 1)
      const seen = plain.slice(0, LIMITS.passwordStrengthCharactersMax)
      try {
        await ready()
        const startedAt = performance.now()
        return await semaphore.take(async () => {
          if (performance.now() - startedAt > waitMsMax) throw unavailable() // nobody waits for it
          return ask(seen, words)
        }, tenantId)
      } finally {
        const left = (askedBy.get(who) ?? 1) - 1
        if (left === 0) askedBy.delete(who)
        else askedBy.set(who, left)
      }
    },

    async close(): Promise<void> {
      const ending = thread
      giveUp(thread)
      await ending?.worker.terminate()
    },
  }
}

const unavailable = () => new Refusal('unavailable', { retry_after: 1 })
