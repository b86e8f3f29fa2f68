/**
 * Who is kept here, so that a tenant whose files are all gone is missed. Its digest takes a hash of each
 * id, which with very many is a tenth of a start; so a quick sum is written beside it: the same ids
 * have the same digest.
 */
import { StateDigest } from '../../shared/fleet/digest.ts'

interface WrittenRoster {
  readonly roster: string
  /** Left out by versions that had the digest alone. */
  readonly roster_quick?: string | undefined
}

const KEPT = 'kept'

export class Roster {
  readonly #digest = new StateDigest()
  #size = 0
  #sums: [number, number] = [0, 0]

  /** The digest is made when somebody wants it. */
  fill(tenantId: string): void {
    if (this.#digest.has(tenantId)) return
    this.#digest.fill(tenantId, KEPT)
    this.#toggle(tenantId, 1)
  }

  add(tenantId: string): void {
    if (this.#digest.has(tenantId)) return
    this.#digest.set(tenantId, KEPT)
    this.#toggle(tenantId, 1)
  }

  delete(tenantId: string): void {
    if (!this.#digest.has(tenantId)) return
    this.#digest.delete(tenantId)
    this.#toggle(tenantId, -1)
  }

  /** Whether these are those that were written down. */
  is({ roster, roster_quick }: WrittenRoster): boolean {
    if (roster_quick === undefined) return this.#digest.hex() === roster
    if (this.#quick() !== roster_quick) return false
    this.#digest.know(roster)
    return true
  }

  written() {
    return { roster: this.#digest.hex(), roster_quick: this.#quick() }
  }

  #quick(): string {
    return [this.#size, ...this.#sums].join()
  }

  #toggle(tenantId: string, change: 1 | -1): void {
    let [one, other] = [0x811c9dc5, 0x9747b28c]
    for (let at = 0; at < tenantId.length; at += 1) {
      const code = tenantId.charCodeAt(at)
      one = Math.imul(one ^ code, 0x01000193)
      other = Math.imul((other ^ code) + (other >>> 13), 0x5bd1e995)
    }
    const [sum, otherSum] = this.#sums
    this.#sums = [sum ^ one, otherSum ^ other]
    this.#size += change
  }
}
