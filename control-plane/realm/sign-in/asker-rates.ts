/**
 * What one who asks may have of what a tenant gives to strangers: by the network, and by the site that
 * it is part of, whose 256 or 65,536 networks could else use up all that the tenant has.
 */
import { countedWidelyAs } from '../../../shared/client-address.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Rate } from '../../../shared/rate-limits.ts'
import type { Caller } from './browser-sign-in.ts'

export function askerRates(
  tenantId: string,
  { ip, countedAs }: Pick<Caller, 'ip' | 'countedAs'>,
  kind: string,
  rate: Rate,
) {
  const ofNetwork = { kind, key: `${tenantId} ${countedAs}`, rate }
  const site = countedWidelyAs(ip)
  if (site === countedAs) return [ofNetwork]
  const factor = LIMITS.rateAskedMailsSiteFactor
  const ofSite = { burst: rate.burst * factor, perSecond: rate.perSecond * factor }
  return [ofNetwork, { kind: `${kind} of a site`, key: `${tenantId} ${site}`, rate: ofSite }]
}
