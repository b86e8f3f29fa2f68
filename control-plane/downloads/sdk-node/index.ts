/** What `import … from 'service-node'` gives. */
import { VERSION } from '../../../shared/version.ts'
import { createEnforcement } from './enforce/enforcement.ts'
import type { EnforceOptions, Service, VerifyClaimsOptions } from './published.ts'
import { createService } from './service.ts'
import { createClaimsGuard } from './verify-claims.ts'

export type * from './published.ts'

/** The version of this package, which is that of the service it came from. */
export const version: string = VERSION

/**
 * For applications behind the service's edge (gateway and connector mode). Every request has to
 * carry `X-Service-Claims`, signed with the tenant's key; all others are refused, once the tenant
 * is live. Answers the platform's probes.
 */
export function verifyClaims(options?: VerifyClaimsOptions): Service {
  return createService(createClaimsGuard(options))
}

/**
 * For applications without an edge in front (sdk mode): sign-in, sessions, sealed and excluded
 * paths, revocation, enforced here as the edge would.
 */
export function enforce(options?: EnforceOptions): Service {
  return createService(createEnforcement(options))
}
