/** Whose turn it is with the body of a request, and whether its sender makes use of it. */
import { LIMITS } from '../../shared/limits.ts'
import { BodyPace } from '../wire/body-pace.ts'
import type { Deadlines } from '../wire/deadlines.ts'

export interface BodyTurnWorld {
  readonly deadlines: Deadlines
  readonly options: { readonly timeouts: { readonly idleMs: number } }
}

export class BodyTurn {
  /** When the client has let us wait too long; Infinity while it is not its turn. */
  deadlineMs = Infinity
  /** It is we who do not take what it sends. */
  #isSlowed = false
  #pace: BodyPace | null = null

  begin(world: BodyTurnWorld): void {
    const { nowMs } = world.deadlines
    this.#awaitMore(world)
    if (this.#pace === null) this.#pace = new BodyPace(nowMs)
    else this.#pace.begin(nowMs)
  }

  #awaitMore({ deadlines, options }: BodyTurnWorld): void {
    const waitMs = this.#isSlowed ? LIMITS.throttledMsMax : options.timeouts.idleMs
    this.deadlineMs = deadlines.nowMs + waitMs
  }

  /** False where less came than has to. */
  goesOn(bytes: number, world: BodyTurnWorld): boolean {
    this.#awaitMore(world)
    const { deadlines, options } = world
    return !this.#pace!.isTooSlow(bytes, deadlines.nowMs, options.timeouts.idleMs)
  }

  /** From now on, or no more. */
  slow(isSlowed: boolean, world: BodyTurnWorld): void {
    this.#isSlowed = isSlowed
    if (this.deadlineMs !== Infinity) this.begin(world)
  }
}
