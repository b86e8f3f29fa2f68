/**
 * When an alert is told of: once when its number reaches the threshold, and not again before it has
 * fallen below. Pure. The clock may be wrong, and be put right: then no alert is told of twice for
 * the same things, and none for nothing.
 */
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'
import type { Watch } from '../store/queries/alerts.ts'
import type { Span } from './metrics.ts'

export interface AlertRule {
  readonly threshold: number
  readonly windowSeconds: number
  readonly coolDownSeconds: number
}

export interface AlertState {
  /** Has been told of, and has not fallen below since. */
  readonly isAbove: boolean
  readonly triggeredAt: number | null
}

/** A longer pause was a stop of this program, or a clock that went ahead. */
export const PAUSE_MS_MAX = MINUTE_MS

const minuteOf = (ms: number) => ms - (ms % MINUTE_MS)

/** A clock that went back would show the same minutes once more, so counting begins anew. */
export function watchAt(nowMs: number, before: Watch | undefined): Watch {
  const fresh = { judgedAt: nowMs, countedFrom: 0, watchedFrom: nowMs }
  if (before === undefined) return fresh
  if (nowMs < before.judgedAt) return { ...fresh, countedFrom: minuteOf(nowMs) + MINUTE_MS }
  const { countedFrom } = before
  if (nowMs - before.judgedAt > PAUSE_MS_MAX) return { ...fresh, countedFrom }
  return { ...before, judgedAt: nowMs }
}

/** Whole minutes: the window, and what the first of them holds besides. */
export function spanOf({ windowSeconds }: AlertRule, { judgedAt, countedFrom }: Watch): Span {
  const toMs = minuteOf(judgedAt) + MINUTE_MS
  const fromMs = minuteOf(judgedAt - windowSeconds * SECOND_MS)
  return { fromMs: Math.max(fromMs, countedFrom), toMs }
}

export function judgeAlert(
  before: AlertState,
  rule: AlertRule,
  value: number,
  { judgedAt: nowMs, watchedFrom, countedFrom }: Watch,
): { readonly isTriggered: boolean; readonly state: AlertState } {
  // of a clock that was ahead: the cool-down begins now, instead of then
  const triggeredAt = before.triggeredAt === null ? null : Math.min(before.triggeredAt, nowMs)
  const stays = (isAbove: boolean) => ({ isTriggered: false, state: { isAbove, triggeredAt } })
  if (value < rule.threshold) {
    const wholeFrom = Math.max(watchedFrom, countedFrom)
    const isWindowWhole = nowMs - wholeFrom >= rule.windowSeconds * SECOND_MS
    return stays(before.isAbove && !isWindowWhole)
  }
  if (before.isAbove) return stays(true)
  const isCooling = triggeredAt !== null && nowMs - triggeredAt < rule.coolDownSeconds * SECOND_MS
  if (isCooling) return stays(false)
  return { isTriggered: true, state: { isAbove: true, triggeredAt: nowMs } }
}
