import { isIP } from 'node:net'
import { networkList, type NetworkList } from '../../shared/networks.ts'
import type { NetworkPolicy, Policies } from './policies.ts'
import { PASS, type SignInFacts, type Verdict } from './verdict.ts'

/** May anybody sign in from there? Who comes from nowhere that can be read does not. */
export function network({ address }: SignInFacts, { network }: Pick<Policies, 'network'>): Verdict {
  if (address === null || isIP(address) === 0)
    return { kind: 'refuse', reason: 'address_unreadable' }
  const { allow, deny } = listsOf(network)
  if (deny(address)) return { kind: 'refuse', reason: 'network_denied' }
  if (network.allow.length > 0 && !allow(address))
    return { kind: 'refuse', reason: 'network_not_allowed' }
  return PASS
}

interface Lists {
  readonly allow: NetworkList
  readonly deny: NetworkList
}

const known = new WeakMap<NetworkPolicy, Lists>()

/** Entries were checked when they were written; one that cannot be read stops rather than opens. */
function listsOf(policy: NetworkPolicy): Lists {
  const lists = known.get(policy) ?? {
    allow: networkList(policy.allow),
    deny: networkList(policy.deny),
  }
  known.set(policy, lists)
  return lists
}
