/** `/service/callback`: a code becomes a session, or the way goes back to the beginning. */
import {
  clearCookie,
  readCookie,
  SEEN_COOKIE,
  SESSION_COOKIE,
  setCookie,
} from '../../shared/enforcement/cookies.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { writeSeen } from '../../shared/enforcement/seen.ts'
import { isRevoked } from '../../shared/enforcement/session.ts'
import { judgeTimes, proveToken, type TokenClaims } from '../../shared/enforcement/token.ts'
import { answerPage, redirect } from '../answers.ts'
import type { RequestContext } from '../request.ts'
import { reasonOf, type EndpointWorld } from './endpoint-world.ts'
import { flowCookieName, flowCookiePath, flowIdOf, openFlow, type Flow } from './flow.ts'
import { hopsCookie } from './hops.ts'
import { onlyParameter, refuseMethod } from './own-requests.ts'

export async function callback(context: RequestContext, { relyingParty, log }: EndpointWorld) {
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
