/** What time it is in a gateway. */
import t from 'tap'
import { FleetClock } from '../../../gateway/process/fleet-clock.ts'
import { steadyMs } from '../../../shared/clock.ts'

const HOUR_MS = 3_600_000
const MARGIN_MS = 60_000

t.test('before anybody has said what time it is, it is this machine’s', async (t) => {
  t.ok(Math.abs(new FleetClock().nowMs() - Date.now()) < MARGIN_MS)
})

t.test('a clock that is wrong by an hour is put right, either way', async (t) => {
  for (const wallMs of [-HOUR_MS, HOUR_MS]) {
    const clock = new FleetClock()
    clock.correct({ wallMs, machineMs: Date.now() + wallMs - steadyMs() })
    t.ok(Math.abs(clock.nowMs() - Date.now() - wallMs) < MARGIN_MS)
  }
})

t.test('a clock that is set back goes on as time does, before anybody says so', async (t) => {
  const clock = new FleetClock()
  clock.correct({ wallMs: 0, machineMs: Date.now() - steadyMs() })
  const before = Date.now()
  const { now } = Date
  t.teardown(() => (Date.now = now))
  Date.now = () => now() - HOUR_MS
  t.ok(Math.abs(clock.nowMs() - before) < MARGIN_MS)
  Date.now = () => now() + HOUR_MS
  t.ok(clock.nowMs() - before > HOUR_MS - MARGIN_MS, 'a machine that slept knows how long by it')
})
