/** Open connections per client address, counted together over all wires of a worker. */
import { countedAs } from '../shared/client-address.ts'
import { systemClock, type Clock } from '../shared/clock.ts'
import { LIMITS } from '../shared/limits.ts'
import { Spending } from './budget.ts'
import type { AddressTurn } from './address-turn.ts'

export interface AddressCounts {
  /** False where the address has as many as it may: nothing is counted then. */
  enter(address: string): boolean
  leave(address: string, connection?: Idling): void
  of(address: string): number
  /** For whoever has entered, until it leaves: what its address holds beside connections. */
  useOf(address: string): AddressUse
  /** Addresses that have left, and have not earned back yet what they spent. */
  indebted(): number
}

/** A connection, which goes if it is the longest idle when its address has another to open. */
export interface Idling {
  /** Infinity while it has a request, or an answer on its way. */
  readonly idleSinceMs: number
  /** It ends, and leaves, at once. */
  destroy(): void
}

export interface AddressUse {
  connections: number
  /** Unfinished ones over HTTP/2; on the other wires there is one at most to a connection. */
  streams: number
  /** Of them those whose body is under way to an application. */
  uploads: number
  /** Bytes of the heads of those streams. */
  headBytes: number
  readonly members: Set<Idling>
  /** Of frames that carry next to nothing, over all its connections. */
  smallDataFrames: Spending | undefined
  /** Of HTTP/1.1, which of its connections begin theirs, and when. */
  requests: AddressTurn | undefined
  /** Of reads that bring next to nothing, over HTTP/1.1. */
  smallReads: Spending | undefined
  /** Of TLS. */
  handshakes: Spending | undefined
}

const newUse = (): AddressUse => ({
  connections: 0,
  streams: 0,
  uploads: 0,
  headBytes: 0,
  members: new Set(),
  smallDataFrames: undefined,
  requests: undefined,
  smallReads: undefined,
  handshakes: undefined,
})

export interface AddressCountOptions {
  readonly connectionsMax: number
  /** Addresses that the limit does not hold for: balancers in front. */
  readonly isExempt?: ((address: string) => boolean) | undefined
  readonly clock?: Clock
  readonly indebtedMax?: number
}

export function createAddressCounts(options: AddressCountOptions): AddressCounts {
  const { connectionsMax, isExempt, clock = systemClock } = options
  const { indebtedMax = LIMITS.indebtedAddressesMax } = options
  const uses = new Map<string, AddressUse>()
  /** Who has left owes what it has spent, or each new connection would bring a new budget. */
  const indebted = new Map<string, AddressUse>()

  function remember(key: string, use: AddressUse): void {
    const nowMs = clock.nowMs()
    // In the order of their leaving, which is nearly that in which they have nothing left to owe.
    for (const [earlier, its] of indebted) {
      if (owes(its, nowMs)) break
      indebted.delete(earlier)
    }
    if (!owes(use, nowMs)) return
    indebted.set(key, use)
    if (indebted.size > indebtedMax) indebted.delete(indebted.keys().next().value!)
  }

  return {
    enter(address) {
      // Without an address the socket is closed already.
      if (address === '') return false
      const key = countedAs(address)
      const isFull = () => (uses.get(key)?.connections ?? 0) >= connectionsMax
      if (isFull() && isExempt?.(address) !== true) {
        longestIdle(uses.get(key))?.destroy()
        if (isFull()) return false
      }
      let use = uses.get(key)
      if (use === undefined) {
        use = indebted.get(key) ?? newUse()
        indebted.delete(key)
        uses.set(key, use)
      }
      use.connections++
      return true
    },
    leave(address, connection) {
      const key = countedAs(address)
      const use = uses.get(key)
      if (use === undefined) return
      if (connection !== undefined) use.members.delete(connection)
      use.connections--
      if (use.connections > 0) return
      uses.delete(key)
      remember(key, use)
    },
    of: (address) => uses.get(countedAs(address))?.connections ?? 0,
    useOf(address) {
      const key = countedAs(address)
      return uses.get(key) ?? indebted.get(key) ?? newUse()
    },
    indebted: () => indebted.size,
  }
}

function owes(use: AddressUse, nowMs: number): boolean {
  return Object.values(use).some((value) => value instanceof Spending && !value.isFull(nowMs))
}

function longestIdle(use: AddressUse | undefined): Idling | undefined {
  let longest: Idling | undefined
  for (const member of use?.members ?? [])
    if (member.idleSinceMs < (longest?.idleSinceMs ?? Infinity)) longest = member
  return longest
}
