/** Who of many is meant for something, agreed on without a word. */
import t from 'tap'
import { rendezvous } from '../../../shared/fleet/rendezvous.ts'

t.test('the same for everybody, whatever order they know the names in', (t) => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const chosen = rendezvous('acme', names, 2)
  t.equal(chosen.length, 2)
  t.strictSame(rendezvous('acme', names.toReversed(), 2), chosen)
  t.strictSame(rendezvous('acme', ['a'], 2), ['a'])
  t.strictSame(rendezvous('acme', [], 2), [])
  const others = names.filter((name) => !chosen.includes(name))
  t.strictSame(rendezvous('acme', [...chosen, others[0]!], 2), chosen, 'whoever was not chosen')
  t.end()
})
