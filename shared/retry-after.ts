/** How long a server asks to be left alone. */
import { SECOND_MS } from './clock.ts'

/** As everybody writes it by now. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** RFC 9110 section 10.2.3: seconds, or a date. */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS
  const atMs = HTTP_DATE.test(header) ? Date.parse(header) : NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
