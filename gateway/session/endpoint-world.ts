/** What the service's own addresses stand on. */
import type { TokenClaims } from '../../shared/enforcement/token.ts'
import type { RequestContext } from '../request.ts'
import type { OwnSessions } from './own-sessions.ts'
import type { SessionReader } from './read-session.ts'
import type { RelyingParty } from './relying-party.ts'

export interface EndpointWorld {
  readonly sessions: SessionReader
  readonly relyingParty: RelyingParty
  readonly ownSessions: OwnSessions
  /** The session ends here and now; the control plane ends it everywhere. */
  endSession(context: RequestContext, claims: TokenClaims, outcome: 'logout'): void
  /** The control plane has ended it; here it is refused before the fleet link says so. */
  refuseSession(context: RequestContext, sid: string): void
  log: { warn(fields: object, text: string): void }
}

/** Codes and messages of libraries, never tokens: openid-client puts neither into its errors. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message
}
