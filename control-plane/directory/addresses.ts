/**
 * Where a tenant's database may be. Private networks are what this is for; but a name must not
 * lead back into this machine, its neighbours on the link or the cloud's metadata service, whose
 * answers an error message would pass on. Names are asked over c-ares, since `getaddrinfo` holds
 * one of four threads for as long as a name server is silent, and passwords need those.
 */
import { readFile } from 'node:fs/promises'
import { Resolver } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import { DirectoryFault } from './faults.ts'

export interface Addresses {
  /** An address that was checked: the connection goes there and asks no name server again. */
  find(host: string): Promise<string>
}

export type Resolve = (name: string) => Promise<readonly string[]>

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
  resolve: Resolve = resolveName,
): Addresses {
  const refused = listOf(REFUSED)
  const exceptions = listOf(allowed)
  const isAllowed = (address: string) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    return exceptions.check(address, family) || !refused.check(address, family)
  }

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

function listOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/')
    const isV6 = isIP(address) === 6
    list.addSubnet(address, Number(bits ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4')
  }
  return list
}

async function resolveName(name: string): Promise<string[]> {
  const listed = await fromHostsFile(name)
  if (listed.length > 0) return listed
  const resolver = new Resolver({ timeout: LIMITS.directoryConnectMsMax / 2, tries: 2 })
  const [four, six] = await Promise.all([
    resolver.resolve4(name).catch((): string[] => []),
    resolver.resolve6(name).catch((): string[] => []),
  ])
  return [...four, ...six]
}

async function fromHostsFile(name: string): Promise<string[]> {
  const text = await readFile('/etc/hosts', 'latin1').catch(() => '')
  const found = text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) !== 0 && names.includes(name) ? [address] : []
  })
  return found.sort((a, b) => isIP(a) - isIP(b))
}
