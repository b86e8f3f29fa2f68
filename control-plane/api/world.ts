/** What endpoints stand on: the services. Each file takes out of them what it uses. */
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { Services } from '../services/services.ts'

export type ApiWorld = Services & { readonly rates: RateLimits }
