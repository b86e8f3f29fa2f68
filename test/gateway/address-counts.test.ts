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
