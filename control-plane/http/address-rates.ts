/**
 * How often an address may do what anybody can: by its network (a /64 of IPv6), and by its site (a
 * /48) some times as often, since one household has 256 networks, and anybody may have 65,536. Who
 * has proved something is counted by the network alone: a carrier's customers share a site.
 */
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Rate, RateLimits } from '../../shared/rate-limits.ts'

export function addressRates(rates: RateLimits) {
  /** undefined: taken. `scope`: whose door it is, where each has a count of its own. */
  function waitSeconds(name: string, address: string, rate: Rate, scope = ''): number | undefined {
    const [network, site] = [scope + countedAs(address), scope + countedWidelyAs(address)]
    const wait = rates.waitSeconds(name, network, rate)
    if (wait !== undefined || site === network) return wait
    const waitOfSite = rates.waitSeconds(siteName(name), site, siteRate(rate))
    if (waitOfSite !== undefined) rates.giveBack(name, network, rate)
    return waitOfSite
  }

  return {
    waitSeconds,
    /** As `waitSeconds`, for those who answer with a refusal. */
    take(name: string, address: string, rate: Rate): void {
      const retryAfter = waitSeconds(name, address, rate)
      if (retryAfter !== undefined) throw new Refusal('rate_limited', { retry_after: retryAfter })
    },
    /** What was taken was not a stranger's after all. */
    giveBack(name: string, address: string, rate: Rate, scope = ''): void {
      const [network, site] = [scope + countedAs(address), scope + countedWidelyAs(address)]
      rates.giveBack(name, network, rate)
      if (site !== network) rates.giveBack(siteName(name), site, siteRate(rate))
    },
  }
}

const siteName = (name: string) => `${name} of a site`

const siteRate = ({ burst, perSecond }: Rate): Rate => ({
  burst: burst * LIMITS.rateSiteFactor,
  perSecond: perSecond * LIMITS.rateSiteFactor,
})
