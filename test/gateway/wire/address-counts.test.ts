import t from 'tap'
import { createAddressCounts } from '../../../gateway/wire/address-counts.ts'
import { Spending } from '../../../gateway/wire/budget.ts'
import type { SiteUse } from '../../../gateway/wire/site-use.ts'
import { LIMITS } from '../../../shared/limits.ts'

t.test('one IPv6 client has a /64, and is counted as one', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2 })
  t.ok(counts.enter('2001:db8::1'))
  t.ok(counts.enter('2001:db8:0:0:ffff::2'))
  t.notOk(counts.enter('2001:db8::3'))
  t.ok(counts.enter('2001:db8:0:1::1'), 'the next one is somebody else')
  t.ok(counts.enter('::1'))
  t.equal(counts.of('2001:db8::9'), 2)
  counts.leave('2001:db8::1')
  t.ok(counts.enter('2001:db8::4'))
  t.end()
})

t.test('N connections of an address enter, the next does not until one leaves', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2, isExempt: (address) => address === 'b' })
  t.ok(counts.enter('10.0.0.1') && counts.enter('10.0.0.1'))
  t.notOk(counts.enter('10.0.0.1'))
  counts.leave('10.0.0.1')
  t.ok(counts.enter('10.0.0.1'))
  t.ok(counts.enter('b') && counts.enter('b') && counts.enter('b'), 'a balancer is not held')
  t.notOk(counts.enter(''), 'a socket that is closed already has no address')
  t.end()
})

t.test('an address has one account of what it uses, for as long as it is here', (t) => {
  const counts = createAddressCounts({ connectionsMax: 3 })
  counts.enter('192.0.2.1')
  counts.enter('192.0.2.1')
  const use = counts.useOf('192.0.2.1')
  use.streams = 5
  t.equal(counts.useOf('192.0.2.1'), use)
  counts.leave('192.0.2.1')
  t.match(counts.useOf('192.0.2.1'), { connections: 1, streams: 5 })
  counts.leave('192.0.2.1')
  t.match(counts.useOf('192.0.2.1'), { connections: 0, streams: 0 })
  counts.enter('2001:db8::1')
  t.equal(counts.useOf('2001:db8::2'), counts.useOf('2001:db8::1'))
  t.end()
})

const BUDGET = { burst: 2, perSecond: 1 }

function spend(site: SiteUse, nowMs: number): boolean {
  site.handshakes ??= new Spending(BUDGET, nowMs)
  return site.handshakes.spend(nowMs)
}

t.test('a site has one account of what it does, however many networks it has', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2, clock: { nowMs: () => 0 } })
  const household = ['2001:db8:1:100::1', '2001:db8:1:1ff::1', '2001:db8:1:ffff::1']
  for (const address of household) t.ok(counts.enter(address) && counts.enter(address))
  t.equal(new Set(household.map(counts.useOf)).size, 3, 'each has its own connections')
  t.equal(new Set(household.map(counts.siteOf)).size, 1)
  const site = counts.siteOf('2001:db8:1::')
  t.not(counts.siteOf('2001:db8:2::'), site, 'the next one is somebody else')
  t.not(counts.siteOf('192.0.2.1'), counts.siteOf('192.0.2.2'))
  t.ok(spend(site, 0))
  for (const address of household.slice(1)) {
    counts.leave(address)
    counts.leave(address)
  }
  t.equal(counts.indebted(), 0, 'for as long as one of them is here')
  counts.leave(household[0]!)
  counts.leave(household[0]!)
  t.equal(counts.indebted(), 1)
  t.ok(counts.enter('2001:db8:1:abcd::1'))
  t.equal(counts.siteOf('2001:db8:1:abcd::1'), site, 'and remembered')
  t.equal(counts.indebted(), 0)
  t.end()
})

t.test('what an address has spent is not forgotten when its last connection leaves', (t) => {
  let nowMs = 0
  const counts = createAddressCounts({ connectionsMax: 9, clock: { nowMs: () => nowMs } })
  const visit = (address: string) => {
    counts.enter(address)
    const isSpent = spend(counts.siteOf(address), nowMs)
    counts.leave(address)
    return isSpent
  }
  t.same(
    [1, 2, 3].map(() => visit('192.0.2.1')),
    [true, true, false],
  )
  t.same([visit('2001:db8::1'), visit('2001:db8::2'), visit('2001:db8::3')], [true, true, false])
  t.ok(visit('192.0.2.2'), 'which is nobody else’s')
  t.equal(counts.indebted(), 3)
  nowMs += 1000
  t.ok(visit('192.0.2.1'), 'a second has earned one')
  t.notOk(visit('192.0.2.1'))
  t.equal(counts.of('192.0.2.1'), 0)
  nowMs += 2000
  counts.enter('192.0.2.3')
  counts.leave('192.0.2.3')
  t.equal(counts.indebted(), 0, 'whoever leaves has those forgotten who owe nothing any more')
  t.end()
})

t.test('of those who left no more are remembered than the limit: the latest', (t) => {
  const counts = createAddressCounts({
    connectionsMax: 9,
    indebtedMax: 2,
    clock: { nowMs: () => 0 },
  })
  for (const address of ['a', 'b', 'c']) {
    counts.enter(address)
    const site = counts.siteOf(address)
    t.ok(spend(site, 0) && spend(site, 0))
    counts.leave(address)
  }
  t.equal(counts.indebted(), 2)
  t.notOk(spend(counts.siteOf('b'), 0))
  t.notOk(spend(counts.siteOf('c'), 0))
  t.ok(spend(counts.siteOf('a'), 0))
  t.equal(LIMITS.indebtedAddressesMax, 10_000)
  t.end()
})
