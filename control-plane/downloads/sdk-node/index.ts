/** What `import … from 'service-node'` gives, with the options of `package/index.d.ts`. */
import { createEnforcement } from './enforce/enforcement.ts'
import { createService, type Service } from './service.ts'
import { createClaimsGuard } from './verify-claims.ts'
import type { EnforceOptions, VerifyClaimsOptions } from './package/index.d.ts'

export type { Service } from './service.ts'
export { VERSION as version } from '../../../shared/version.ts'

/** Behind the edge: every request has to carry claims that the tenant's key has signed. */
export function verifyClaims(options?: VerifyClaimsOptions): Service {
  return createService(createClaimsGuard(options))
}

/** In sdk mode: decides inside the application what the edge would decide in front of it. */
export function enforce(options?: EnforceOptions): Service {
  return createService(createEnforcement(options))
}
