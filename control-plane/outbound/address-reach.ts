/**
 * Whose an address is, in one place for everything that tenants name: what is neither clearly out
 * there nor clearly a private network is this machine, its neighbours on the link, a cloud's
 * metadata service, or a way around saying so (CVE-2024-29415, CVE-2026-43929).
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { networkList } from '../../shared/networks.ts'

type Reach = 'public' | 'private' | 'inside'

/** The allocated part of IPv6: everything else is reserved, local, mapped or translated. */
const IPV6_UNICAST = networkList(['2000::/3'])
/** In other ranges, and yet inside: Azure's host, and metadata of Oracle, Alibaba and AWS. */
const INSIDE = networkList(['168.63.129.16', '192.0.0.192', '100.100.100.200', 'fd00:ec2::254'])
const PRIVATE: ReadonlySet<string> = new Set(['private', 'carrierGradeNat', 'uniqueLocal'])

export function reachOf(address: string): Reach {
  const version = isIP(address)
  if (version === 0 || address.includes('%') || INSIDE(address)) return 'inside'
  const range = ipaddr.parse(address).range() // 6to4, NAT64, mapped: none of these
  if (PRIVATE.has(range)) return 'private'
  return range === 'unicast' && (version === 4 || IPV6_UNICAST(address)) ? 'public' : 'inside'
}
