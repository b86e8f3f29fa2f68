/**
 * Whether connectors are still there. Each is asked in a slot of the interval, for a thousand pings in
 * one turn of the event loop would keep requests waiting; and who has not answered is asked again
 * twice and then ended. So a connection that is well costs few pings, and one that is dead has left
 * three without an answer by `connectorSilentMsMax`: those of its last third.
 */
import { LIMITS } from '../../shared/limits.ts'

interface Pinged {
  /** Pings since it has said anything. */
  readonly unanswered: number
  ping(): void
  end(): void
}

const SLOTS = 40
/** Ticks behind a ping without an answer: when it is asked again, and when it is over. */
const AGAIN = [7, 14]
const DEAD = SLOTS / 2

export class Pings<Member extends Pinged> {
  /** Of ticks: each is asked once in all slots, and is found dead in half of them. */
  static readonly tickMs = LIMITS.connectorSilentMsMax / (SLOTS + DEAD)
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
    for (const member of this.#before(DEAD)) if (member.unanswered > 0) member.end()
    for (const member of this.#before(0)) {
      member.ping()
      onPinged(member)
    }
    for (const ticks of AGAIN)
      for (const member of this.#before(ticks)) if (member.unanswered > 0) member.ping()
  }

  /** Who was asked so many ticks ago. */
  #before(ticks: number): ReadonlySet<Member> {
    return this.#slots[(this.#slot + SLOTS - ticks) % SLOTS]!
  }
}
