/**
 * Whether a form or a query has more fields than any of ours, told before it is parsed: a field of two
 * bytes costs as much as one of a thousand, so bytes alone are no bound on the work.
 */
import { LIMITS } from './limits.ts'

export function hasTooManyFields(text: string): boolean {
  let fields = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1))
    if (++fields > LIMITS.formFieldsMax) return true
  return false
}
