import t from 'tap'
import { createTurns } from '../../../control-plane/accounts/turns.ts'

t.test('a tenant that waits alone is next, however many wait at another one', async (t) => {
  const turns = createTurns({ concurrency: 1 })
  const served: string[] = []
  const running = Promise.withResolvers<void>()
  const first = turns.take(() => running.promise)
  const flood = ['a1', 'a2', 'a3', 'a4'].map((name) =>
    turns.take(async () => void served.push(name), 'a'),
  )
  const other = turns.take(async () => void served.push('b1'), 'b')
  running.resolve()
  await Promise.all([first, ...flood, other])
  t.same(served, ['a1', 'b1', 'a2', 'a3', 'a4'])
})

t.test('work that fails hands its turn on', async (t) => {
  const turns = createTurns({ concurrency: 1 })
  const failing = turns.take(() => Promise.reject(new Error('no')), 'a')
  const next = turns.take(async () => 'served', 'a')
  await t.rejects(failing, { message: 'no' })
  t.equal(await next, 'served')
})
