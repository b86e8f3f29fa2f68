import { BlockList, isIP } from 'node:net'
import type { NetworkPolicy, Policies } from './policies.ts'
import { PASS, type SignInFacts, type Verdict } from './verdict.ts'

/** May anybody sign in from there? Who comes from nowhere that can be read does not. */
export function network({ address }: SignInFacts, { network }: Pick<Policies, 'network'>): Verdict {
  if (address === null || isIP(address) === 0)
    return { kind: 'refuse', reason: 'address_unreadable' }
  const { allow, deny } = listsOf(network)
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (deny.check(address, family)) return { kind: 'refuse', reason: 'network_denied' }
  if (network.allow.length > 0 && !allow.check(address, family))
    return { kind: 'refuse', reason: 'network_not_allowed' }
  return PASS
}

/** `192.0.2.0/24`, `2001:db8::/32` or an address alone. A mapped address is the IPv4 one. */
export function parseNetwork(
  text: string,
): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [spelled = '', length, ...more] = text.split('/')
  if (more.length > 0 || spelled.includes('%')) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(spelled)?.[1]
  const address = mapped ?? spelled
  const version = isIP(address)
  if (version === 0) return undefined
  const most = version === 4 ? 32 : 128
  if (length === undefined) return { address, bits: most, family: `ipv${version as 4 | 6}` }
  if (!/^\d{1,3}$/.test(length)) return undefined
  const bits = Number(length) - (mapped === undefined ? 0 : 96)
  if (bits < 0 || bits > most) return undefined
  return { address, bits, family: `ipv${version as 4 | 6}` }
}

const known = new WeakMap<NetworkPolicy, { allow: BlockList; deny: BlockList }>()

function listsOf(policy: NetworkPolicy) {
  const lists = known.get(policy) ?? { allow: toList(policy.allow), deny: toList(policy.deny) }
  known.set(policy, lists)
  return lists
}

/** Entries were checked when they were written; one that cannot be read stops rather than opens. */
function toList(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const network = parseNetwork(entry)
    if (network === undefined) throw new Error(`the network policy holds ${entry}`)
    list.addSubnet(network.address, network.bits, network.family)
  }
  return list
}
