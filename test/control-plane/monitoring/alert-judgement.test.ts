/** Alerts over days, judged every ten seconds, with clocks that are right and clocks that are not. */
import t from 'tap'
import {
  judgeAlert,
  PAUSE_MS_MAX,
  spanOf,
  watchAt,
  type AlertRule,
  type AlertState,
} from '../../../control-plane/monitoring/alert-judgement.ts'
import type { Watch } from '../../../control-plane/store/queries/alerts.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const RULE: AlertRule = { threshold: 10, windowSeconds: 300, coolDownSeconds: 600 }
const ROUND_MS = 10 * SECOND_MS

/** One alert with its minutes, as alerts.ts carries it through the rounds. */
function watchOver(rule: AlertRule = RULE) {
  const minutes = new Map<number, number>()
  let nowMs = START_MS
  let watch: Watch | undefined
  let state: AlertState = { isAbove: false, triggeredAt: null }
  /** How much time has really passed when it was told of. */
  const told: number[] = []
  let passedMs = 0

  function look() {
    watch = watchAt(nowMs, watch)
    for (const minute of minutes.keys()) if (minute > nowMs) minutes.delete(minute)
    const { fromMs, toMs } = spanOf(rule, watch)
    let value = 0
    for (const [minute, count] of minutes) if (minute >= fromMs && minute < toMs) value += count
    const judgement = judgeAlert(state, rule, value, watch)
    state = judgement.state
    if (judgement.isTriggered) told.push(passedMs)
  }

  return {
    told,
    state: () => state,
    count(many = 1) {
      const minute = nowMs - (nowMs % MINUTE_MS)
      minutes.set(minute, (minutes.get(minute) ?? 0) + many)
    },
    /** Time goes on, with so many happening in each round. */
    pass(ms: number, perRound = 0) {
      for (const end = passedMs + ms; passedMs < end;) {
        passedMs += ROUND_MS
        nowMs += ROUND_MS
        if (perRound > 0) this.count(perRound)
        look()
      }
    },
    /** The clock is changed; nothing really happens. */
    jump(ms: number) {
      nowMs += ms
      look()
    },
    /** This program is not there. */
    stop(ms: number) {
      nowMs += ms
      passedMs += ms
    },
  }
}

t.test('told of at the threshold, and not one below', async (t) => {
  const alert = watchOver()
  alert.count(9)
  alert.pass(MINUTE_MS)
  t.same(alert.told, [])
  alert.count()
  alert.pass(MINUTE_MS)
  t.same(alert.told, [70_000])
})

t.test('once per crossing: not again before it has fallen below', async (t) => {
  const alert = watchOver({ ...RULE, coolDownSeconds: 0 })
  alert.pass(3 * HOUR_MS, 1)
  t.equal(alert.told.length, 1, 'three hours of it are one')
  alert.pass(10 * MINUTE_MS)
  t.same(alert.state().isAbove, false)
  alert.pass(HOUR_MS, 1)
  t.equal(alert.told.length, 2)
})

t.test('not within the cool-down, and after it if it is still so', async (t) => {
  const hour = watchOver({ ...RULE, coolDownSeconds: 3600 })
  hour.count(10)
  hour.pass(10 * MINUTE_MS)
  hour.count(10)
  hour.pass(10 * MINUTE_MS)
  t.equal(hour.told.length, 1, 'the second one was over before the cool-down was')
  hour.pass(HOUR_MS, 1)
  t.equal(hour.told.length, 2)
  t.equal(hour.told[1]! - hour.told[0]!, HOUR_MS)
})

t.test('what is older than the window, and its first minute, does not count', async (t) => {
  const alert = watchOver()
  for (let round = 0; round < 24; round++) {
    alert.count(4)
    alert.pass(3 * MINUTE_MS)
  }
  t.same(alert.told, [], 'two of them within five minutes are eight')
  const other = watchOver()
  other.count(9)
  other.pass(6 * MINUTE_MS)
  other.count(9)
  other.pass(6 * MINUTE_MS)
  t.same(other.told, [])
})

const JUMPS = [MINUTE_MS, 4 * MINUTE_MS, 18 * MINUTE_MS, 30 * MINUTE_MS, 5 * HOUR_MS, 400 * DAY_MS]

t.test('a clock that jumps back tells of nothing twice', async (t) => {
  for (const back of JUMPS)
    for (const coolDownSeconds of [0, 60, 600]) {
      const name = `${back / MINUTE_MS} minutes back, cool-down ${coolDownSeconds} s`
      const over = watchOver({ ...RULE, coolDownSeconds })
      over.count(10)
      over.pass(20 * MINUTE_MS) // told of, and long over
      over.jump(-back)
      over.pass(12 * HOUR_MS)
      t.equal(over.told.length, 1, `${name}: it was over`)

      const goesOn = watchOver({ ...RULE, coolDownSeconds })
      goesOn.pass(20 * MINUTE_MS, 1)
      goesOn.jump(-back)
      goesOn.pass(12 * HOUR_MS, 1)
      t.equal(goesOn.told.length, 1, `${name}: it went on`)
    }
})

t.test('a clock that jumps ahead, and is put right, tells of nothing', async (t) => {
  for (const ahead of JUMPS)
    for (const rightAfterMs of [0, MINUTE_MS, 20 * MINUTE_MS]) {
      const name = `${ahead / MINUTE_MS} minutes ahead for ${rightAfterMs / MINUTE_MS}`
      const quiet = watchOver()
      quiet.count(9)
      quiet.pass(MINUTE_MS)
      quiet.jump(ahead)
      quiet.pass(rightAfterMs)
      quiet.jump(-ahead)
      quiet.pass(12 * HOUR_MS)
      t.same(quiet.told, [], `${name}: nothing was ever above`)

      const goesOn = watchOver({ ...RULE, coolDownSeconds: 0 })
      goesOn.pass(20 * MINUTE_MS, 1)
      goesOn.jump(ahead)
      goesOn.pass(rightAfterMs, 1)
      goesOn.jump(-ahead)
      goesOn.pass(HOUR_MS, 1)
      t.equal(goesOn.told.length, 1, `${name}: one crossing`)
    }
})

t.test('nor does a jump that is longer than a short window', async (t) => {
  for (const ahead of [PAUSE_MS_MAX + SECOND_MS, 90 * SECOND_MS, 115 * SECOND_MS, HOUR_MS])
    for (const jump of [ahead, -ahead]) {
      const alert = watchOver({ threshold: 5, windowSeconds: 60, coolDownSeconds: 0 })
      alert.pass(20 * MINUTE_MS, 1)
      alert.jump(jump)
      alert.pass(20 * MINUTE_MS, 1)
      t.equal(alert.told.length, 1, `${jump / SECOND_MS} seconds`)
    }
})

t.test('after any jump the next crossing is told of', async (t) => {
  for (const jump of JUMPS.flatMap((ms) => [ms, -ms])) {
    const alert = watchOver()
    alert.count(10)
    alert.pass(20 * MINUTE_MS)
    alert.jump(jump)
    alert.pass(HOUR_MS)
    alert.pass(20 * MINUTE_MS, 1)
    t.equal(alert.told.length, 2, `${jump / MINUTE_MS} minutes`)
  }
})

t.test('a start of the program is no crossing, and forgets none', async (t) => {
  for (const away of [SECOND_MS, PAUSE_MS_MAX, PAUSE_MS_MAX + SECOND_MS, HOUR_MS]) {
    const alert = watchOver({ ...RULE, coolDownSeconds: 0 })
    alert.pass(10 * MINUTE_MS, 1)
    alert.stop(away)
    alert.pass(10 * MINUTE_MS, 1)
    t.equal(alert.told.length, 1, `away for ${away} ms`)
    alert.pass(20 * MINUTE_MS)
    alert.pass(10 * MINUTE_MS, 1)
    t.equal(alert.told.length, 2, `away for ${away} ms, and then over`)
  }
})
