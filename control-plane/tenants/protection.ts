/**
 * Whether protection may go on, as a pure question. Going back is no question: it is never
 * refused. Going live without a working integration would lock everybody out.
 */
import type { ErrorCode } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import type { CheckRow } from '../store/queries/verification.ts'

/** What verification must have confirmed, on the platform and not long ago. */
export const REQUIRED_CHECKS = ['middleware_mounted', 'key_installed'] as const
type RequiredCheck = (typeof REQUIRED_CHECKS)[number]

/** What the tool finds in the code, and no probe sees from outside: something answers without the guard. */
const LOCAL_CHECKS: ReadonlySet<string> = new Set([
  'middleware_mounted',
  'listeners_guarded',
  'websockets_guarded',
])

/**
 * What the latest report of the tool holds going live back for. A report of long ago may be of other
 * code, and one that another has followed was: neither holds anybody back.
 */
export function failedLocally(checks: readonly CheckRow[], nowMs: number): CheckRow[] {
  const reported = checks.filter(({ source }) => source === 'self_report')
  const latest = Math.max(...reported.map(({ at }) => at))
  if (latest <= nowMs - LIMITS.verificationValidMs) return []
  return reported.filter(
    ({ at, check, status }) => at === latest && status === 'fail' && LOCAL_CHECKS.has(check),
  )
}

/** Names what somebody has read, so that nothing of later is ignored with it; '': nothing failed. */
export const reportOf = (failed: readonly Pick<CheckRow, 'check' | 'at'>[]) =>
  failed.map(({ check, at }) => `${check}@${at}`).join(' ')

interface GoLiveRefusal {
  readonly code: ErrorCode
  readonly fields: Readonly<Record<string, unknown>>
}

/** Names of what has to be done first: no check can run until the tenant is published. */
export const draftRefusal = (missing: readonly RequiredCheck[]): GoLiveRefusal => ({
  code: 'tenant_draft',
  fields: { missing: ['published', ...missing] },
})

interface GoLiveWish {
  /** Answers for the checks, not for what cannot work at all. */
  readonly force: boolean
  /** Answers for what the tool found in the code. */
  readonly ignoresLocalChecks?: boolean
}

/** undefined: go ahead. */
export function refuseGoLive(
  tenant: Pick<Tenant, 'status' | 'licence' | 'licenceBlocksSignin'>,
  missing: readonly RequiredCheck[],
  failed: readonly Pick<CheckRow, 'check' | 'status' | 'detail' | 'nextAction'>[],
  { force, ignoresLocalChecks = force }: GoLiveWish,
): GoLiveRefusal | undefined {
  if (tenant.status === 'suspended') return { code: 'tenant_suspended', fields: {} }
  if (tenant.status === 'draft') return draftRefusal(missing)
  const held = ignoresLocalChecks ? [] : failed
  const all = { missing: [...new Set([...missing, ...held.map(({ check }) => check)])] }
  const checks = held.map(({ check, status, detail, nextAction: next_action }) => ({
    check,
    status,
    detail,
    next_action,
  }))
  const fields = held.length === 0 ? all : { ...all, checks }
  if (missing.length > 0 && !force) return { code: 'not_verified', fields }
  if (held.length > 0) return { code: 'local_checks_failed', fields }
  if (tenant.licenceBlocksSignin && !force) return { code: 'licence_blocked', fields: {} }
  return undefined
}
