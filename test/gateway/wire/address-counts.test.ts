import t from 'tap'
import { createAddressCounts } from '../../../gateway/wire/address-counts.ts'
import { Spending } from '../../../gateway/wire/budget.ts'
import type { SiteUse } from '../../../gateway/wire/site-use.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { clockOf } from '../../support/clocks.ts'

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

/** A connection that is idle since then. */
function holder(counts: ReturnType<typeof createAddressCounts>, address: string) {
  const connection = {
    idleSinceMs: 0,
    isGone: false,
    destroy() {
      connection.isGone = true
      counts.leave(address, connection)
    },
  }
  counts.hold(address, connection)
  return connection
}

const networkOf = (site: number, at: number) =>
  `2001:db8:${site.toString(16)}:${at.toString(16)}::1`

t.test('a site with all of its networks leaves connections to others', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2, connectionsMaxOfAll: 40 })
  const fill = (site: number) => {
    let entered = 0
    for (let at = 0; at < 100; at++) if (counts.enter(networkOf(site, at))) entered++
    return entered
  }
  t.equal(fill(1), 20, 'half of all')
  counts.leave(networkOf(1, 0))
  t.ok(counts.enter(networkOf(1, 0xffff)))
  t.notOk(counts.enter(networkOf(1, 0xfffe)))
  t.equal(fill(2), 10, 'half of what is left')
  t.equal(fill(3), 5)
  t.ok(counts.enter('192.0.2.1') && counts.enter('192.0.2.1'), 'another one finds its place')
  t.end()
})

t.test('an address has what it may have, however many there are', (t) => {
  const counts = createAddressCounts({ connectionsMax: 6, connectionsMaxOfAll: 10 })
  for (let at = 0; at < 30; at++)
    for (let count = 0; count < 6; count++) t.ok(counts.enter(`192.0.2.${at}`))
  t.ok(counts.enter('2001:db8::1'))
  t.end()
})

t.test('what a site has idle makes room for its neighbours', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2, connectionsMaxOfAll: 40 })
  const held = Array.from({ length: 20 }, (_item, at) => {
    t.ok(counts.enter(networkOf(1, at)))
    return holder(counts, networkOf(1, at))
  })
  for (const [at, connection] of held.entries())
    connection.idleSinceMs = at === 7 ? 500 : at === 9 ? 600 : Infinity
  t.ok(counts.enter(networkOf(1, 100)))
  t.same(
    held.flatMap(({ isGone }, at) => (isGone ? [at] : [])),
    [7],
    'the longest idle one is gone',
  )
  t.ok(counts.enter(networkOf(1, 101)))
  t.notOk(counts.enter(networkOf(1, 102)), 'and where all are busy the new one is')
  t.end()
})

t.test('one that is idle is found behind any number of busy ones', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2, connectionsMaxOfAll: 1000 })
  const held = Array.from({ length: 500 }, (_item, at) => {
    counts.enter(networkOf(1, at))
    return Object.assign(holder(counts, networkOf(1, at)), { idleSinceMs: Infinity })
  })
  held[400]!.idleSinceMs = 1
  let tries = 1
  for (; !counts.enter(networkOf(1, 0x1000 + tries)); tries++) if (tries > 20) break
  t.ok(held[400]!.isGone, `${tries} tries`)
  t.end()
})

t.test('a balancer takes no place of its site', (t) => {
  const counts = createAddressCounts({
    connectionsMax: 1,
    connectionsMaxOfAll: 8,
    isExempt: (address) => address === '2001:db8::b',
  })
  for (let count = 0; count < 50; count++) t.ok(counts.enter('2001:db8::b'))
  for (let at = 1; at < 5; at++) t.ok(counts.enter(networkOf(0, at)))
  t.notOk(counts.enter(networkOf(0, 5)))
  for (let count = 0; count < 50; count++) counts.leave('2001:db8::b')
  t.notOk(counts.enter(networkOf(0, 5)))
  t.equal(LIMITS.connectionsMaxOfAll, 65_536)
  t.end()
})

const BUDGET = { burst: 2, perSecond: 1 }

function spend(site: SiteUse, nowMs: number): boolean {
  site.handshakes ??= new Spending(BUDGET, nowMs)
  return site.handshakes.spend(nowMs)
}

t.test('a site has one account of what it does, however many networks it has', (t) => {
  const counts = createAddressCounts({ connectionsMax: 2, clock: clockOf(() => 0) })
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
  const counts = createAddressCounts({ connectionsMax: 9, clock: clockOf(() => nowMs) })
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
    clock: clockOf(() => 0),
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
