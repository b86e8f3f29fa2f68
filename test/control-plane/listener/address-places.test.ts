/** Places of an address, and of the site that it is in. */
import t from 'tap'
import { createAddressPlaces } from '../../../control-plane/listener/address-places.ts'

t.test('an address has so many places, and whoever leaves makes room once', (t) => {
  const places = createAddressPlaces({ perAddressMax: 2, maxOfAll: 100 })
  const leave = places.take('192.0.2.1')
  t.ok(leave)
  t.ok(places.take('192.0.2.1'))
  t.notOk(places.take('192.0.2.1'))
  t.ok(places.take('192.0.2.2'))
  leave?.()
  leave?.()
  t.ok(places.take('192.0.2.1'))
  t.notOk(places.take('192.0.2.1'))
  t.end()
})

t.test('one site with all of its networks leaves the others half', (t) => {
  const places = createAddressPlaces({ perAddressMax: 2, maxOfAll: 8 })
  const of = (site: number, network: number) =>
    places.take(`2001:db8:${site}:${network}::1`) !== undefined
  t.same(
    [1, 2, 3, 4, 5].map((network) => of(1, network)),
    [true, true, true, true, false],
  )
  t.same(
    [1, 2, 3].map((network) => of(2, network)),
    [true, true, false],
    'half of what the first leaves',
  )
  t.same([of(3, 1), of(3, 1), of(3, 2)], [true, true, false], 'as many as an address in any case')
  t.end()
})
