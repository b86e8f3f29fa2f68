/**
 * Where a tenant's database may be. Private networks are what this is for; but a name must not
 * lead back into this machine, its neighbours on the link or the cloud's metadata service, whose
 * answers an error message would pass on.
 */
import { isIP } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import { networkList } from '../../shared/networks.ts'
import { reachOf } from '../outbound/address-reach.ts'
import { resolveName, type Resolve } from '../outbound/resolve-name.ts'
import { DirectoryFault } from './faults.ts'

export type Addresses = ReturnType<typeof createAddresses>

/** `allowed` are CIDRs that the service's own settings make an exception of. */
export function createAddresses(
  allowed: readonly string[] = [],
  resolve: Resolve = (name) => resolveName(name, LIMITS.directoryConnectMsMax),
) {
  const isExempt = networkList(allowed)
  const isAllowed = (address: string) => isExempt(address) || reachOf(address) !== 'inside'

  return {
    /**
     * The addresses behind a host, all of them checked; asked anew for every connection, which goes
     * to one of these and asks no name server again.
     */
    async find(host: string): Promise<readonly string[]> {
      const found = isIP(host) === 0 ? await resolve(host) : [host]
      if (found.length === 0) throw new DirectoryFault('name_unknown')
      // one wrong address is enough: which one is taken is not up to us everywhere
      if (!found.every(isAllowed)) throw new DirectoryFault('address_refused')
      return found.slice(0, LIMITS.addressesTriedMax)
    },
  }
}
