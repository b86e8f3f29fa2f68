/**
 * THE decision, for the gateway and for the middleware alike. The order is the design's: suspended,
 * pass-through, sealed, the service's own paths, excluded, session.
 */
import type { Protection, TenantStatus } from '../snapshot.ts'
import type { ForwardReason, RefuseReason, SignInReason } from '../reasons.ts'
import type { ExcludedMatcher, SealedMatcher } from './path.ts'

export interface TenantRules {
  readonly status: TenantStatus
  readonly protection: Protection
  readonly sealed: SealedMatcher
  readonly excluded: ExcludedMatcher
}

export const SERVICE_ENDPOINTS = ['login', 'callback', 'logout', 'me'] as const
export type ServiceEndpoint = (typeof SERVICE_ENDPOINTS)[number]

/** What the caller found out about the session of this request. */
export type SessionVerdict<Session> =
  | { readonly kind: 'valid'; readonly session: Session }
  | { readonly kind: 'invalid'; readonly reason: SignInReason }

export type Decision<Session> =
  | {
      readonly kind: 'forward'
      readonly reason: ForwardReason
      readonly session: Session | undefined
    }
  | { readonly kind: 'service'; readonly endpoint: ServiceEndpoint }
  | { readonly kind: 'sign_in'; readonly reason: SignInReason }
  | { readonly kind: 'refuse'; readonly reason: RefuseReason; readonly status: 400 | 404 | 503 }

const SUSPENDED = { kind: 'refuse', reason: 'suspended', status: 503 } as const
const SEALED = { kind: 'refuse', reason: 'sealed', status: 404 } as const
const UNREADABLE = { kind: 'refuse', reason: 'path_unreadable', status: 400 } as const
const ENDPOINT_BY_PATH: ReadonlyMap<string, ServiceEndpoint> = new Map(
  SERVICE_ENDPOINTS.map((endpoint) => [`/service/${endpoint}`, endpoint]),
)

/**
 * `readSession` is only called where the session matters, so that a sealed or malformed path costs
 * no signature check.
 */
export function decide<Session, Request>(
  rules: TenantRules,
  path: string,
  request: Request,
  readSession: (request: Request) => SessionVerdict<Session>,
): Decision<Session> {
  if (rules.status === 'suspended') return SUSPENDED
  const endpoint = path.startsWith('/service/') ? ENDPOINT_BY_PATH.get(path) : undefined
  if (rules.protection === 'pass-through') {
    if (endpoint !== undefined) return { kind: 'service', endpoint }
    return { kind: 'forward', reason: 'pass_through', session: validOf(readSession(request)) }
  }
  const sealed = rules.sealed(path)
  if (sealed === 'sealed') return SEALED
  if (sealed === 'unreadable') return UNREADABLE
  if (endpoint !== undefined) return { kind: 'service', endpoint }
  if (rules.excluded(path))
    return { kind: 'forward', reason: 'excluded', session: validOf(readSession(request)) }
  const verdict = readSession(request)
  if (verdict.kind === 'invalid') return { kind: 'sign_in', reason: verdict.reason }
  return { kind: 'forward', reason: 'session', session: verdict.session }
}

function validOf<Session>(verdict: SessionVerdict<Session>): Session | undefined {
  return verdict.kind === 'valid' ? verdict.session : undefined
}
