/** Open connections per client address, counted together over all protocols of a worker. */
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { systemClock, type SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { shareOf } from './share.ts'
import { SiteUse, type Idling } from './site-use.ts'

export interface AddressUse {
  connections: number
  /** Unfinished ones over HTTP/2; on the other protocols there is one at most to a connection. */
  streams: number
  /** Of them those whose body is under way to an application. */
  uploads: number
  /** Bytes of the heads of those streams. */
  headBytes: number
  readonly members: Set<Idling>
  readonly site: SiteUse
}

const newUse = (site: SiteUse): AddressUse => ({
  connections: 0,
  streams: 0,
  uploads: 0,
  headBytes: 0,
  members: new Set(),
  site,
})

interface AddressCountOptions {
  readonly connectionsMax: number
  /** Addresses that the limit does not hold for: balancers in front. */
  readonly isExempt?: ((address: string) => boolean) | undefined
  readonly clock?: SteadyClock
  readonly indebtedMax?: number
  /** Of which a site has its share. */
  readonly connectionsMaxOfAll?: number
}

/** Of a site's connections, which may be thousands, for one that gives way. */
const LOOKED_AT = 64

export type AddressCounts = ReturnType<typeof createAddressCounts>

export function createAddressCounts(options: AddressCountOptions) {
  const { connectionsMax, isExempt, clock = systemClock } = options
  const { indebtedMax = LIMITS.indebtedAddressesMax } = options
  const { connectionsMaxOfAll: most = LIMITS.connectionsMaxOfAll } = options
  /** Connections of all that are not exempt. */
  let all = 0
  const uses = new Map<string, AddressUse>()
  const sites = new Map<string, SiteUse>()
  /** Who has left owes what it has spent, or each new connection would bring a new budget. */
  const indebted = new Map<string, SiteUse>()

  /** What its site has done: for whoever has entered, until it leaves. */
  function siteOf(address: string): SiteUse {
    const key = countedWidelyAs(address)
    return sites.get(key) ?? indebted.get(key) ?? new SiteUse()
  }

  function enterSite(address: string): SiteUse {
    const key = countedWidelyAs(address)
    const site = siteOf(address)
    indebted.delete(key)
    sites.set(key, site)
    site.addresses++
    return site
  }

  function leaveSite(address: string, site: SiteUse): void {
    site.addresses--
    if (site.addresses > 0) return
    const key = countedWidelyAs(address)
    sites.delete(key)
    const nowMs = clock.steadyMs()
    // In the order of their leaving, which is nearly that in which they have nothing left to owe.
    for (const [earlier, its] of indebted) {
      if (its.owes(nowMs)) break
      indebted.delete(earlier)
    }
    if (site.owes(nowMs)) keepDebtor(key, site)
  }

  /** As many as one address may have it has in any case. */
  function hasShare({ connections }: SiteUse): boolean {
    return connections < Math.max(connectionsMax, shareOf(most - (all - connections), most))
  }

  /** What is idle makes room for one more. False: there is none. */
  function makeRoom(address: string, key: string): boolean {
    const isFull = () => (uses.get(key)?.connections ?? 0) >= connectionsMax
    if (isFull()) longestIdle(uses.get(key))?.destroy()
    if (isFull()) return false
    const site = uses.get(key)?.site ?? siteOf(address)
    if (!hasShare(site)) someIdle(site.members)?.destroy()
    return hasShare(site)
  }

  function count(site: SiteUse, connections: number): void {
    site.connections += connections
    all += connections
  }

  function keepDebtor(key: string, site: SiteUse): void {
    indebted.set(key, site)
    if (indebted.size > indebtedMax) indebted.delete(indebted.keys().next().value!)
  }

  return {
    /** False where the address has as many as it may: nothing is counted then. */
    enter(address: string) {
      // Without an address the socket is closed already.
      if (address === '') return false
      const key = countedAs(address)
      const isOne = isExempt?.(address) !== true
      if (isOne && !makeRoom(address, key)) return false
      let use = uses.get(key)
      if (use === undefined) {
        use = newUse(enterSite(address))
        uses.set(key, use)
      }
      use.connections++
      if (isOne) count(use.site, 1)
      return true
    },
    /** Of one that has entered: it can give way to another one. */
    hold(address: string, connection: Idling) {
      const use = uses.get(countedAs(address))
      use?.members.add(connection)
      use?.site.members.add(connection)
    },
    leave(address: string, connection?: Idling) {
      const key = countedAs(address)
      const use = uses.get(key)
      if (use === undefined) return
      if (connection !== undefined) {
        use.members.delete(connection)
        use.site.members.delete(connection)
      }
      use.connections--
      if (isExempt?.(address) !== true) count(use.site, -1)
      if (use.connections > 0) return
      uses.delete(key)
      leaveSite(address, use.site)
    },
    of: (address: string) => uses.get(countedAs(address))?.connections ?? 0,
    /** For whoever has entered, until it leaves: what its address holds beside connections. */
    useOf: (address: string) => uses.get(countedAs(address)) ?? newUse(siteOf(address)),
    siteOf,
    /** The same for whoever has to pay: it may have left already. */
    debtorOf(address: string): SiteUse {
      const key = countedWidelyAs(address)
      const site = siteOf(address)
      if (!sites.has(key) && !indebted.has(key)) keepDebtor(key, site)
      return site
    },
    /** Sites that have left, and have not earned back yet what they spent. */
    indebted: () => indebted.size,
  }
}

function longestIdle(use: AddressUse | undefined): Idling | undefined {
  let longest: Idling | undefined
  for (const member of use?.members ?? [])
    if (member.idleSinceMs < (longest?.idleSinceMs ?? Infinity)) longest = member
  return longest
}

/** The longest idle of those that are looked at; whoever is busy is not looked at again so soon. */
function someIdle(members: Set<Idling>): Idling | undefined {
  let longest: Idling | undefined
  let looked = 0
  for (const member of members) {
    if (++looked > LOOKED_AT) break
    if (member.idleSinceMs === Infinity) {
      members.delete(member)
      members.add(member)
    } else if (member.idleSinceMs < (longest?.idleSinceMs ?? Infinity)) longest = member
  }
  return longest
}
