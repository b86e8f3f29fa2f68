import t from 'tap'
import { pollInterval, POLL_STEPS_SECONDS } from '../../../control-plane/feed/poll-interval.ts'
import { LIMITS } from '../../../shared/limits.ts'

const PER_SECOND = LIMITS.feedPollsPerSecondMax

void t.test('up to 500 instances ask every second, one more makes it two', (t) => {
  t.equal(pollInterval(0, 1), 1)
  t.equal(pollInterval(PER_SECOND, 1), 1)
  t.equal(pollInterval(PER_SECOND + 1, 1), 2)
  t.end()
})

void t.test(
  'all of them together stay under 500 polls a second, as long as 30 s are enough',
  (t) => {
    for (let instances = 1; instances <= 30 * PER_SECOND; instances += 7)
      for (const before of POLL_STEPS_SECONDS)
        if (instances / pollInterval(instances, before) > PER_SECOND)
          t.fail(`${instances} instances, ${before} s before`)
    t.equal(pollInterval(30 * PER_SECOND + 1, 1), 30, 'nobody waits for longer')
    t.equal(pollInterval(1e9, 30), 30)
    t.end()
  },
)

void t.test(
  'an interval is left downwards only with room to spare, whatever comes and goes',
  (t) => {
    t.equal(pollInterval(PER_SECOND, 2), 2)
    t.equal(pollInterval(PER_SECOND * 0.8 + 1, 2), 2)
    t.equal(pollInterval(PER_SECOND * 0.8, 2), 1)
    t.equal(pollInterval(0, 30), 1, 'when all have gone, at once')
    for (const edge of POLL_STEPS_SECONDS) {
      let seconds = 1
      const seen = new Set<number>()
      for (let round = 0; round < 200; round++) {
        seconds = pollInterval(edge * PER_SECOND + (round % 2 === 0 ? 40 : -40), seconds)
        if (round > 1) seen.add(seconds)
      }
      t.equal(seen.size, 1, `40 more or fewer than ${edge * PER_SECOND} do not make it flap`)
    }
    t.end()
  },
)

void t.test('it is one of a few steps, so that the answers of all stay the same', (t) => {
  for (let instances = 0; instances <= 20_000; instances += 13)
    for (const before of POLL_STEPS_SECONDS) {
      const steps: readonly number[] = POLL_STEPS_SECONDS
      if (!steps.includes(pollInterval(instances, before))) t.fail(`${instances}`)
    }
  t.end()
})
