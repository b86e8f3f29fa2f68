/** Buckets by purpose: what one flood fills takes nothing from another, and lets nobody off. */
import t from 'tap'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { LIMITS } from '../../shared/limits.ts'

const slow = { burst: 2, perSecond: 0.01 }
const fast = { burst: 2, perSecond: 10 }

function start(bucketsMax: number) {
  let nowMs = 0
  const rates = createRateLimits({ nowMs: () => nowMs }, bucketsMax)
  return { rates, advance: (ms: number) => void (nowMs += ms) }
}

t.test('a flood of one purpose empties no bucket of another', (t) => {
  const { rates } = start(3)
  rates.take('report', 'acme', slow, 2)
  for (let address = 0; address < 100; address++) rates.waitSeconds('public', `${address}`, fast)
  t.equal(rates.waitSeconds('report', 'acme', slow), 100, 'still owed')
  t.equal(LIMITS.rateBucketsMax, 20_000)
  t.end()
})

t.test('who is owed nothing makes room, who is does not', (t) => {
  const { rates, advance } = start(3)
  const rate = { burst: 100, perSecond: 10 }
  rates.take('probe', 'exhausted', rate, 100)
  for (const key of ['a', 'b']) rates.take('probe', key, rate)
  advance(1000)
  t.equal(
    rates.waitSeconds('probe', 'c', rate),
    undefined,
    'in the place of one that is full again',
  )
  t.ok(rates.waitSeconds('probe', 'exhausted', rate, 50))
  t.end()
})

t.test('newcomers share one bucket where there is no room', (t) => {
  const { rates, advance } = start(2)
  for (const key of ['a', 'b']) rates.take('sign_in', key, slow, 2)
  t.equal(rates.waitSeconds('sign_in', 'c', slow), undefined)
  t.equal(rates.waitSeconds('sign_in', 'd', slow), undefined)
  t.equal(rates.waitSeconds('sign_in', 'e', slow), 100, 'all of them together')
  for (const key of ['a', 'b']) t.equal(rates.waitSeconds('sign_in', key, slow), 100, key)
  t.throws(() => rates.take('sign_in', 'f', slow), { code: 'rate_limited' })
  advance(200_000)
  t.equal(rates.waitSeconds('sign_in', 'f', slow), undefined)
  t.equal(rates.waitSeconds('sign_in', 'f', slow), undefined, 'by themselves again')
  t.end()
})
