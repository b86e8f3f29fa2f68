/** Whose turn it is with the body of a request, and whether its sender makes use of it. */
import { BodyPace } from '../wire/body-pace.ts'
import type { Deadlines } from '../wire/deadlines.ts'

interface BodyTurnWorld {
  readonly deadlines: Deadlines
  readonly options: { readonly timeouts: { readonly idleMs: number } }
}

export class BodyTurn {
  /** When the client has let us wait too long; Infinity while it is not its turn. */
  deadlineMs = Infinity
  #pace: BodyPace | null = null

  begin({ deadlines, options }: BodyTurnWorld): void {
    this.deadlineMs = deadlines.nowMs + options.timeouts.idleMs
    if (this.#pace === null) this.#pace = new BodyPace(deadlines.nowMs)
    else this.#pace.begin(deadlines.nowMs)
  }

  /** False where less came than has to. */
  goesOn(bytes: number, { deadlines, options }: BodyTurnWorld): boolean {
    const { nowMs } = deadlines
    this.deadlineMs = nowMs + options.timeouts.idleMs
    return !this.#pace!.isTooSlow(bytes, nowMs, options.timeouts.idleMs)
  }
}
