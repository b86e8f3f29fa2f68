import t from 'tap'
import { createAddressCounts } from '../../gateway/address-counts.ts'

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
