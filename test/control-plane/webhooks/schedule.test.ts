import t from 'tap'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { LEASE_MS, RETRY_GAPS_MS, retryAtMs } from '../../../control-plane/webhooks/schedule.ts'

void t.test('the gaps are those of the design, a tenth up or down', async (t) => {
  t.strictSame(
    [...RETRY_GAPS_MS],
    [15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 25 * MINUTE_MS, 90 * MINUTE_MS],
  )
  for (const [at, gapMs] of RETRY_GAPS_MS.entries()) {
    t.equal(retryAtMs(at + 1, 1000, 0.5), 1000 + gapMs)
    t.equal(retryAtMs(at + 1, 1000, 0), 1000 + gapMs * 0.9)
    t.ok(retryAtMs(at + 1, 1000, 1 - Number.EPSILON)! <= 1000 + gapMs * 1.1)
  }
})

void t.test('there are six attempts within about two hours, and no seventh', async (t) => {
  t.equal(LIMITS.webhookAttemptsMax, RETRY_GAPS_MS.length + 1)
  t.not(retryAtMs(LIMITS.webhookAttemptsMax - 1, 0, 0.5), undefined)
  t.equal(retryAtMs(LIMITS.webhookAttemptsMax, 0, 0.5), undefined)
  const wholeMs = RETRY_GAPS_MS.reduce((sum, gapMs) => sum + gapMs, 0)
  t.ok(wholeMs > 1.9 * HOUR_MS && wholeMs < 2.2 * HOUR_MS)
})

void t.test('a lease outlives the longest attempt', async (t) => {
  t.ok(LEASE_MS >= LIMITS.webhookMsMax + 5 * SECOND_MS)
})
