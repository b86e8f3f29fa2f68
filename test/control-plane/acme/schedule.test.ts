/** When what is tried again, and how what authorities say is read. */
import t from 'tap'
import { problemOf } from '../../../control-plane/acme/problem.ts'
import { retryAfterMs } from '../../../shared/retry-after.ts'
import {
  askAgainMs,
  authorityPauseMs,
  pauseMs,
  pollMs,
  renewalAt,
} from '../../../control-plane/acme/schedule.ts'
import { sentenceOf } from '../../../control-plane/acme/words.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'

void t.test('the pauses of a hostname grow to a day, and at most four are in an hour', (t) => {
  const pauses = Array.from({ length: 10 }, (_, index) => pauseMs(index + 1))
  t.strictSame(
    pauses,
    [...pauses].sort((one, other) => one - other),
  )
  t.equal(pauses.at(-1), DAY_MS)
  let atMs = 0
  const attempts = [0, ...pauses.map((pause) => (atMs += pause))]
  t.ok(attempts.filter((at) => at < HOUR_MS).length <= 4)
  t.end()
})

void t.test('an authority is left alone for what it says, once several have heard it', (t) => {
  t.equal(authorityPauseMs(0, 30 * SECOND_MS), 30 * SECOND_MS)
  t.equal(authorityPauseMs(0, DAY_MS), 5 * MINUTE_MS, 'it may be of one hostname')
  t.equal(authorityPauseMs(20, DAY_MS), DAY_MS)
  t.equal(authorityPauseMs(100, 400 * DAY_MS), LIMITS.acmePauseMsMax)
  t.equal(authorityPauseMs(0, undefined), MINUTE_MS)
  t.equal(authorityPauseMs(30, undefined), HOUR_MS)
  t.equal(authorityPauseMs(0, 0), SECOND_MS, 'never a busy loop')
  t.end()
})

void t.test('an order is looked at less and less often', (t) => {
  t.equal(pollMs(0, undefined), SECOND_MS)
  t.equal(pollMs(40 * SECOND_MS, undefined), 10 * SECOND_MS)
  t.equal(pollMs(HOUR_MS, undefined), MINUTE_MS)
  t.equal(pollMs(0, 5 * MINUTE_MS), 5 * MINUTE_MS)
  t.equal(pollMs(0, DAY_MS), HOUR_MS)
  t.end()
})

void t.test('a renewal is within the window, and within the life of the certificate', (t) => {
  const life = { startMs: 0, endMs: 90 * DAY_MS }
  const at = (known: number | null, from?: number, to?: number, random = 0.5) =>
    renewalAt(
      life,
      known,
      from === undefined ? undefined : { startMs: from * DAY_MS, endMs: (to ?? from) * DAY_MS },
      () => random,
    ) / DAY_MS
  t.equal(at(null), 60)
  t.equal(at(70 * DAY_MS), 70, 'what it said before it stopped to say so')
  t.equal(at(null, 50, 60), 55)
  t.equal(at(null, 50, 60, 0), 50)
  t.equal(at(51 * DAY_MS, 50, 60), 51)
  t.equal(at(40 * DAY_MS, 50, 60), 55, 'another window')
  t.equal(at(null, 200, 300), 81)
  t.equal(at(null, -10, -5), 0.25, 'not when it has only just come')
  t.equal(
    renewalAt({ startMs: 0, endMs: 6 * HOUR_MS }, null, { startMs: 0, endMs: 0 }, () => 0),
    2 * HOUR_MS,
  )
  t.strictSame(
    [askAgainMs(undefined), askAgainMs(0), askAgainMs(9 * DAY_MS)],
    [6 * HOUR_MS, MINUTE_MS, DAY_MS],
  )
  t.end()
})

void t.test('Retry-After is seconds or a date', (t) => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  t.equal(retryAfterMs('120', nowMs), 120 * SECOND_MS)
  t.equal(retryAfterMs('Thu, 01 Jan 2026 00:02:00 GMT', nowMs), 120 * SECOND_MS)
  t.equal(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', nowMs), 0)
  for (const given of [undefined, '', 'soon', '-5', '1e9', ['1']])
    t.equal(retryAfterMs(given, nowMs), undefined)
  t.end()
})

void t.test('what an authority says is text of a bounded length, and of its own kind', (t) => {
  const problem = problemOf(
    {
      type: 'urn:ietf:params:acme:error:dns',
      detail: `a\n\u0000b\u202e ${'x'.repeat(1000)}`,
      subproblems: [{ detail: 'more' }, null, 7],
    },
    { status: 400 },
  )
  t.match(problem.message, /^a b x+$/)
  t.ok(problem.message.length <= 400)
  t.equal(problem.isBusy, false)
  t.match(
    sentenceOf('a.test', problem),
    /^The certificate authority cannot resolve a\.test\. .* It says: a b/,
  )
  for (const strange of [undefined, null, 'text', { type: 7, detail: {} }, { type: 'about:blank' }])
    t.match(problemOf(strange, { status: 400 }), { type: '', message: '' })
  t.match(
    sentenceOf('a.test', problemOf({ type: 'urn:ietf:params:acme:error:constructor' })),
    /refused/,
  )
  for (const status of [0, 429, 500, 503]) t.ok(problemOf({}, { status }).isBusy)
  t.ok(problemOf({ type: 'urn:ietf:params:acme:error:rateLimited' }, { status: 403 }).isBusy)
  t.end()
})
