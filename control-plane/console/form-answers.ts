/**
 * What a form that is carried out once has come to, for whoever sends it again: a double click
 * reads the second answer, and a secret that is shown once must be on it. Kept in memory only, for
 * a minute and not many; a form's id is good for one person alone, so nobody else is answered it.
 */
import { LRUCache } from 'lru-cache'
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { View } from './route.ts'

/** A page, or the address of one; undefined where it cannot be given twice. */
export type FormAnswer = View | string | undefined

export function createFormAnswers({ clock }: { readonly clock: SteadyClock }) {
  const kept = new LRUCache<string, Promise<FormAnswer>>({
    max: LIMITS.consoleFormAnswersMax,
    ttl: LIMITS.consoleFormAnswerMs,
    ttlResolution: 0,
    perf: { now: () => clock.steadyMs() },
  })

  return {
    /** From when it is begun, so that a second sending waits for the first. */
    keep(formId: string, answer: Promise<FormAnswer>): void {
      answer.catch(() => kept.delete(formId)) // refused: nothing was done, and it may come again
      kept.set(formId, answer)
    },
    of: async (formId: string): Promise<FormAnswer> => kept.get(formId),
    async prune(): Promise<number> {
      kept.purgeStale()
      return 0 // all at once: they are in memory
    },
  }
}
