/** `/service/callback`: a code becomes a session, or the way goes back to the beginning. */
import { nowSeconds } from '../clock.ts'
import { clearCookie, readCookie, SESSION_COOKIE, setCookie } from '../enforcement/cookies.ts'
import { seenCookie } from '../enforcement/companions.ts'
import { fingerprintOf } from '../enforcement/fingerprint.ts'
import { writeSeen } from '../enforcement/seen.ts'
import { isRevoked } from '../enforcement/session.ts'
import { judgeTimes, proveToken, type TokenClaims } from '../enforcement/token.ts'
import { cookieLines, pageAnswer, redirection, type Answer } from './answer.ts'
import { methodRefused } from './bad-request.ts'
import { flowCookieName, flowCookiePath, flowIdOf, openFlow, type Flow } from './flow.ts'
import { hopsCookie } from './hops.ts'
import { COME_BACK } from './refusals.ts'
import { othersCleared } from './stray-sessions.ts'
import { spokenBy, TEXTS } from './texts/languages.ts'
import { isRealmAway } from './relying-party.ts'
import {
  hasParameter,
  onlyParameter,
  reasonOf,
  type SignInWorld,
  type ServiceRequest,
} from './service-request.ts'

export async function callback<V extends ServiceRequest>(
  request: V,
  world: SignInWorld<V>,
): Promise<Answer> {
  const { tenant, query, isCookieSecure: isSecure } = request
  const { relyingParty, callbacks, log } = world
  if (request.head.method !== 'GET') return methodRefused(request, 'GET')
  const state = onlyParameter(query, 'state') ?? ''
  const flowId = flowIdOf(state)
  if (flowId === undefined) return startAgain(request, world)
  const cookieName = flowCookieName(flowId, isSecure)
  const sealed = readCookie(request.cookies, cookieName)
  const flow =
    typeof sealed === 'string' ? openFlow(sealed, tenant.flowKeys, request.nowSeconds) : undefined
  if (flow === undefined || flow.state !== state) return startAgain(request, world)

  const flowCleared = clearCookie(cookieName, isSecure, flowCookiePath(isSecure))
  if (callbacks.isUsed(flow.state)) return startAgain(request, world, [flowCleared])
  const waitSeconds = hasCode(query) ? callbacks.waitSeconds(request.clientAddress) : undefined
  if (waitSeconds !== undefined) return tooManySignIns(request, waitSeconds)
  callbacks.use(flow.state)
  if (!hasCode(query)) return signInEnded(request, flow.returnTo, [flowCleared])

  let token: string
  try {
    const callbackUrl = `${request.edgeUrl}/service/callback?${query}`
    const { traceparent } = request
    token = await relyingParty.finish(tenant, { callbackUrl, traceparent, ...flow })
  } catch (failure) {
    log.warn({ reason: reasonOf(failure), tenant_id: tenant.tenantId }, 'code exchange failed')
    return signInEnded(request, flow.returnTo, [flowCleared], isRealmAway(failure))
  }
  const claims = proveToken(token, tenant.trust)
  const problem = typeof claims === 'string' ? claims : problemOf(claims, flow, request, world)
  if (typeof claims === 'string' || problem !== undefined) {
    log.warn({ reason: problem, tenant_id: tenant.tenantId }, 'issued token refused')
    return signInEnded(request, flow.returnTo, [flowCleared])
  }
  return redirection(303, flow.returnTo, [
    flowCleared,
    ...othersCleared(request),
    ...sessionCookies(request, world, token, claims),
    hopsCookie(request),
  ])
}

/** Else the realm is asked for nothing, and nothing of what its address may ask for is used up. */
function hasCode(query: string): boolean {
  return !hasParameter(query, 'error') && onlyParameter(query, 'code') !== undefined
}

/** A token fresh from the realm is judged like any other, so that what we set will also be taken. */
function problemOf(
  claims: TokenClaims,
  flow: Flow,
  { tenant, revoked }: ServiceRequest,
  { clock }: Pick<SignInWorld, 'clock'>,
): string | undefined {
  // whoever dropped `prompt=login` on the way to the realm comes back with an old sign-in
  if (flow.isFresh && claims.authTime < flow.startedSeconds) return 'not_fresh'
  if (isRevoked(claims, revoked)) return 'revoked'
  return judgeTimes(claims, nowSeconds(clock), tenant.sessionRules.sessionSecondsMax)
}

function sessionCookies(
  request: ServiceRequest,
  { clock }: Pick<SignInWorld, 'clock'>,
  token: string,
  claims: TokenClaims,
): string[] {
  const { tenant, clientAddress, userAgent, isCookieSecure: isSecure } = request
  const seconds = nowSeconds(clock)
  const fingerprint = fingerprintOf(userAgent, clientAddress)
  const maxAgeSeconds = Math.max(1, claims.exp - seconds)
  const seen = writeSeen({ seconds, fingerprint }, claims.sid, tenant.seenKeys[0])
  return [
    setCookie(SESSION_COOKIE, token, { maxAgeSeconds, isSecure }),
    seenCookie(seen, maxAgeSeconds, isSecure),
  ]
}

/** An old link, a restart, a cleared cookie: whoever is signed in goes on, others begin anew. */
function startAgain(
  request: ServiceRequest,
  { sessions }: Pick<SignInWorld, 'sessions'>,
  cookies: readonly string[] = [],
): Answer {
  if (sessions.read(request).kind === 'valid') return redirection(303, '/', cookies)
  return redirection(303, '/service/login?returnTo=%2F', [...cookies, hopsCookie(request)])
}

/** The flow is not used by that, so the same address can be asked again. */
function tooManySignIns(request: ServiceRequest, waitSeconds: number): Answer {
  const language = spokenBy(request)
  const page = { ...TEXTS[language].tooManySignIns, language, code: 'rate_limited' }
  return pageAnswer(429, page, [`Retry-After: ${waitSeconds}`])
}

function signInEnded(
  request: ServiceRequest,
  returnTo: string,
  cookies: readonly string[],
  isAway = false,
): Answer {
  const language = spokenBy(request)
  const texts = TEXTS[language]
  return pageAnswer(
    isAway ? 503 : 400,
    {
      ...(isAway ? texts.signInUnavailable : texts.signInIncomplete),
      language,
      code: isAway ? 'sign_in_unavailable' : 'sign_in_incomplete',
      action: {
        href: `/service/login?returnTo=${encodeURIComponent(returnTo)}`,
        label: texts.signInAgain,
      },
    },
    [...cookieLines([...cookies, hopsCookie(request)]), ...(isAway ? COME_BACK : [])],
  )
}
