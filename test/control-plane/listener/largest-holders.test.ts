/** Whom a bound over all falls on: the largest of the largest holder, until the rest fits. */
import t from 'tap'
import { beyondBound } from '../../../control-plane/listener/largest-holders.ts'

const [ada, bob, eve] = [{}, {}, {}]
const ALL = [
  { holder: ada, one: 'ada 1', bytes: 10 },
  { holder: eve, one: 'eve 1', bytes: 20 },
  { holder: bob, one: 'bob 1', bytes: 30 },
  { holder: eve, one: 'eve 2', bytes: 25 },
  { holder: eve, one: 'eve 3', bytes: 15 },
]

t.test('what fits stays whole', (t) => {
  t.same(beyondBound(ALL, 100), [])
  t.same(beyondBound([], 0), [])
  t.end()
})

t.test('a byte more, and the one who holds the most loses its largest', (t) => {
  t.same(beyondBound(ALL, 99), ['eve 2'])
  t.same(beyondBound(ALL, 75), ['eve 2'])
  t.same(beyondBound(ALL, 74), ['eve 2', 'eve 1'], 'who still holds the most')
  t.same(beyondBound(ALL, 54), ['eve 2', 'eve 1', 'bob 1'])
  t.same(beyondBound(ALL, 0), ['eve 2', 'eve 1', 'bob 1', 'eve 3', 'ada 1'])
  t.end()
})
