/** Whether a request would reach the application: asked of the gateway, over one control connection. */
import type { ConnectorWord, GatewayWord } from '../../../../shared/connector/messages.ts'

/** What the way to the application last looked like from the gateway. */
export interface LinkCheck {
  /** When a request would have come through; by `nowMs`. */
  readonly reachedMs: number | undefined
  /** Of the last answer, where it was another one. */
  readonly problem: string
  readonly roundTripMs: number | undefined
}

const UNCHECKED: LinkCheck = { reachedMs: undefined, problem: '', roundTripMs: undefined }
/** A gateway that answers none of them is asked no more. */
const CHECKS_WAITING_MAX = 3

export class LinkChecks {
  last = UNCHECKED
  #asked = 0
  /** Asked when, of those without an answer. */
  readonly #waiting = new Map<number, number>()

  /** undefined: too many wait for their answer. */
  ask(nowMs: number): ConnectorWord | undefined {
    if (this.#waiting.size >= CHECKS_WAITING_MAX) return undefined
    this.#waiting.set(++this.#asked, nowMs)
    return { say: 'check', id: this.#asked }
  }

  note(
    { id, is_reached, reason = 'unknown' }: Extract<GatewayWord, { say: 'checked' }>,
    nowMs: number,
  ): void {
    const askedMs = this.#waiting.get(id)
    this.#waiting.delete(id)
    const roundTripMs = askedMs === undefined ? undefined : nowMs - askedMs
    this.last = is_reached
      ? { reachedMs: nowMs, problem: '', roundTripMs }
      : { ...this.last, problem: reason }
  }

  /** Another connection begins. */
  forget(): void {
    this.last = UNCHECKED
    this.#waiting.clear()
  }
}
