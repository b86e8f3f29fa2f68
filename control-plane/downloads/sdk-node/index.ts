/** What `import … from 'service-node'` gives: what `published.ts` declares, and says of it. */
import { VERSION } from '../../../shared/version.ts'
import { createEnforcement } from './enforce/enforcement.ts'
import type * as published from './published.ts'
import { createService } from './service.ts'
import { createClaimsGuard } from './verify-claims.ts'

export type * from './published.ts'

export const version: typeof published.version = VERSION

export const verifyClaims: typeof published.verifyClaims = (options) =>
  createService(createClaimsGuard(options))

export const enforce: typeof published.enforce = (options) =>
  createService(createEnforcement(options))
