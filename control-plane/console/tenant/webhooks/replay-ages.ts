/** How far back a person sends again: nobody types a moment for that. */
import * as v from 'valibot'
import { DAY_MS, HOUR_MS } from '../../../../shared/clock.ts'

export const AGES = {
  hour: { label: 'the last hour', ms: HOUR_MS },
  day: { label: 'the last day', ms: DAY_MS },
  week: { label: 'the last 7 days', ms: 7 * DAY_MS },
  month: { label: 'the last 30 days', ms: 30 * DAY_MS },
} as const

export const ReplayForm = v.strictObject({
  age: v.picklist(Object.keys(AGES) as (keyof typeof AGES)[], 'one of the ages of the list'),
})
