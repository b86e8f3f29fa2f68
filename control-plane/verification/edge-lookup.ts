/**
 * Where addresses of tenants lead that are looked at from here. Whoever has the DNS of a hostname says
 * so, and that may be an administrator of the tenant: gateways and applications are out there, in a
 * private network or on this machine, and never a cloud's metadata service or a neighbor on the link.
 */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isThisMachine } from '../../shared/hosts.ts'
import { networkList } from '../../shared/networks.ts'
import { reachOf } from '../outbound/address-reach.ts'

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void
export type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void

const LOCALHOST = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]
const isLoopback = networkList(['127.0.0.0/8', '::1'])
const mayLook = ({ address }: LookupAddress) => isLoopback(address) || reachOf(address) !== 'inside'

export function createEdgeLookup(resolve: Lookup = lookup): Lookup {
  return (hostname, options, callback) => {
    const answer = (found: readonly LookupAddress[]) => {
      const [first] = found
      if (first === undefined) callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), '')
      else if (options.all === true) callback(null, [...found])
      else callback(null, first.address, first.family)
    }
    // `*.localhost` is this machine (RFC 6761, section 6.3), whatever a resolver makes of it
    if (isThisMachine(hostname)) return answer(LOCALHOST)
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '')
      answer((found as LookupAddress[]).filter(mayLook))
    })
  }
}
