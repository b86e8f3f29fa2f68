/** Open connections per client address, counted together over all wires of a worker. */
import { countedAs } from '../shared/client-address.ts'
import type { Spending } from './budget.ts'
import type { RequestTurn } from './request-turn.ts'

export interface AddressCounts {
  /** False where the address has as many as it may: nothing is counted then. */
  enter(address: string): boolean
  leave(address: string, connection?: Idling): void
  of(address: string): number
  /** For whoever has entered, until it leaves: what its address holds beside connections. */
  useOf(address: string): AddressUse
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
  requests: RequestTurn | undefined
  /** Of reads that bring next to nothing, over HTTP/1.1. */
  smallReads: Spending | undefined
}

const newUse = (connections: number): AddressUse => ({
  connections,
  streams: 0,
  uploads: 0,
  headBytes: 0,
  members: new Set(),
  smallDataFrames: undefined,
  requests: undefined,
  smallReads: undefined,
})

export interface AddressCountOptions {
  readonly connectionsMax: number
  /** Addresses that the limit does not hold for: balancers in front. */
  readonly isExempt?: ((address: string) => boolean) | undefined
}

export function createAddressCounts(options: AddressCountOptions): AddressCounts {
  const { connectionsMax, isExempt } = options
  const uses = new Map<string, AddressUse>()
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
      const use = uses.get(key)
      if (use === undefined) uses.set(key, newUse(1))
      else use.connections++
      return true
    },
    leave(address, connection) {
      const key = countedAs(address)
      const use = uses.get(key)
      if (use === undefined) return
      if (connection !== undefined) use.members.delete(connection)
      use.connections--
      if (use.connections === 0) uses.delete(key)
    },
    of: (address) => uses.get(countedAs(address))?.connections ?? 0,
    useOf: (address) => uses.get(countedAs(address)) ?? newUse(0),
  }
}

function longestIdle(use: AddressUse | undefined): Idling | undefined {
  let longest: Idling | undefined
  for (const member of use?.members ?? [])
    if (member.idleSinceMs < (longest?.idleSinceMs ?? Infinity)) longest = member
  return longest
}
