/**
 * Whether protection may go on, as a pure question. Going back is no question: it is never
 * refused. Going live without a working integration would lock everybody out.
 */
import type { ErrorCode } from '../../shared/errors.ts'
import type { Tenant } from '../store/queries/tenants.ts'

/** What verification must have confirmed, on the platform and not long ago. */
export const REQUIRED_CHECKS = ['middleware_mounted', 'key_installed'] as const
type RequiredCheck = (typeof REQUIRED_CHECKS)[number]

interface GoLiveRefusal {
  readonly code: ErrorCode
  readonly fields: Readonly<Record<string, unknown>>
}

/** Names of what has to be done first: no check can run until the tenant is published. */
export const draftRefusal = (missing: readonly RequiredCheck[]): GoLiveRefusal => ({
  code: 'tenant_draft',
  fields: { missing: ['published', ...missing] },
})

/** undefined: go ahead. `isForced` answers for the checks, not for what cannot work at all. */
export function refuseGoLive(
  tenant: Pick<Tenant, 'status' | 'licence' | 'licenceBlocksSignin'>,
  missing: readonly RequiredCheck[],
  isForced: boolean,
): GoLiveRefusal | undefined {
  if (tenant.status === 'suspended') return { code: 'tenant_suspended', fields: {} }
  if (tenant.status === 'draft') return draftRefusal(missing)
  if (missing.length > 0 && !isForced) return { code: 'not_verified', fields: { missing } }
  if (tenant.licenceBlocksSignin && !isForced) return { code: 'licence_blocked', fields: {} }
  return undefined
}
