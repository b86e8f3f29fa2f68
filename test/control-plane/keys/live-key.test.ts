/** A key that is replaced while everything runs: who has the old one, and for how long. */
import t from 'tap'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

t.test('two open while one replaces the other, and the old one never again', async (t) => {
  const key = createLiveKey('first')
  let told = 0
  key.onReplaced(() => void told++)
  t.equal(key.find('first'), 1)
  t.equal(key.find('second'), undefined)
  t.equal(key.replace('first', null), false, 'read again, and the same')
  t.equal(told, 0)

  t.equal(key.replace('second', 'first'), true)
  t.same([key.find('first'), key.find('second')], [1, 2])
  t.same([key.opens('first'), key.opens('second'), key.opens('third')], [true, true, false])
  t.same([key.current(), key.hasPrevious(), key.previousUses()], ['second', true, 1])

  t.equal(key.replace('second', null), true)
  t.same([key.find('first'), key.find('second')], [undefined, 2])
  t.same([key.isLive(1), key.isLive(2)], [false, true])
  t.equal(key.hasPrevious(), false)
  t.equal(told, 2)

  key.replace('first', 'second')
  t.equal(key.isLive(1), false, 'who came in with it before it was gone does not come back')
  t.same([key.find('first'), key.find('second')], [3, 2])
})

t.test('the same key twice is one, and has no one before it', async (t) => {
  const key = createLiveKey('first', 'first')
  t.equal(key.hasPrevious(), false)
  key.replace('second', 'second')
  t.same([key.opens('first'), key.hasPrevious()], [false, false])
})
