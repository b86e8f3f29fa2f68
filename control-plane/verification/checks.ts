/** The checks by name, what each result is made of, and what they come to together. */
import type { CheckRow } from '../store/queries/verification.ts'

export { resultsOf, type CheckResult } from '../../shared/integration/check-result.ts'

export type OverallStatus = 'pass' | 'fail' | 'unknown'

/** In the order in which a person should put them right. */
const PLATFORM_CHECKS = [
  'hostname_routed',
  'application_reached',
  'middleware_mounted',
  'key_installed',
  'feed_polled',
  'sealed_hidden',
] as const

/** The platform's in their own order, then what the integrator's machine reports. */
export function inOrder(checks: readonly CheckRow[]): CheckRow[] {
  const place = ({ check, source }: CheckRow) => {
    const index = (PLATFORM_CHECKS as readonly string[]).indexOf(check)
    return (index === -1 ? PLATFORM_CHECKS.length : index) + (source === 'platform' ? 0 : 100)
  }
  return [...checks].sort((a, b) => place(a) - place(b))
}

/**
 * The newest result of each check counts: one failure fails, and a skipped check has not run. With
 * one exception: what the platform has seen fail, only the platform can see mended. Whoever holds
 * the analyzer key writes self-reports, so their word must not hide what was found from outside.
 */
export function overallOf(
  rows: readonly Pick<CheckRow, 'check' | 'source' | 'status' | 'at'>[],
): OverallStatus {
  const platformAt = new Map(
    rows.filter(({ source }) => source === 'platform').map(({ check, at }) => [check, at]),
  )
  const statuses = rows
    .filter(({ check, source, at }) => source === 'platform' || at >= (platformAt.get(check) ?? 0))
    .map(({ status }) => status)
  if (statuses.includes('fail')) return 'fail'
  return statuses.some((status) => status !== 'skip') ? 'pass' : 'unknown'
}
