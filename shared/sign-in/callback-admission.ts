/**
 * Each flow asks the realm for one exchange, and each client for so many: a stranger with one flow cookie
 * could else keep `/token` busy through us. In this process only: another worker may ask once more,
 * and the realm takes a code once.
 */
import { countedAs, countedWidelyAs } from '../client-address.ts'
import { SECOND_MS, type Clock } from '../clock.ts'
import { LIMITS } from '../limits.ts'
import { createRateLimits } from '../rate-limits.ts'

export type CallbackAdmission = ReturnType<typeof createCallbackAdmission>

export function createCallbackAdmission(clock: Clock, flowsMax: number = LIMITS.usedFlowsMax) {
  const rates = createRateLimits(clock)
  /** Oldest first, with the time from which the cookie is too old anyway. */
  const used = new Map<string, number>()

  return {
    /** How long this client has to wait; undefined where it may come now. */
    waitSeconds(clientAddress: string) {
      // without addresses all clients would share one bucket, and one of them could empty it
      if (!/[.:]/.test(clientAddress)) return undefined
      const network = countedAs(clientAddress)
      const site = countedWidelyAs(clientAddress)
      // One phone of a carrier could else use up what all others of its /48 have.
      const isFew = () =>
        rates.waitSeconds('few of a network', network, LIMITS.rateCallbackFew) === undefined &&
        rates.waitSeconds('few of a site', site, LIMITS.rateCallback) === undefined
      if (network !== site && isFew()) return undefined
      return rates.waitSeconds('callback', site, LIMITS.rateCallback)
    },
    /** Asked first, so that a flow that is used up costs its client nothing. */
    isUsed: (flow: string) => used.has(flow),
    /** True for the first to come with this flow. */
    use(flow: string) {
      if (used.has(flow)) return false
      const nowMs = clock.nowMs()
      for (const [oldest, untilMs] of used) {
        if (untilMs > nowMs && used.size < flowsMax) break
        used.delete(oldest)
      }
      used.set(flow, nowMs + LIMITS.flowSecondsMax * SECOND_MS + SECOND_MS)
      return true
    },
  }
}
