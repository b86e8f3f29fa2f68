/** Open connections per client address, counted together over all wires of a worker. */
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
      const count = (counts.get(address) ?? 0) + 1
      // Without an address the socket is closed already.
      if (address === '' || (count > connectionsMax && isExempt?.(address) !== true)) return false
      counts.set(address, count)
      return true
    },
    leave(address) {
      const count = (counts.get(address) ?? 1) - 1
      if (count > 0) counts.set(address, count)
      else counts.delete(address)
    },
    of: (address) => counts.get(address) ?? 0,
  }
}

/** An IPv4-mapped address is written as IPv4. */
export const withoutMapping = (address: string): string =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
