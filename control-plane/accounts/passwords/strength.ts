/**
 * How hard a password is to guess, 0 to 4, as zxcvbn says. It runs in a thread of its own, which
 * is started for the first password and ended when one takes too long.
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

export interface StrengthAnswer {
  readonly id: number
  readonly score: number
}

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

export function createStrength({
  timeoutMs = LIMITS.passwordStrengthMsMax,
  waitMsMax = LIMITS.passwordStrengthWaitMsMax,
}: { readonly timeoutMs?: number; readonly waitMsMax?: number } = {}) {
  const semaphore = createFairSemaphore({ concurrency: 1 })
  const askedBy = new Map<string, number>()
  let worker: Worker | undefined
  let lastId = 0
  /** One at a time, so that whoever is slow is ended alone. */
  let running: Running | undefined

  function start(): Worker {
    const started = new Worker(new URL('./strength-worker.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, score }: StrengthAnswer) => {
      if (running?.id === id) running.resolve(score)
    })
    started.on('error', () => giveUp(started))
    started.on('exit', () => giveUp(started))
    return started
  }

  /** Whoever is asked about is told to try again; the next one starts another thread. */
  function giveUp(failed: Worker | undefined) {
    if (failed === undefined || failed !== worker) return
    worker = undefined
    void failed.terminate()
    running?.reject(unavailable())
  }

  async function ask(plain: string, words: readonly string[]): Promise<number> {
    const asked = (worker ??= start())
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    running = { id, resolve, reject }
    asked.postMessage({ id, plain, words } satisfies StrengthQuestion)
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
      const startedAt = performance.now()
      const seen = plain.slice(0, LIMITS.passwordStrengthCharactersMax)
      try {
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
      const ending = worker
      giveUp(worker)
      await ending?.terminate()
    },
  }
}

const unavailable = () => new Refusal('unavailable', { retry_after: 1 })
