/** Many that wait for the same go on one after the other, and everybody else in between. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createInTurns } from '../../../gateway/request/in-turns.ts'

function spend(ms: number): void {
  for (const beganMs = performance.now(); performance.now() - beganMs < ms;);
}

// A thousand requests for a tenant that was only indexed were all begun in the turn in which it came.
t.test('who takes long is the last one of its turn', async (t) => {
  const inTurns = createInTurns()
  const done: number[] = []
  let turns = 0
  for (let one = 0; one < 4; one++)
    inTurns(() => {
      done.push(turns)
      spend(6)
    })
  t.same(done, [], 'none within the call')
  while (done.length < 4) {
    await turn()
    turns++
  }
  t.equal(new Set(done).size, 4)
})

t.test('each has its turn, in order, also one that comes of another', async (t) => {
  const inTurns = createInTurns()
  const done: string[] = []
  inTurns(() => {
    done.push('first')
    inTurns(() => done.push('third'))
  })
  inTurns(() => done.push('second'))
  while (done.length < 3) await turn()
  t.same(done, ['first', 'second', 'third'])
})
