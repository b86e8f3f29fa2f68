/** What time a gateway goes by, whatever its own clock says. */
import { pino } from 'pino'
import t from 'tap'
import { createToldTime } from '../../../gateway/fleet/told-time.ts'

const TRUE_MS = 1_800_000_000_000
const MINUTE_MS = 60_000

/** A machine that has run for a while, with a clock that anybody may set. */
function machine(wrongByMs = 0) {
  const state = { steadyMs: 5000, wrongByMs }
  const trueMs = () => TRUE_MS + state.steadyMs
  const wallMs = () => trueMs() + state.wrongByMs
  const told: number[] = []
  const time = createToldTime({
    log: pino({ level: 'silent' }),
    onCorrection: ({ wallMs: ms }) => told.push(ms),
    clock: { nowMs: wallMs, steadyMs: () => state.steadyMs },
  })
  return {
    state,
    told,
    time,
    /** Said so long ago, and here now. */
    hear: (underWayMs = 1) => time.hear(String(trueMs() - underWayMs)),
    wait: (ms: number) => void (state.steadyMs += ms),
  }
}

t.test('a clock that is right within seconds stays as it is', async (t) => {
  const { hear, told, wait } = machine(4500)
  for (let again = 0; again < 20; again++) {
    hear()
    wait(5000)
  }
  t.strictSame(told, [0])
})

for (const wrongByMs of [-10 * MINUTE_MS, 10 * MINUTE_MS, -6000, 6000])
  t.test(`a clock that is ${wrongByMs} ms off is put right, and told once`, async (t) => {
    const { hear, told, wait, time } = machine(wrongByMs)
    for (let again = 0; again < 20; again++) {
      hear(again === 0 ? 0 : 1 + again)
      wait(5000)
    }
    t.strictSame(told, [-wrongByMs])
    t.strictSame(time.correction(), { wallMs: -wrongByMs, machineMs: TRUE_MS })
  })

t.test(
  'a clock that is set while the program runs is right again with the next ping',
  async (t) => {
    const { hear, told, wait, state } = machine()
    const at = (wrongByMs: number) => {
      state.wrongByMs = wrongByMs
      wait(5000)
      hear(0)
    }
    at(0)
    at(MINUTE_MS)
    at(-MINUTE_MS)
    at(0)
    t.strictSame(told, [0, -MINUTE_MS, MINUTE_MS, 0])
  },
)

t.test('what was under way for long says nothing of the clock', async (t) => {
  const { hear, told, wait } = machine()
  hear()
  for (let again = 0; again < 11; again++) {
    wait(5000)
    hear(30_000)
  }
  t.strictSame(told, [0])
  wait(5000)
  hear(30_000)
  t.strictSame(told, [0, -30_000], 'for a minute')
})

t.test('what is no time is not heard', async (t) => {
  const { time, told } = machine()
  for (const said of ['', '0', '-1800000000000', '18000000000000', '1e12', 'NaN', ' 1800000000000'])
    time.hear(said)
  t.strictSame(told, [])
})
