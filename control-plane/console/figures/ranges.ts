/** Which time is looked at: by links, so that an address says it. */
import * as v from 'valibot'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import { wholeSteps, type SeriesSpan } from '../../monitoring/series.ts'
import { tabs } from '../blocks/tabs.ts'
import type { Html } from '../../pages/html.ts'

const RANGES = {
  hour: { label: 'Hour', words: 'the last hour', step: 'minute', ms: HOUR_MS },
  day: { label: 'Day', words: 'the last 24 hours', step: 'hour', ms: DAY_MS },
  week: { label: 'Week', words: 'the last 7 days', step: 'hour', ms: 7 * DAY_MS },
  month: { label: 'Month', words: 'the last 30 days', step: 'day', ms: 30 * DAY_MS },
} as const
type Range = keyof typeof RANGES
const NAMES = Object.keys(RANGES) as [Range, ...Range[]]

export const RANGE_QUERY = {
  range: v.optional(v.picklist(NAMES, `one of ${NAMES.join(', ')}`), 'day'),
} as const

/** The step that is under way is the last one. */
export function spanOf(range: Range, nowMs: number): SeriesSpan {
  const { step, ms } = RANGES[range]
  const { toMs } = wholeSteps({ fromMs: nowMs, toMs: nowMs + 1, step })
  return { fromMs: toMs - ms, toMs, step }
}

export const rangeWords = (range: Range) => RANGES[range].words

/** The call of the operator API that tells the same; it knows no minutes. */
export function figuresCall(tenantId: string, { fromMs, toMs, step }: SeriesSpan): string {
  const from = new Date(fromMs).toISOString()
  const to = new Date(toMs).toISOString()
  const path = `/api/v1/operator/tenants/${tenantId}/figures`
  return `${path}?step=${step === 'minute' ? 'hour' : step}&from=${from}&to=${to}`
}

export function rangeLinks(path: string, here: Range): Html {
  return tabs(
    'Time',
    NAMES.map((name) => ({
      label: RANGES[name].label,
      href: `${path}?range=${name}`,
      isHere: name === here,
    })),
  )
}
