/**
 * How hard a password is to guess, 0 to 4, as zxcvbn says. It runs in a thread of its own, which
 * is started for the first password and ended when one takes too long.
 */
import { Worker } from 'node:worker_threads'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

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

interface Waiting {
  readonly resolve: (score: number) => void
  readonly reject: (error: Error) => void
}

export function createStrength({
  timeoutMs = LIMITS.passwordStrengthMsMax,
}: { readonly timeoutMs?: number } = {}) {
  let worker: Worker | undefined
  let lastId = 0
  const waiting = new Map<number, Waiting>()

  function start(): Worker {
    const started = new Worker(new URL('./strength-worker.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, score }: StrengthAnswer) => {
      waiting.get(id)?.resolve(score)
      waiting.delete(id)
    })
    started.on('error', () => giveUp(started))
    started.on('exit', () => giveUp(started))
    return started
  }

  /** Whoever waits is told to try again; the next one starts another thread. */
  function giveUp(failed: Worker | undefined) {
    if (failed === undefined || failed !== worker) return
    worker = undefined
    void failed.terminate()
    for (const { reject } of waiting.values())
      reject(new Refusal('unavailable', { retry_after: 1 }))
    waiting.clear()
  }

  return {
    async of(plain: string, words: readonly string[]): Promise<number> {
      if (waiting.size >= LIMITS.passwordQueueMax)
        throw new Refusal('unavailable', { retry_after: 1 })
      const asked = (worker ??= start())
      const id = ++lastId
      const seen = plain.slice(0, LIMITS.passwordStrengthCharactersMax)
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      waiting.set(id, { resolve, reject })
      asked.postMessage({ id, plain: seen, words } satisfies StrengthQuestion)
      const timer = setTimeout(() => giveUp(asked), timeoutMs)
      try {
        return await promise
      } finally {
        clearTimeout(timer)
      }
    },

    async close(): Promise<void> {
      const ending = worker
      giveUp(worker)
      await ending?.terminate()
    },
  }
}
