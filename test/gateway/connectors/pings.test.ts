/** When connectors are pinged, and when one is dead. */
import t from 'tap'
import { Pings } from '../../../gateway/connectors/pings.ts'
import { LIMITS } from '../../../shared/limits.ts'

const { connectorSilentMsMax, hopPingMs } = LIMITS

/** Pinged as it comes. */
function newcomer(isAlive: () => boolean) {
  const one = {
    unanswered: isAlive() ? 0 : 1,
    pingedAt: [] as number[],
    endedAt: undefined as number | undefined,
    ping() {
      one.pingedAt.push(ticks * Pings.tickMs)
      if (!isAlive()) one.unanswered++
    },
    end() {
      one.endedAt ??= ticks * Pings.tickMs
      leave()
    },
  }
  const leave = pings.add(one)
  return one
}

let pings = new Pings<ReturnType<typeof newcomer>>()
let ticks = 0
const pass = (ms: number, onPinged = () => {}) => {
  for (const end = ticks + ms / Pings.tickMs; ticks < end;) {
    ticks++
    pings.tick(onPinged)
  }
}
t.beforeEach(() => {
  pings = new Pings()
  ticks = 0
})

t.test('dead after fifteen seconds and three pings without an answer, no sooner', async (t) => {
  t.equal(connectorSilentMsMax, 15_000)
  t.equal(connectorSilentMsMax / hopPingMs, 3, 'as many as between gateways')
  let isThere = true
  const one = newcomer(() => isThere)
  pass(10_000)
  t.same(one.pingedAt, [10_000], 'once while it answers')
  isThere = false
  pass(connectorSilentMsMax - Pings.tickMs)
  t.same(one.pingedAt, [10_000, 20_000, 21_750, 23_500])
  t.equal(one.unanswered, 3)
  t.equal(one.endedAt, undefined)
  pass(Pings.tickMs)
  t.equal(one.endedAt, 10_000 + connectorSilentMsMax)
  pass(connectorSilentMsMax)
  t.equal(one.pingedAt.length, 4, 'and left alone')
})

t.test('who answers late is well again', async (t) => {
  let isThere = false
  const one = newcomer(() => isThere)
  pass(4750)
  t.same(one.pingedAt, [1750, 3500], 'the one that it was greeted with is lost')
  isThere = true
  one.unanswered = 0
  pass(4 * connectorSilentMsMax)
  t.equal(one.endedAt, undefined)
  t.equal(one.pingedAt.length, 2 + 6)
})

t.test('many are pinged one part after the other', async (t) => {
  const all = []
  for (let count = 0; count < 1000; count++) {
    all.push(newcomer(() => true))
    if (count % 20 === 0) pass(Pings.tickMs)
  }
  let most = 0
  for (let count = 0; count < 60; count++) {
    let pinged = 0
    pass(Pings.tickMs, () => void pinged++)
    most = Math.max(most, pinged)
  }
  t.ok(most <= 40, `${most} at once`)
  t.ok(all.every(({ endedAt }) => endedAt === undefined))
})
