/**
 * Where a tenant's database may be. Private networks are what this is for; but a name must not
 * lead back into this machine, its neighbours on the link or the cloud's metadata service, whose
 * answers an error message would pass on.
 */
import { isIP } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import { networkList } from '../../shared/networks.ts'
import { resolveName, type Resolve } from '../resolve-name.ts'
import { DirectoryFault } from './faults.ts'

export interface Addresses {
  /** An address that was checked: the connection goes there and asks no name server again. */
  find(host: string): Promise<string>
}

const REFUSED = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, and with it the metadata services of most clouds
  '100.100.100.200/32', // metadata of Alibaba
  '168.63.129.16/32', // Azure's host
  '224.0.0.0/3', // multicast, reserved, broadcast
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254/128', // metadata of AWS
  '64:ff9b::7f00:0/104', // the same through NAT64 and 6to4
  '64:ff9b::a9fe:0/112',
  '2002:7f00::/24',
  '2002:a9fe::/32',
] as const

/** `allowed` are CIDRs that the service's own settings make an exception of. */
export function createAddresses(
  allowed: readonly string[] = [],
  resolve: Resolve = (name) => resolveName(name, LIMITS.directoryConnectMsMax),
): Addresses {
  const isRefused = networkList(REFUSED)
  const isExempt = networkList(allowed)
  const isAllowed = (address: string) => isExempt(address) || !isRefused(address)

  return {
    async find(host) {
      const found = isIP(host) === 0 ? await resolve(host) : [host]
      const [first] = found
      if (first === undefined) throw new DirectoryFault('name_unknown')
      // one wrong address is enough: which one is taken is not up to us everywhere
      if (!found.every(isAllowed)) throw new DirectoryFault('address_refused')
      return first
    },
  }
}
