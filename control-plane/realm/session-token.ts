/**
 * The realm's ID token is the session token of every mode (`service_session`), so it is made here
 * and not by the provider: with its `typ`, its `exp` by our rules, within its size, and never for
 * somebody whose sessions have been revoked since the sign-in.
 */
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { CompactSign } from 'jose'
import { setTimeout as sleep } from 'node:timers/promises'
import { nowSeconds, SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { SessionRevoked } from '../sessions/sessions.ts'
import type { PrivateSigningJwk } from '../keys/signing-keys.ts'
import { claimsNotBeforeOf, notBeforeOf } from '../store/queries/revocations.ts'
import { groupClaimsOf } from '../tenants/access-rules.ts'
import { fitClaims, payloadBytesMax } from '../tenants/token-size.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { ACR_SECOND_FACTOR } from '../policy/verdict.ts'
import type { UpstreamSession } from './sign-in/attempt-state.ts'
import { wantsSecondFactor } from './sign-in/browser-sign-in.ts'
import { errors } from './oidc.ts'
import { makeRoom } from './session-count.ts'
import { tokenExpiresAt } from './session-life.ts'
import { requestIdOf } from './show.ts'
import type { RealmWorld } from './world.ts'

/** Timers keep a clock of their own, which may be so much ahead of the wall's. */
const TIMER_EARLY_MS = 2

/** Where a session was begun, kept with it: the gateway that fetches the token is somewhere else. */
declare module 'oidc-provider' {
  interface ClientAuthorizationState {
    ip?: string
    userAgent?: string
    /** The machine with our agent that it was begun on. */
    deviceId?: string | undefined
    /** When the person proved at a provider who they are, as far as it says; epoch seconds. */
    provenAt?: number | undefined
    /** By which session at a provider they have come. */
    upstream?: UpstreamSession | undefined
  }
}

type IdToken = InstanceType<Provider['IdToken']>
type IssueOptions = Parameters<IdToken['issue']>[0]

/** What the provider has gathered for an ID token; it may hold a nonce as well. */
interface SessionClaims {
  readonly sub: string
  readonly sid: string
  readonly auth_time: number
  readonly acr: string
  readonly amr: readonly string[]
  readonly email?: string
  readonly name?: string
}

interface TokenIssuer {
  readonly issuer: string
  readonly clientId: string
  readonly tenant: Tenant
  readonly key: PrivateSigningJwk
}

/** Makes the provider issue our token wherever it would issue its own; another application gets one that is no session. */
export function issueSessionTokens(provider: Provider, issuer: TokenIssuer, world: RealmWorld) {
  class SessionToken extends provider.IdToken {
    override async issue(options: IssueOptions): Promise<string> {
      if (options.use !== 'idtoken') return super.issue(options)
      const claims = (await this.payload()) as unknown as SessionClaims
      const { clientId: asking } = this.client
      if (asking === issuer.clientId) return issueSessionToken(claims, this.ctx, issuer, world)
      return issueClientToken(claims, this.ctx, issuer, world, asking)
    }
  }
  Object.defineProperty(provider, 'IdToken', { value: SessionToken })
  // The session token needs its `sid`, which the provider adds for clients with back-channel logout
  provider.Client.prototype.includeSid = () => true
}

async function issueSessionToken(
  claims: SessionClaims,
  ctx: KoaContextWithOIDC,
  by: TokenIssuer,
  world: RealmWorld,
): Promise<string> {
  const { issuer, clientId, tenant, key } = by
  const { iat, exp, auth_time } = await recordIssue(claims, ctx, by, world)
  const header = { alg: 'RS256', kid: key.kid, typ: 'JWT' }
  // behind a write: a change of memberships that is under way is over by then, or begins behind `iat`
  const groups = await groupClaimsOf(world.store.read, tenant.tenantId, claims.sub)
  const payload = { iss: issuer, aud: clientId, ...claims, auth_time, ...groups, iat, exp }
  const token = await signed(fitClaims(payload, payloadBytesMax(header, key.n)), header, key)
  if (Buffer.byteLength(token) > LIMITS.sessionTokenBytesMax)
    throw new Error(
      `the session token of ${claims.sub} has ${token.length} bytes, at most ${LIMITS.sessionTokenBytesMax} are issued`,
    )
  return token
}

/** For another application: it says who somebody is, and no gateway takes it, since it is not for the tenant's. */
async function issueClientToken(
  claims: SessionClaims,
  ctx: KoaContextWithOIDC,
  by: TokenIssuer,
  world: RealmWorld,
  asking: string,
): Promise<string> {
  const { issuer, key } = by
  const { iat, exp: sessionExp, auth_time } = await recordIssue(claims, ctx, by, world, asking)
  const exp = Math.min(sessionExp, iat + LIMITS.realmClientTokenSeconds)
  const payload = { iss: issuer, aud: asking, ...claims, auth_time, iat, exp }
  return signed(payload, { alg: 'RS256', kid: key.kid, typ: 'JWT' }, key)
}

const signed = (
  payload: object,
  header: { readonly alg: string; readonly kid: string; readonly typ: string },
  key: PrivateSigningJwk,
) => new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader(header).sign(key)

/** The session goes on or begins, unless it has ended meanwhile; `asking`: with whom, beside the tenant's application. */
async function recordIssue(
  claims: SessionClaims,
  ctx: KoaContextWithOIDC,
  { clientId, tenant }: TokenIssuer,
  world: RealmWorld,
  asking?: string,
) {
  const { store, sessions, clock } = world
  await untilClaimsIssuable(tenant.tenantId, claims.sub, world)
  // First of all: a revocation that comes from here on names a later second than this
  const iat = nowSeconds(clock)
  const { tenantId } = tenant
  const { sub, sid, auth_time: signedInAt } = claims
  await requireWhatWasAsked(claims, ctx, tenantId, world)
  const code = ctx.oidc.entities.AuthorizationCode
  if (code === undefined) throw new Error('a session token without an authorization code')

  const notBefore = await notBeforeOf(store.read, tenantId, sub, sid)
  if (code.iat < notBefore) throw new errors.InvalidGrant('the session has been revoked')

  const known = await sessions.find(tenantId, sid)
  if (known?.endedAt != null) throw new errors.InvalidGrant('the session has ended')
  const startedAt = known && Math.floor(known.createdAt / SECOND_MS)
  const exp = tokenExpiresAt(iat, { signedInAt, startedAt }, tenant)
  if (exp <= iat) throw new errors.InvalidGrant('the session is over')

  const began = await beganAt(ctx, code.sessionUid, clientId)
  const { ip = '', userAgent = '', deviceId, provenAt = signedInAt, upstream } = began ?? {}
  const issued = { tenantId, sid, userId: sub, ip, userAgent, deviceId, upstream, asking }
  const issuedAtMs = iat * SECOND_MS
  const signedInAtMs = Math.min(signedInAt, code.iat) * SECOND_MS
  const expiresAtMs = exp * SECOND_MS
  try {
    await sessions.record({ ...issued, issuedAtMs, signedInAtMs, expiresAtMs })
  } catch (error) {
    if (error instanceof SessionRevoked) throw new errors.InvalidGrant(error.message)
    throw error
  }
  const begun = { userId: sub, sid }
  if (known === undefined && !(await makeRoom(world, tenantId, begun, requestIdOf(ctx))))
    throw new errors.InvalidGrant('the person has too many sessions')
  return { iat, exp, auth_time: Math.min(signedInAt, provenAt) }
}

/**
 * What is issued before their groups changed says who they were. That is at most the next whole second,
 * so it is waited for; anything longer is a clock that has been set back.
 */
async function untilClaimsIssuable(
  tenantId: string,
  userId: string,
  { store, clock }: Pick<RealmWorld, 'store' | 'clock'>,
) {
  const notBefore = await claimsNotBeforeOf(store.read, tenantId, userId)
  const waitMs = notBefore * SECOND_MS - clock.nowMs()
  if (waitMs > 0 && waitMs <= 2 * SECOND_MS) await sleep(waitMs + TIMER_EARLY_MS)
}

/**
 * The request for a sign-in passes through the browser, which may drop its `acr_values`. So who
 * relies on them says so once more with the code, where nobody else can touch it. As at the sign-in
 * page, nobody can be made to have a factor.
 */
async function requireWhatWasAsked(
  { sub, acr }: SessionClaims,
  { oidc: { body } }: KoaContextWithOIDC,
  tenantId: string,
  { factors }: Pick<RealmWorld, 'factors'>,
) {
  const wish: unknown = body?.acr_values
  if (!wantsSecondFactor(wish) || acr === ACR_SECOND_FACTOR) return
  if ((await factors.kindsOf({ tenantId, userId: sub })).length > 0)
    throw new errors.InvalidGrant('the sign-in has shown less than it was asked for')
}

async function beganAt(ctx: KoaContextWithOIDC, sessionUid: string | undefined, clientId: string) {
  if (sessionUid === undefined) return undefined
  const session = await ctx.oidc.provider.Session.findByUid(sessionUid)
  return session?.authorizations?.[clientId]
}
