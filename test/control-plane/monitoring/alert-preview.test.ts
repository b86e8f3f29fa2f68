/** What an alert would have told of: judged as the real one judges, over recorded minutes. */
import t from 'tap'
import { previewAlert, previewSpan } from '../../../control-plane/monitoring/alert-preview.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/clock.ts'

const NOW_MS = Date.parse('2026-03-01T12:34:56Z')
const span = previewSpan(NOW_MS)
const minute = (number: number) => span.fromMs + number * MINUTE_MS
const RULE = { threshold: 10, windowSeconds: 300, coolDownSeconds: 0 }

void t.test('a day is looked at, up to the ten minutes that are under way', async (t) => {
  t.equal(span.toMs, Date.parse('2026-03-01T12:40:00Z'))
  t.equal(span.toMs - span.fromMs, DAY_MS)
  const { times, values, triggeredAt, most } = previewAlert([], RULE, span)
  t.equal(times.length, 144)
  t.equal(values.length, 144)
  t.strictSame([triggeredAt, most], [[], 0])
})

void t.test('it tells once when the sum within a window reaches the threshold', async (t) => {
  const counts = [
    { at: minute(100), count: 4 },
    { at: minute(103), count: 5 },
    { at: minute(105), count: 1 },
    { at: minute(106), count: 3 },
  ]
  const preview = previewAlert(counts, RULE, span)
  t.strictSame(preview.triggeredAt, [minute(105)], 'with the minute in which it was reached')
  t.equal(preview.most, 10)
  t.equal(preview.values[10], 10)
  t.equal(preview.values[12], 0, 'and the window goes on')
  t.strictSame(previewAlert(counts, { ...RULE, threshold: 11 }, span).triggeredAt, [])
})

void t.test('it tells again after it has fallen below, but not within the cool-down', async (t) => {
  const counts = [0, 30, 60].map((number) => ({ at: minute(number), count: 12 }))
  t.strictSame(previewAlert(counts, RULE, span).triggeredAt, [minute(0), minute(30), minute(60)])
  const cooling = { ...RULE, coolDownSeconds: 45 * 60 }
  t.strictSame(previewAlert(counts, cooling, span).triggeredAt, [minute(0), minute(60)])
})

void t.test('what was counted in the window before the day counts for its beginning', async (t) => {
  const counts = [{ at: minute(-2), count: 10 }]
  t.strictSame(previewAlert(counts, RULE, span).triggeredAt, [minute(0)])
})
