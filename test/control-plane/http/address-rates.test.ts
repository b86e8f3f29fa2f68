/** What strangers may do: by their network, and over all networks of their site. */
import t from 'tap'
import { addressRates } from '../../../control-plane/http/address-rates.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createRateLimits } from '../../../shared/rate-limits.ts'
import { movableClock } from '../../support/control-plane.ts'

const two = { burst: 2, perSecond: 1 }
const most = two.burst * LIMITS.rateSiteFactor

t.test('a site has some times as many as a network, however many it has', (t) => {
  const rates = addressRates(createRateLimits(movableClock()))
  const take = (address: string) => rates.waitSeconds('public', address, two) === undefined
  t.same(
    [1, 2, 3].map(() => take('2001:db8:1:1::1')),
    [true, true, false],
  )
  let taken = 2
  for (let network = 2; network < 99; network++) if (take(`2001:db8:1:${network}::1`)) taken++
  t.equal(taken, most)
  t.throws(() => rates.take('public', '2001:db8:1:999::1', two), { code: 'rate_limited' })
  t.ok(take('2001:db8:2::1'), 'another site')
  t.same(
    [1, 2, 3].map(() => take('192.0.2.1')),
    [true, true, false],
    'IPv4 is counted once',
  )
  t.end()
})

t.test('who is refused by the site loses nothing of the network, and both are given back', (t) => {
  const clock = movableClock()
  const limits = createRateLimits(clock)
  const rates = addressRates(limits)
  for (let at = 0; at < most; at++) rates.take('x', `2001:db8:1:${at}::1`, two)
  t.ok(rates.waitSeconds('x', '2001:db8:1:ffff::1', two))
  rates.giveBack('x', '2001:db8:1:0::1', two)
  t.equal(rates.waitSeconds('x', '2001:db8:1:ffff::1', two), undefined)
  t.ok(rates.waitSeconds('x', '2001:db8:1:ffff::1', two), 'and there was one')
  t.equal(rates.waitSeconds('x', '2001:db8:1:ffff::1', two, 'acme '), undefined, 'each its own')
  t.end()
})
