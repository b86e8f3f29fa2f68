/**
 * `/service/login`, `/service/callback`, `/service/logout` and `/service/me` on a tenant's own
 * hostname. Whatever goes wrong ends on a page that says what to do, or starts the sign-in anew;
 * never on a 403 and never in a loop.
 */
import {
  clearCookie,
  flowCookies,
  HOPS_COOKIE,
  readCookie,
  SEEN_COOKIE,
  SESSION_COOKIE,
  setCookie,
} from '../../shared/enforcement/cookies.ts'
import type { ServiceEndpoint, SessionVerdict } from '../../shared/enforcement/decide.ts'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { safeReturnTo } from '../../shared/enforcement/return-to.ts'
import { writeSeen } from '../../shared/enforcement/seen.ts'
import { isRevoked } from '../../shared/enforcement/session.ts'
import { judgeTimes, proveToken, type TokenClaims } from '../../shared/enforcement/token.ts'
import { LIMITS } from '../../shared/limits.ts'
import { REASON_TEXTS } from '../../shared/reasons.ts'
import { answer, answerJson, answerPage, redirect } from '../answers.ts'
import type { RequestContext } from '../request.ts'
import { randomBytes } from 'node:crypto'
import {
  flowCookieName,
  flowCookiePath,
  flowIdOf,
  newFlowId,
  openFlow,
  sealFlow,
  type Flow,
} from './flow.ts'
import type { ProvenSession, SessionReader } from './read-session.ts'
import type { RelyingParty } from './relying-party.ts'
import { mePageHtml, PAGE_HEADER_LINES } from '../pages.ts'

export interface EndpointWorld {
  readonly sessions: SessionReader
  readonly relyingParty: RelyingParty
  /** The session ends here and now; the control plane ends it everywhere. */
  endSession(context: RequestContext, claims: TokenClaims, outcome: 'logout'): void
  log: { warn(fields: object, text: string): void }
}

type Handler = (context: RequestContext) => Promise<void> | void

const HOPS_SECONDS = 60

export function createServiceEndpoints(
  world: EndpointWorld,
): (context: RequestContext, endpoint: ServiceEndpoint) => void {
  const handlers: Readonly<Record<ServiceEndpoint, Handler>> = {
    login: (context) => login(context, world),
    callback: (context) => callback(context, world),
    logout: (context) => logout(context, world),
    me: (context) => me(context, world),
  }
  return (context, endpoint) => {
    Promise.try(handlers[endpoint], context).catch((error: unknown) => {
      world.log.warn(
        { reason: reasonOf(error), tenant: context.tenant.tenantId, endpoint },
        'failed',
      )
      unavailable(context)
    })
  }
}

async function login(context: RequestContext, { sessions, relyingParty }: EndpointWorld) {
  const { exchange, tenant } = context
  if (!isRead(exchange.head.method)) return refuseMethod(context, 'GET, HEAD')
  const verdict = sessions.read(context)
  if (hopsOf(exchange.head.cookies) >= LIMITS.signInHopsMax) return loopPage(context, verdict)
  const flowId = newFlowId(context.nowSeconds)
  const state = `${flowId}.${randomBytes(16).toString('base64url')}`
  const reason = verdict.kind === 'invalid' ? verdict.reason : undefined
  if (reason === 'binding_terminate') context.edge.terminate(context)
  const isMoved = reason === 'binding_terminate' || reason === 'binding_step_up'
  const redirectUri = `${context.edgeUrl}/service/callback`
  const start = await relyingParty.start(tenant, { redirectUri, state, isFresh: isMoved })
  const flow = {
    state,
    nonce: start.nonce,
    codeVerifier: start.codeVerifier,
    returnTo: safeReturnTo(onlyParameter(context.query, 'returnTo')),
    startedSeconds: context.nowSeconds,
    isFresh: isMoved,
  }
  const isSecure = context.isCookieSecure
  const path = flowCookiePath(isSecure)
  const cookie = setCookie(flowCookieName(flowId, isSecure), sealShort(flow, tenant.flowKey), {
    path,
    maxAgeSeconds: LIMITS.flowSecondsMax,
    isSecure,
  })
  const surplus = flowCookies(exchange.head.cookies).slice(0, -(LIMITS.flowCookiesMax - 1))
  const cleared = surplus.map(({ name }) => clearCookie(name, isSecure, path))
  redirect(exchange, 302, start.location, [...cleared, cookie])
}

async function callback(context: RequestContext, { relyingParty, log }: EndpointWorld) {
  const { exchange, tenant, nowSeconds } = context
  if (exchange.head.method !== 'GET') return refuseMethod(context, 'GET')
  const state = onlyParameter(context.query, 'state') ?? ''
  const flowId = flowIdOf(state)
  if (flowId === undefined) return startAgain(context)
  const cookieName = flowCookieName(flowId, context.isCookieSecure)
  const sealed = readCookie(exchange.head.cookies, cookieName)
  const flow = typeof sealed === 'string' ? openFlow(sealed, tenant.flowKey, nowSeconds) : undefined
  if (flow === undefined || flow.state !== state) return startAgain(context)

  const flowPath = flowCookiePath(context.isCookieSecure)
  const flowCleared = clearCookie(cookieName, context.isCookieSecure, flowPath)
  const error = onlyParameter(context.query, 'error')
  if (error !== undefined) return signInEnded(context, flow.returnTo, [flowCleared])

  let token: string
  try {
    const callbackUrl = `${context.edgeUrl}/service/callback?${context.query}`
    token = await relyingParty.finish(tenant, { callbackUrl, ...flow })
  } catch (failure) {
    log.warn({ reason: reasonOf(failure), tenant: tenant.tenantId }, 'code exchange failed')
    return signInEnded(context, flow.returnTo, [flowCleared])
  }
  const claims = proveToken(token, tenant.trust)
  const problem = typeof claims === 'string' ? claims : problemOf(claims, flow, context)
  if (typeof claims === 'string' || problem !== undefined) {
    log.warn({ reason: problem, tenant: tenant.tenantId }, 'issued token refused')
    return signInEnded(context, flow.returnTo, [flowCleared])
  }
  redirect(exchange, 303, flow.returnTo, [
    flowCleared,
    ...sessionCookies(context, token, claims),
    hopsCookie(context),
  ])
}

/** Five of these, a session and the rest of a head must fit into one: a long way back is let go. */
function sealShort(flow: Flow, key: Buffer): string {
  const sealed = sealFlow(flow, key)
  return sealed.length <= LIMITS.flowCookieBytesMax
    ? sealed
    : sealFlow({ ...flow, returnTo: '/' }, key)
}

/** A token fresh from the realm is judged like any other, so that what we set will also be taken. */
function problemOf(claims: TokenClaims, flow: Flow, context: RequestContext): string | undefined {
  // whoever dropped `prompt=login` on the way to the realm comes back with an old sign-in
  if (flow.isFresh && claims.authTime < flow.startedSeconds) return 'not_fresh'
  const { sessionSecondsMax } = context.tenant.sessionRules
  const nowSeconds = Math.floor(context.clock.nowMs() / 1000)
  if (isRevoked(claims, context.revoked)) return 'revoked'
  return judgeTimes(claims, nowSeconds, sessionSecondsMax)
}

function sessionCookies(context: RequestContext, token: string, claims: TokenClaims): string[] {
  const { tenant, clientAddress, exchange, isCookieSecure: isSecure } = context
  const nowSeconds = Math.floor(context.clock.nowMs() / 1000)
  const fingerprint = fingerprintOf(exchange.head.userAgent, clientAddress)
  const maxAgeSeconds = Math.max(1, claims.exp - nowSeconds)
  const seen = writeSeen({ seconds: nowSeconds, fingerprint }, claims.sid, tenant.seenKey)
  return [
    setCookie(SESSION_COOKIE, token, { maxAgeSeconds, isSecure }),
    setCookie(SEEN_COOKIE, seen, { maxAgeSeconds, isSecure }),
  ]
}

async function logout(context: RequestContext, world: EndpointWorld) {
  const { exchange, tenant } = context
  const { method, secFetchSite } = exchange.head
  if (method !== 'GET' && method !== 'POST') return refuseMethod(context, 'GET, POST')
  // another site can make a browser come here; ending a session needs the person
  const isImage = method === 'GET' && secFetchSite === '' && !isNavigation(exchange.head)
  if (secFetchSite === 'cross-site' || isImage) return confirmLogout(context)
  const cleared = [SESSION_COOKIE, SEEN_COOKIE, HOPS_COOKIE].map((name) =>
    clearCookie(name, context.isCookieSecure),
  )
  const session = world.sessions.claimsOf(context)
  if (session === undefined) return signedOut(context, cleared)
  world.endSession(context, session.claims, 'logout')
  try {
    const location = await world.relyingParty.endSessionLocation(tenant, {
      idToken: session.token,
      returnUrl: `${context.edgeUrl}/`,
    })
    redirect(exchange, 303, location, cleared)
  } catch (error) {
    world.log.warn({ reason: reasonOf(error), tenant: tenant.tenantId }, 'realm logout not reached')
    signedOut(context, cleared)
  }
}

function me(context: RequestContext, { sessions }: EndpointWorld) {
  const { exchange, tenant } = context
  if (!isRead(exchange.head.method)) return refuseMethod(context, 'GET, HEAD')
  const verdict = sessions.read(context)
  if (verdict.kind === 'invalid') return context.signIn(verdict.reason)
  const { claims } = verdict.session
  const signedInAt = new Date(claims.authTime * 1000).toISOString()
  const endsAt = new Date(endOf(claims, context) * 1000).toISOString()
  if (!/\btext\/html\b/i.test(exchange.head.accept))
    return answerJson(exchange, 200, {
      tenant_id: tenant.tenantId,
      user_id: claims.sub,
      sid: claims.sid,
      name: claims.name,
      email: claims.email,
      signed_in_at: signedInAt,
      ends_at: endsAt,
    })
  const { name, email } = claims
  const body = mePageHtml({ application: tenant.name, name, email, signedInAt, endsAt })
  answer(exchange, 200, PAGE_HEADER_LINES, body)
}

function endOf(claims: TokenClaims, context: RequestContext): number {
  return Math.min(claims.exp, claims.iat + context.tenant.sessionRules.sessionSecondsMax)
}

/** An old link, a restart, a cleared cookie: whoever is signed in goes on, others begin anew. */
function startAgain(context: RequestContext) {
  const { exchange } = context
  if (context.readSession().kind === 'valid') return redirect(exchange, 303, '/', [])
  redirect(exchange, 303, '/service/login?returnTo=%2F', [hopsCookie(context)])
}

function signInEnded(context: RequestContext, returnTo: string, cookies: readonly string[]) {
  answerPage(
    context.exchange,
    400,
    {
      title: 'The sign-in was not completed',
      text: 'Nothing is lost. Start again to continue where you wanted to go.',
      code: 'sign_in_incomplete',
      action: {
        href: `/service/login?returnTo=${encodeURIComponent(returnTo)}`,
        label: 'Sign in again',
      },
    },
    [...cookies, hopsCookie(context)].map((cookie) => `Set-Cookie: ${cookie}`),
  )
}

function loopPage(context: RequestContext, verdict: SessionVerdict<ProvenSession>) {
  const reason = verdict.kind === 'invalid' ? verdict.reason : 'no_session'
  const cause =
    reason === 'no_session'
      ? 'Your browser did not keep the session cookie. Allow cookies for this site.'
      : REASON_TEXTS[reason]
  answerPage(
    context.exchange,
    508,
    {
      title: 'Sign-in keeps repeating',
      text: `We stopped it after ${LIMITS.signInHopsMax} rounds. ${cause}`,
      code: reason,
      action: { href: '/service/login', label: 'Try once more' },
    },
    [`Set-Cookie: ${clearCookie(HOPS_COOKIE, context.isCookieSecure)}`],
  )
}

function confirmLogout(context: RequestContext) {
  answerPage(context.exchange, 200, {
    title: 'Sign out?',
    text: `Another site asked to sign you out of ${context.tenant.name}.`,
    code: 'confirm_logout',
    form: { action: '/service/logout', label: 'Sign out' },
  })
}

function signedOut(context: RequestContext, cookies: readonly string[]) {
  answerPage(
    context.exchange,
    200,
    {
      title: 'You are signed out',
      text: `Your session of ${context.tenant.name} has ended.`,
      code: 'signed_out',
      action: { href: '/', label: 'Sign in again' },
    },
    cookies.map((cookie) => `Set-Cookie: ${cookie}`),
  )
}

function unavailable(context: RequestContext) {
  answerPage(
    context.exchange,
    503,
    {
      title: 'Sign-in is not available right now',
      text: 'Please try again in a moment. Who is signed in already stays signed in.',
      code: 'sign_in_unavailable',
      action: { href: '/', label: 'Try again' },
    },
    ['Retry-After: 5'],
  )
}

function refuseMethod(context: RequestContext, allow: string) {
  const body = { error: 'method_not_allowed', detail: `This address takes ${allow}.` }
  answerJson(context.exchange, 405, body, [`Allow: ${allow}`])
}

/** How often a sign-in has just been completed without a request that was then let through. */
function hopsOf(cookies: string): number {
  const value = readCookie(cookies, HOPS_COOKIE)
  return typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0
}

function hopsCookie(context: RequestContext): string {
  const hops = hopsOf(context.exchange.head.cookies) + 1
  const isSecure = context.isCookieSecure
  return setCookie(HOPS_COOKIE, String(hops), { maxAgeSeconds: HOPS_SECONDS, isSecure })
}

/** A parameter that is given twice is given by nobody (CVE-2026-9689). */
function onlyParameter(query: string, name: string): string | undefined {
  const values = new URLSearchParams(query).getAll(name)
  return values.length === 1 ? values[0] : undefined
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Codes and messages of libraries, never tokens: openid-client puts neither into its errors. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message
}
