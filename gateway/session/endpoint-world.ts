/** What the service's own addresses stand on. */
import type { SignInWorld } from '../../shared/sign-in/service-request.ts'
import type { RequestContext } from '../request/context.ts'
import type { OwnSessions } from './own-sessions.ts'

export interface EndpointWorld extends SignInWorld<RequestContext> {
  readonly ownSessions: OwnSessions
  /** The control plane has ended it; here it is refused before the fleet link says so. */
  refuseSession(context: RequestContext, sid: string, issuedSeconds: number): void
}
