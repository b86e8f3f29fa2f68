/** Open connections per client address, counted together over all wires of a worker. */
import { countedAs } from '../shared/client-address.ts'

export interface AddressCounts {
  /** False where the address has as many as it may: nothing is counted then. */
  enter(address: string): boolean
  leave(address: string): void
  of(address: string): number
  /** For whoever has entered, until it leaves: what its address holds beside connections. */
  useOf(address: string): AddressUse
}

export interface AddressUse {
  connections: number
  /** Unfinished ones over HTTP/2; on the other wires there is one at most to a connection. */
  streams: number
  /** Of them those whose body is under way to an application. */
  uploads: number
}

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
      const key = countedAs(address)
      const use = uses.get(key)
      const count = (use?.connections ?? 0) + 1
      // Without an address the socket is closed already.
      if (address === '' || (count > connectionsMax && isExempt?.(address) !== true)) return false
      if (use === undefined) uses.set(key, { connections: 1, streams: 0, uploads: 0 })
      else use.connections = count
      return true
    },
    leave(address) {
      const key = countedAs(address)
      const use = uses.get(key)
      if (use === undefined) return
      use.connections--
      if (use.connections === 0) uses.delete(key)
    },
    of: (address) => uses.get(countedAs(address))?.connections ?? 0,
    useOf: (address) => uses.get(countedAs(address)) ?? { connections: 0, streams: 0, uploads: 0 },
  }
}
