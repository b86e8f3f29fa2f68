/**
 * A request to the service's own addresses, whoever serves it: the gateway at the edge, or the
 * middleware inside the application.
 */
import type { Clock } from '../clock.ts'
import type { NavigationFacts } from '../enforcement/navigation.ts'
import type { SessionReader, SessionRequest, SessionTenant } from '../enforcement/read-session.ts'
import type { SealingKeys } from '../enforcement/seen.ts'
import type { TokenClaims } from '../enforcement/token.ts'
import { hasTooManyFields } from '../form-fields.ts'
import type { CallbackAdmission } from './callback-admission.ts'
import type { RelyingParty, RelyingPartyClient } from './relying-party.ts'

export interface SignInTenant extends SessionTenant {
  readonly tenantId: string
  readonly name: string
  readonly client: RelyingPartyClient
  readonly flowKeys: SealingKeys
  /** The licence lets nobody sign in anew; who is signed in stays so. */
  readonly isSignInBlocked: boolean
  /** Whom to ask for access, where a rule refuses it: an email address, or one of the web. */
  readonly accessContact?: string | undefined
}

/** In the address of `/service/login`: a fresh proof is wanted, with a second factor. Anybody can ask. */
export const STEP_UP = 'step_up'

export interface ServiceRequest extends SessionRequest {
  readonly tenant: SignInTenant
  readonly head: NavigationFacts & { readonly secFetchSite: string }
  /** Behind the `?`, as received. */
  readonly query: string
  /** The tenant's own address as browsers see it, never what a header says. */
  readonly edgeUrl: string
  /** Valid, and this request's own; undefined: there are no traces here. */
  readonly traceparent?: string
  /** The values of all lines of one name, given in lower case. */
  header(name: string): readonly string[]
  /** Whether these are one origin, and our own, or none at all. */
  isOwnPage(origins: readonly string[]): boolean
}

export interface SignInWorld<V extends ServiceRequest = ServiceRequest> {
  readonly sessions: SessionReader
  readonly relyingParty: RelyingParty
  readonly callbacks: CallbackAdmission
  readonly clock: Clock
  /** The session ends here and now; the control plane ends it everywhere. */
  endSession(request: V, claims: TokenClaims, outcome: 'logout' | 'terminate'): void
  readonly log: { warn(fields: object, text: string): void }
}

/** The session moved to another client, and its tenant wants it ended. */
export function terminate<V extends ServiceRequest>(request: V, world: SignInWorld<V>): void {
  const session = world.sessions.claimsOf(request)
  if (session !== undefined) world.endSession(request, session.claims, 'terminate')
}

/** A parameter that is given twice is given by nobody (CVE-2026-9689). */
export function onlyParameter(query: string, name: string): string | undefined {
  const [only, ...others] = fieldsNamed(query, name)
  if (only === undefined || others.length > 0) return undefined
  return new URLSearchParams(only).get(name) ?? undefined
}

export const hasParameter = (query: string, name: string): boolean =>
  fieldsNamed(query, name).length > 0

/** As they stand. Of the others nothing is decoded: `%e4`, of which no text can be made, is dear. */
function fieldsNamed(query: string, name: string): readonly string[] {
  if (hasTooManyFields(query)) return []
  return query.split('&').filter((field) => isNamed(field, name))
}

const ASCII_ESCAPE = /%[2-7][0-9a-f]/gi

function isNamed(field: string, name: string): boolean {
  const end = field.indexOf('=')
  const given = end === -1 ? field : field.slice(0, end)
  if (given.length > name.length * '%61'.length) return false
  return given.replace(ASCII_ESCAPE, (escape) => decodeURIComponent(escape)) === name
}

export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Codes and messages of libraries, never tokens: openid-client puts neither into its errors. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message
}
