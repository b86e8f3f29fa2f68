/**
 * Places for connections that have shown nothing yet: so many of an address (a /64 of IPv6), and of all
 * of them one site (a /48) has at most half of what the others leave, however many networks it is.
 */
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { createShares } from '../concurrency/shares.ts'

interface PlacesLimits {
  readonly perAddressMax: number
  readonly maxOfAll: number
}

export function createAddressPlaces({ perAddressMax, maxOfAll }: PlacesLimits) {
  const taken = new Map<string, number>()
  const shares = createShares(maxOfAll, { least: perAddressMax })

  return {
    /** How to leave again, which counts once; undefined: there is no place. */
    take(from: string): (() => void) | undefined {
      const [address, site] = [countedAs(from), countedWidelyAs(from)]
      const count = (taken.get(address) ?? 0) + 1
      if (count > perAddressMax || !shares.take(site)) return undefined
      taken.set(address, count)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        shares.giveBack(site)
        const left = (taken.get(address) ?? 1) - 1
        if (left > 0) taken.set(address, left)
        else taken.delete(address)
      }
    },
  }
}
