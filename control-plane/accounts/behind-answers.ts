/**
 * What is done for somebody who has been answered already, since the answer may not tell who has an
 * account. Not right behind it either: what is done for a mail that goes out would keep the next
 * request of whoever asks waiting, for longer than it does where there is nobody.
 */
import { randomInt } from 'node:crypto'
import { SECOND_MS } from '../../shared/clock.ts'

/** `work` says itself what has gone wrong. */
export type BehindAnswer = (work: () => Promise<void>) => void

/** Somewhere within it work begins: no request that comes behind another is slower for it. */
const LATER_MS_MAX = 2 * SECOND_MS

/** When it begins: at any moment of the time, and so at none that an answer gives away. */
export const laterMs = (): number => randomInt(LATER_MS_MAX)

export function createBehindAnswers(delayMs: () => number = laterMs) {
  const waiting = new Map<NodeJS.Timeout, () => Promise<void>>()

  return {
    behindAnswer(work: () => Promise<void>): void {
      const timer = setTimeout(() => {
        waiting.delete(timer)
        void work()
      }, delayMs()).unref()
      waiting.set(timer, work)
    },
    /** Nobody waits for their mail in vain: what still waits is done now. */
    async close(): Promise<void> {
      const left = [...waiting]
      waiting.clear()
      for (const [timer] of left) clearTimeout(timer)
      await Promise.all(left.map(([, work]) => work()))
    },
  }
}
