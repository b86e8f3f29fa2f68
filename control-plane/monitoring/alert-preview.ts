/** What an alert would have told of, over minutes that were counted: judged like the real one. Pure. */
import { DAY_MS, MINUTE_MS } from '../../shared/clock.ts'
import { judgeAlert, spanOf, type AlertRule, type AlertState } from './alert-judgement.ts'
import type { MinuteCount, Span } from './metrics.ts'

export interface AlertPreview {
  /** When it would have been told of. */
  readonly triggeredAt: readonly number[]
  /** The highest number within one window. */
  readonly most: number
  /** The highest within each step of the day. */
  readonly times: readonly number[]
  readonly values: readonly number[]
}

const STEP_MS = 10 * MINUTE_MS

/** A whole day of steps, up to and with the one that is under way. */
export function previewSpan(nowMs: number): Span {
  const toMs = nowMs - (nowMs % STEP_MS) + STEP_MS
  return { fromMs: toMs - DAY_MS, toMs }
}

/** `counts` in the order of time, from a window before the span on. */
export function previewAlert(
  counts: readonly MinuteCount[],
  rule: AlertRule,
  { fromMs, toMs }: Span,
): AlertPreview {
  const length = Math.round((toMs - fromMs) / STEP_MS)
  const values = Array.from({ length }, () => 0)
  const triggeredAt: number[] = []
  let state: AlertState = { isAbove: false, triggeredAt: null }
  let [sum, first, next] = [0, 0, 0]
  for (let minute = fromMs; minute < toMs; minute += MINUTE_MS) {
    const watch = { judgedAt: minute + MINUTE_MS - 1, countedFrom: 0, watchedFrom: 0 }
    const window = spanOf(rule, watch)
    for (let one = counts[next]; one !== undefined && one.at < window.toMs; one = counts[++next])
      sum += one.count
    for (
      let one = counts[first];
      one !== undefined && one.at < window.fromMs;
      one = counts[++first]
    )
      sum -= one.count
    const step = Math.floor((minute - fromMs) / STEP_MS)
    values[step] = Math.max(values[step] ?? 0, sum)
    const judged = judgeAlert(state, rule, sum, watch)
    state = judged.state
    if (judged.isTriggered) triggeredAt.push(minute)
  }
  return {
    triggeredAt,
    most: values.reduce((max, value) => Math.max(max, value), 0),
    times: values.map((_, step) => fromMs + step * STEP_MS),
    values,
  }
}
