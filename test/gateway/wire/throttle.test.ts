import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Throttle, ThrottledSender } from '../../../gateway/wire/throttle.ts'
import { LIMITS } from '../../../shared/limits.ts'

const STEP_MS = 10

function start(t: Test, burst: number, perSecond: number) {
  mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] })
  t.teardown(() => mock.timers.reset())
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const throttle = new Throttle({ burst, perSecond }, clock)
  const read: string[] = []
  /** Time passes, and who may be read again brings so many more. */
  const pass = (ms: number) => {
    for (const until = clock.ms + ms; clock.ms < until;) {
      clock.ms += STEP_MS
      mock.timers.tick(STEP_MS)
    }
  }
  const sender = (name: string, brings = 0) => {
    const it = new ThrottledSender(() => {
      read.push(name)
      send(it, brings)
    })
    return it
  }
  /** Returns for how many of them its connection stayed. */
  const send = (it: ThrottledSender, count: number) => {
    for (let sent = 0; sent < count; sent++) if (!it.send(throttle)) return sent
    return count
  }
  return { clock, throttle, read, pass, sender, send }
}

t.test('those who have spent the budget wait, and are read again as it earns', async (t) => {
  const { read, pass, sender, send } = start(t, 2, 100)
  const [a, b, c] = [sender('a'), sender('b'), sender('c')]
  send(a, 2)
  t.notOk(a.isWaiting)
  for (const it of [a, b, c]) send(it, 1)
  t.same([a.isWaiting, b.isWaiting, c.isWaiting], [true, true, true])
  b.leave()
  pass(10)
  t.same(read, ['a'], 'in their order, and who has left is not asked')
  pass(10)
  t.same(read, ['a', 'c'])
  pass(10)
  send(a, 1)
  t.notOk(a.isWaiting)
})

t.test('newcomers stand behind those who wait, however many they are', async (t) => {
  const perSecond = 4000
  const { clock, read, pass, sender, send } = start(t, 10_000, perSecond)
  send(sender('flood'), 10_000 + LIMITS.throttledOwedMax)
  const WAITING = 40
  for (let at = 0; at < WAITING; at++) send(sender('neighbor', 300), 300)
  const honest = sender('honest')
  const honestReads = () => read.filter((name) => name === 'honest').length
  let newcomers = 0
  for (let round = 0; round < 20; round++) {
    const present = WAITING + 1 + newcomers
    const sinceMs = clock.ms
    send(honest, 1)
    while (honestReads() === round && clock.ms < 60_000) {
      pass(STEP_MS)
      // more than is earned in that time
      send(sender('newcomer'), (perSecond / 1000) * STEP_MS * 2)
      newcomers++
    }
    const mostMs = (present * LIMITS.throttledInRotation * 1000) / perSecond + 2 * STEP_MS
    t.ok(clock.ms - sinceMs <= mostMs, `${clock.ms - sinceMs} of ${mostMs} ms`)
  }
})

t.test('who owes much does not keep those waiting who owe little', async (t) => {
  const { read, pass, sender, send } = start(t, 100, 1000)
  send(sender('much'), 100 + 4000)
  for (const name of ['a', 'b', 'c']) send(sender(name), 1)
  pass(2 * LIMITS.throttledInRotation + STEP_MS)
  t.same(read, ['a', 'b', 'c'])
  pass(4000)
  t.same(read, ['a', 'b', 'c', 'much'], 'and has its turn when it has paid')
})

t.test('a window of short pieces ends nobody, whatever its neighbors owe', async (t) => {
  const { pass, read, sender, send } = start(t, 20_000, 20_000)
  send(sender('before them'), 20_000)
  const floods = Array.from({ length: 50 }, () => sender('flood', 2850))
  for (const flood of floods) send(flood, 2850)
  const WINDOW = Math.ceil((64 * 1024) / 40)
  const honest = sender('honest')
  for (let round = 1; round <= 3; round++) {
    t.equal(send(honest, WINDOW), WINDOW)
    for (const flood of floods) t.ok(flood.isWaiting, 'nor any of these')
    // Each round of the rotation pays for a few of it.
    const rounds = Math.ceil(WINDOW / LIMITS.throttledInRotation)
    pass((rounds * (floods.length + 1) * LIMITS.throttledInRotation * 1000) / 20_000 + STEP_MS)
    t.equal(read.filter((name) => name === 'honest').length, round)
  }
})

t.test('ended is who owes more than that itself, and nobody else', async (t) => {
  const { pass, read, sender, send } = start(t, 10, 1000)
  const [flood, neighbor] = [sender('flood'), sender('neighbor')]
  t.equal(send(flood, 1_000_000), 10 + LIMITS.throttledOwedMax)
  t.equal(send(neighbor, 100), 100)
  flood.leave()
  pass(100 + STEP_MS)
  t.same(read, ['neighbor'])
})

t.test('who may be read again has a turn of the event loop for itself', async (t) => {
  const { clock, throttle } = start(t, 100, 1000)
  mock.timers.reset()
  let inThisTurn = 0
  let isDone = 0
  const senders = Array.from(
    { length: 9 },
    () => new ThrottledSender(() => void (inThisTurn++, isDone++)),
  )
  for (let count = 0; count < 100; count++) senders[0]!.send(throttle)
  for (const sender of senders) sender.send(throttle)
  clock.ms += 1000
  while (isDone < senders.length) {
    await turn()
    t.ok(inThisTurn <= 1)
    inThisTurn = 0
  }
})
