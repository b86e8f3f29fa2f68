/** Control planes go by the clock of their database, however wrong that of their machine is. */
import t from 'tap'
import { openServer } from '../../../control-plane/store/engines/server.ts'
import { followServerClock } from '../../../control-plane/store/engines/server-clock.ts'
import { asAdmin, newUrl } from '../../support/postgres-store.ts'

t.test('the time is the server’s, as far as questions and answers tell', async (t) => {
  let steadyMs = 5_000
  let serverMs = 1_700_000_000_000
  let isAway = false
  const pass = (ms: number) => void ((steadyMs += ms), (serverMs += ms))
  const wayMs = { there: 3, back: 3 }
  const clock = await followServerClock(
    async () => {
      pass(wayMs.there)
      const answer = Math.floor(serverMs)
      pass(wayMs.back)
      if (isAway) throw new Error('the server is away')
      return answer
    },
    () => steadyMs,
  )
  t.teardown(() => clock.close())
  const offMs = () => Math.abs(clock.nowMs() - serverMs)
  t.ok(offMs() <= 1)
  pass(7_777)
  t.ok(offMs() <= 1, 'it goes on evenly')
  Object.assign(wayMs, { there: 0, back: 400 })
  await clock.look()
  t.ok(offMs() <= 1, 'an answer that was slow moves nothing that it does not contradict')
  serverMs += 250
  Object.assign(wayMs, { there: 1, back: 1 })
  await clock.look()
  t.ok(offMs() <= 2, 'a clock that was set is followed')
  serverMs -= 600_000
  await clock.look()
  t.ok(offMs() <= 2, 'back as well')
  isAway = true
  await t.rejects(clock.look(), /away/)
  pass(1_000)
  t.ok(offMs() <= 2, 'and a server that is away is waited for')
})

t.test('whose machine is ten minutes off has the time of the database', async (t) => {
  const url = await newUrl()
  const now = Date.now
  t.teardown(() => void (Date.now = now))
  const clockOf = async (offMs: number) => {
    Date.now = () => now() + offMs
    const { engine, clock } = await openServer(url)
    t.teardown(() => engine.close())
    return clock
  }
  const clock = await clockOf(600_000)
  Date.now = () => now() - 600_000
  const askMs = async () => {
    const [row] = await asAdmin(url, 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')
    return Number(row?.['ms'])
  }
  const beforeMs = await askMs()
  const saidMs = clock.nowMs()
  const afterMs = await askMs()
  // as exact as the first question and its answer were fast
  t.ok(saidMs > beforeMs - 60_000 && saidMs < afterMs + 60_000)
})
