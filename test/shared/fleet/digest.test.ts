import t from 'tap'
import { canonicalJson, snapshotHash, StateDigest } from '../../../shared/fleet/digest.ts'

t.test('the order of keys does not change the text, the order of items does', async (t) => {
  t.equal(
    canonicalJson({ b: [1, { d: 2, c: null }], a: 'x' }),
    '{"a":"x","b":[1,{"c":null,"d":2}]}',
  )
  t.not(canonicalJson([1, 2]), canonicalJson([2, 1]))
  t.equal(canonicalJson({ a: undefined, b: true }), '{"b":true}')
})

t.test('a text survives being parsed and written again', async (t) => {
  for (const text of [
    '{"__proto__":{"a":1},"constructor":2}',
    '{"1":"b","10":"c","2":"a"}',
    '"\\ud800 \\u2028 \\u0000 ü"',
    '[1e21,0.1,-0,123456789012]',
  ]) {
    const once = canonicalJson(JSON.parse(text))
    t.equal(canonicalJson(JSON.parse(once)), once)
    t.same(JSON.parse(once), JSON.parse(text))
  }
})

t.test('the state hash depends on what is there, not on how it came', async (t) => {
  const one = new StateDigest()
  const two = new StateDigest()
  one.set('ada', 'h1')
  one.set('bob', 'h2')
  two.set('bob', 'other')
  two.set('cleo', 'h3')
  two.set('ada', 'h1')
  two.set('bob', 'h2')
  two.delete('cleo')
  two.delete('nobody')
  t.equal(one.hex(), two.hex())
  two.set('bob', 'h1')
  two.set('ada', 'h2')
  t.not(one.hex(), two.hex(), 'hashes that are swapped')
  t.equal(new StateDigest().hex(), '0'.repeat(64))
  t.not(snapshotHash('a'), snapshotHash('b'))
})

t.test('what was filled in at once sums up as what came one by one', (t) => {
  const filled = new StateDigest()
  const set = new StateDigest()
  for (const [tenantId, hash] of [
    ['ada', '1'],
    ['bob', '2'],
    ['cleo', '3'],
  ] as const) {
    filled.fill(tenantId, hash)
    set.set(tenantId, hash)
  }
  filled.set('ada', '4')
  filled.delete('bob')
  set.set('ada', '4')
  set.delete('bob')
  t.equal(filled.hex(), set.hex())
  filled.set('cleo', '5')
  set.set('cleo', '5')
  t.equal(filled.hex(), set.hex())
  t.end()
})
