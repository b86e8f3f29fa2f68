/**
 * Whether connectors are still there. Each is asked in a slot of the interval, for a thousand pings in
 * one turn of the event loop would keep requests waiting; and who has not answered is asked again
 * twice before its next turn, which ends it. So a connection that is well costs few pings, and one that
 * is dead has left three without an answer by `connectorSilentMsMax`.
 */
import { LIMITS } from '../../shared/limits.ts'

interface Pinged {
  /** Pings since it has said anything. */
  readonly unanswered: number
  ping(): void
  end(): void
}

const SLOTS = 30
const AGAIN = [SLOTS / 3, (2 * SLOTS) / 3]

export class Pings<Member extends Pinged> {
  /** Of ticks: while each is asked once, and is found dead in twice that. */
  static readonly tickMs = LIMITS.connectorSilentMsMax / 2 / SLOTS
  readonly #slots = Array.from({ length: SLOTS }, () => new Set<Member>())
  #slot = 0

  /** It has just been pinged. Answers how it is left alone. */
  add(member: Member): () => void {
    const slot = this.#slots[this.#slot]!
    slot.add(member)
    return () => void slot.delete(member)
  }

  tick(onPinged: (member: Member) => void): void {
    this.#slot = (this.#slot + 1) % SLOTS
    for (const member of this.#slots[this.#slot]!) {
      if (member.unanswered > 0) {
        member.end()
        continue
      }
      member.ping()
      onPinged(member)
    }
    for (const ticks of AGAIN)
      for (const member of this.#slots[(this.#slot + SLOTS - ticks) % SLOTS]!)
        if (member.unanswered > 0) member.ping()
  }
}
