/** When an agent comes again. */
import t from 'tap'
import { createCheckIns } from '../../../../../control-plane/downloads/device-agent/running/check-ins.ts'
import { Refused } from '../../../../../control-plane/downloads/device-agent/service/agent-service.ts'
import { enrolledDevice } from '../../../../support/device-agent.ts'

/** Facts are others than the service knows at each look, every few milliseconds. */
function startAgent(answers: readonly (Error | undefined)[]) {
  const device = enrolledDevice({ posture_hash: 'a'.repeat(42) + 'A', checked_in_at: null })
  const comings: number[] = []
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  const checkIns = createCheckIns({
    chain: {
      device: () => device,
      checkIn: async () => {
        const answer = answers[comings.length]
        comings.push(performance.now())
        if (comings.length === answers.length) resolve()
        if (answer !== undefined) throw answer
      },
    },
    hashNow: async () => 'b'.repeat(42) + 'A',
    log: { info: () => undefined, warn: () => undefined },
    random: () => 0,
    collectMs: 5,
  })
  const ended = checkIns.run()
  return async () => {
    await enough
    checkIns.stop()
    await ended
    return comings.slice(1).map((atMs, index) => atMs - comings[index]!)
  }
}

t.test('facts that have changed are told before the hour is over', async (t) => {
  const pauses = await startAgent([undefined, undefined])()
  t.equal(pauses.length, 1)
})

t.test('but not before there is room, where the service has said when', async (t) => {
  for (const status of [503, 429]) {
    const [pause = 0] = await startAgent([new Refused(status, 'unavailable', 1), undefined])()
    t.ok(pause >= 990, `${status}: ${pause}`)
  }
})
