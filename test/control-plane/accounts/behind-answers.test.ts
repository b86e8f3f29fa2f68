/** What is done for somebody who has been answered already. */
import t from 'tap'
import { createBehindAnswers, laterMs } from '../../../control-plane/accounts/behind-answers.ts'

t.test('it begins at moments that differ, and not right behind the answer', async (t) => {
  const moments = Array.from({ length: 200 }, laterMs)
  t.ok(new Set(moments.map((ms) => Math.floor(ms / 100))).size > 10)
  const { behindAnswer, close } = createBehindAnswers(() => 2_000)
  let begun = 0
  behindAnswer(async () => void begun++)
  await new Promise(setImmediate)
  t.equal(begun, 0)
  await close()
  t.equal(begun, 1)
})

t.test('what still waits at the end is done, and waited for, and never twice', async (t) => {
  const alive = setInterval(() => undefined, 1_000) // what waits keeps no process alive
  t.teardown(() => clearInterval(alive))
  const done: string[] = []
  const slow = async (name: string) => {
    await new Promise(setImmediate)
    done.push(name)
  }
  let ms = 0
  const { behindAnswer, close } = createBehindAnswers(() => ms)
  const first = new Promise<void>((resolve) =>
    behindAnswer(async () => {
      await slow('first')
      resolve()
    }),
  )
  await first
  ms = 2_000
  behindAnswer(() => slow('second'))
  behindAnswer(() => slow('third'))
  await close()
  t.same(done, ['first', 'second', 'third'])
  await close()
  t.equal(done.length, 3)
})
