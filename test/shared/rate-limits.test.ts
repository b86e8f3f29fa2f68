/** Buckets by purpose: what one flood fills takes nothing from another, and lets nobody off. */
import t from 'tap'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { LIMITS } from '../../shared/limits.ts'
import { clockOf } from '../support/clocks.ts'

const slow = { burst: 2, perSecond: 0.01 }
const fast = { burst: 2, perSecond: 10 }

function start(bucketsMax: number) {
  let nowMs = 0
  const rates = createRateLimits(
    clockOf(() => nowMs),
    bucketsMax,
  )
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

t.test('to look whether there is more takes nothing', (t) => {
  const { rates } = start(3)
  const rate = { burst: 2, perSecond: 1 }
  const seen: boolean[] = []
  for (let count = 0; count < 2; count++) {
    rates.take('notice', 'ada', rate)
    seen.push(rates.left('notice', 'ada', rate) < 1)
  }
  t.same(seen, [false, true])
  t.end()
})

t.test('networks of one customer that find no room share a bucket, and nobody with them', (t) => {
  const { rates, advance } = start(2)
  for (const key of ['a', 'b']) rates.take('sign_in', key, slow, 2)
  const network = (number: number) => `2001:db8:1:${number.toString(16)}::/64`
  t.equal(rates.waitSeconds('sign_in', network(1), slow), undefined)
  t.equal(rates.waitSeconds('sign_in', network(2), slow), undefined)
  t.equal(rates.waitSeconds('sign_in', network(3), slow), 100, 'all of them together')
  for (const key of ['a', 'b']) t.equal(rates.waitSeconds('sign_in', key, slow), 100, key)
  t.throws(() => rates.take('sign_in', network(4), slow), { code: 'rate_limited' })
  const others = Array.from({ length: 100 }, (_item, number) => `192.0.2.${number}`)
  const refused = others.filter((key) => rates.waitSeconds('sign_in', key, slow) !== undefined)
  // a hundred over so many buckets, of which the customer has one: two meet there about once
  t.equal(LIMITS.rateSharedBucketsMax, 4096)
  t.ok(refused.length < 10, `${refused.length} of a hundred refused`)
  advance(200_000)
  t.equal(rates.waitSeconds('sign_in', network(5), slow), undefined)
  t.equal(rates.waitSeconds('sign_in', network(5), slow), undefined, 'by themselves again')
  t.end()
})

t.test('a few that are owed something hide none that are full again', (t) => {
  const { rates, advance } = start(100)
  const rate = { burst: 2, perSecond: 1 }
  for (let key = 0; key < 20; key++) rates.take('sign_in', `held ${key}`, rate, 2)
  for (let key = 0; key < 80; key++) rates.take('sign_in', `once ${key}`, rate)
  advance(1000)
  for (let key = 0; key < 80; key++) {
    t.equal(rates.waitSeconds('sign_in', `new ${key}`, rate, 2), undefined)
    t.equal(rates.waitSeconds('sign_in', `new ${key}`, rate, 2), 2, 'a bucket of its own')
  }
  t.equal(rates.waitSeconds('sign_in', 'held 0', rate, 2), 1, 'not forgotten')
  t.end()
})
