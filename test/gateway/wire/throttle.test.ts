import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Throttle, ThrottledSender } from '../../../gateway/wire/throttle.ts'
import { LIMITS } from '../../../shared/limits.ts'

function start(burst = 2, perSecond = 1000) {
  const clock = { ms: 0, nowMs: () => clock.ms }
  return { clock, throttle: new Throttle({ burst, perSecond }, clock) }
}

t.test('those who wait go on one after the other, each when something is left', async (t) => {
  const { clock, throttle } = start()
  const gone: string[] = []
  t.ok(throttle.take(() => undefined) && throttle.take(() => undefined))
  for (const name of ['a', 'b', 'c']) {
    const goOn = () => {
      gone.push(name)
      // each brings one more, as a connection does that is read again
      throttle.owe(clock.ms)
    }
    t.notOk(throttle.take(goOn))
    if (name === 'b') throttle.leave(goOn)
  }
  clock.ms += 4
  while (gone.length === 0) await turn()
  t.same(gone, ['a'])
  t.notOk(throttle.isOverdrawn)
  clock.ms += 1
  while (gone.length === 1) await turn()
  t.same(gone, ['a', 'c'], 'who has left is not asked')
})

t.test('what came while its sender waited is owed', (t) => {
  const { clock, throttle } = start()
  const sender = new ThrottledSender(() => undefined)
  for (let count = 0; count < 2 + LIMITS.smallReadsFree; count++) sender.send(throttle)
  t.ok(sender.isWaiting && throttle.isOverdrawn)
  clock.ms += LIMITS.smallReadsFree
  t.ok(throttle.isSpent(clock.ms))
  clock.ms += 1
  t.notOk(throttle.isSpent(clock.ms))
  sender.leave()
  t.end()
})

t.test('a neighbour of a flood waits with it, and is not ended', (t) => {
  const { throttle } = start(10, 0)
  const flood = new ThrottledSender(() => undefined)
  const neighbour = new ThrottledSender(() => undefined)
  let sent = 0
  while (flood.send(throttle)) sent++
  t.equal(sent, 10 + 1 + LIMITS.smallReadsFree)
  for (let count = 0; count <= LIMITS.smallReadsFree; count++) t.ok(neighbour.send(throttle))
  t.ok(neighbour.isWaiting)
  flood.leave()
  neighbour.leave()
  t.end()
})

t.test('ended is who waits again and again, unless it rests or sends more', async (t) => {
  const { clock, throttle } = start(1)
  const sender = new ThrottledSender(() => undefined)
  const exceed = async (afterMs: number) => {
    clock.ms += afterMs
    while (sender.isWaiting) await turn()
    return sender.send(throttle) && sender.send(throttle)
  }
  const STEP_MS = 9000
  const exceedFor = async (steps: number) => {
    for (let at = 0; at < steps; at++) if (!(await exceed(STEP_MS))) return at
    return steps
  }
  const most = Math.ceil(LIMITS.throttledMsMax / STEP_MS)
  t.equal(await exceedFor(most), most)
  sender.forgive()
  t.equal(await exceedFor(most), most, 'it has sent something larger')
  clock.ms += 2
  while (sender.isWaiting) await turn()
  t.ok(await exceed(LIMITS.throttledMsMax), 'it has rested')
  t.equal(await exceedFor(most + 1), most - 1)
  sender.leave()
})
