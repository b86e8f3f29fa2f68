/** When those that were turned away come again: spread over the seconds, so many in each. */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

interface CheckInReturnsWorld {
  readonly clock: Clock
  readonly random: () => number
}

const TRIES = 4

export class CheckInReturns {
  readonly #world: CheckInReturnsWorld
  readonly #perSecond: number
  /** By second, how many were told to come then. */
  readonly #returning = new Map<number, number>()
  #outstanding = 0
  #forgottenTo = 0

  constructor(world: CheckInReturnsWorld, perSecond: number) {
    this.#world = world
    this.#perSecond = perSecond
  }

  get #nowS(): number {
    return Math.floor(this.#world.clock.nowMs() / SECOND_MS)
  }

  /** Nobody is to come again. */
  get isOver(): boolean {
    this.#forget(this.#nowS)
    return this.#returning.size === 0
  }

  #forget(nowS: number) {
    if (nowS === this.#forgottenTo) return
    this.#forgottenTo = nowS
    for (const [second, count] of this.#returning) {
      if (second > nowS) continue
      this.#returning.delete(second)
      this.#outstanding -= count
    }
  }

  /** For one more: seconds from now. */
  next(): number {
    const nowS = this.#nowS
    this.#forget(nowS)
    const full = Math.ceil(this.#outstanding / this.#perSecond)
    const horizon = Math.min(LIMITS.deviceCheckInAgainSecondsMax, full + 2)
    let seconds = horizon
    for (let tries = 0; tries < TRIES; tries++) {
      const picked = 1 + Math.floor(this.#world.random() * horizon)
      if ((this.#returning.get(nowS + picked) ?? 0) >= this.#perSecond) continue
      seconds = picked
      break
    }
    this.#returning.set(nowS + seconds, (this.#returning.get(nowS + seconds) ?? 0) + 1)
    this.#outstanding++
    return seconds
  }
}
