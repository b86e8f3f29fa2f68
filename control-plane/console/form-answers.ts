/**
 * What a form that is carried out once has come to, for whoever sends it again: a double click
 * reads the second answer, and a secret that is shown once must be on it. Kept in memory only, for
 * a minute and not many; a form's id is good for one person alone, so nobody else is answered it.
 */
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { View } from './route.ts'

/** A page, or the address of one; undefined where it cannot be given twice. */
export type FormAnswer = View | string | undefined

interface Kept {
  readonly answer: Promise<FormAnswer>
  readonly sinceMs: number
}

export function createFormAnswers({ clock }: { readonly clock: Clock }) {
  const kept = new LRUCache<string, Kept>({ max: LIMITS.consoleFormAnswersMax })
  const isOver = ({ sinceMs }: Kept) => clock.nowMs() - sinceMs > LIMITS.consoleFormAnswerMs

  return {
    /** From when it is begun, so that a second sending waits for the first. */
    keep(formId: string, answer: Promise<FormAnswer>): void {
      answer.catch(() => kept.delete(formId)) // refused: nothing was done, and it may come again
      kept.set(formId, { answer, sinceMs: clock.nowMs() })
    },
    async of(formId: string): Promise<FormAnswer> {
      const known = kept.get(formId)
      return known === undefined || isOver(known) ? undefined : known.answer
    },
    async prune(): Promise<number> {
      for (const [formId, one] of kept.entries()) if (isOver(one)) kept.delete(formId)
      return 0 // all at once: they are in memory
    },
  }
}
