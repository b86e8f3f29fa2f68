/**
 * Where addresses of tenants lead that are asked from here. Whoever has the DNS of a hostname says so,
 * and that may be an administrator of the tenant: gateways and applications are out there, in a private
 * network or on this machine, and never a cloud's metadata service or a neighbor on the link. And who
 * leaves questions unanswered must keep nobody waiting: so they are asked over c-ares (`resolve-name.ts`).
 */
import type { LookupAddress, LookupOptions } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { isThisMachine } from '../../shared/hosts.ts'
import { networkList } from '../../shared/networks.ts'
import { searched } from '../../shared/search-list.ts'
import { reachOf } from './address-reach.ts'
import { resolveName, type Resolve } from './resolve-name.ts'

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void
type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void

const RESOLVE_MS = 2000
const LOCALHOST = ['127.0.0.1', '::1']
const isLoopback = networkList(['127.0.0.0/8', '::1'])
const mayLook = (address: string) => isLoopback(address) || reachOf(address) !== 'inside'

/** Cluster names like `app.production` are found through the search list. */
async function resolveHere(name: string): Promise<readonly string[]> {
  const settings = await readFile('/etc/resolv.conf', 'latin1').catch(() => '')
  for (const candidate of [name, ...searched(name, settings)]) {
    const found = await resolveName(candidate, RESOLVE_MS)
    if (found.length > 0) return found
  }
  return []
}

export function createEdgeLookup(resolve: Resolve = resolveHere): Lookup {
  return (hostname, options, callback) => {
    const answer = (addresses: readonly string[]) => {
      const found = addresses.map((address) => ({ address, family: isIP(address) }))
      const [first] = found
      if (first === undefined) callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), '')
      else if (options.all === true) callback(null, found)
      else callback(null, first.address, first.family)
    }
    // `*.localhost` is this machine (RFC 6761, section 6.3), whatever a resolver makes of it
    if (isThisMachine(hostname)) return answer(LOCALHOST)
    resolve(hostname).then(
      (found) => answer(found.filter(mayLook)),
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}
