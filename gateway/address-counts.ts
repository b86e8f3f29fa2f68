/** Open connections per client address, counted together over all wires of a worker. */
import { countedAs } from '../shared/client-address.ts'

export interface AddressCounts {
  /** False where the address has as many as it may: nothing is counted then. */
  enter(address: string): boolean
  leave(address: string): void
  of(address: string): number
}

export interface AddressCountOptions {
  readonly connectionsMax: number
  /** Addresses that the limit does not hold for: balancers in front. */
  readonly isExempt?: ((address: string) => boolean) | undefined
}

export function createAddressCounts(options: AddressCountOptions): AddressCounts {
  const { connectionsMax, isExempt } = options
  const counts = new Map<string, number>()
  return {
    enter(address) {
      const key = countedAs(address)
      const count = (counts.get(key) ?? 0) + 1
      // Without an address the socket is closed already.
      if (address === '' || (count > connectionsMax && isExempt?.(address) !== true)) return false
      counts.set(key, count)
      return true
    },
    leave(address) {
      const key = countedAs(address)
      const count = (counts.get(key) ?? 1) - 1
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    },
    of: (address) => counts.get(countedAs(address)) ?? 0,
  }
}
