/** `/service/login`: on to the realm, with what the callback needs in a cookie of its own. */
import { randomBytes } from 'node:crypto'
import { clearCookie, flowCookies, hopsCookieName, setCookie } from '../enforcement/cookies.ts'
import { safeReturnTo } from '../enforcement/return-to.ts'
import { LIMITS } from '../limits.ts'
import type { SignInReason } from '../reasons.ts'
import { pageAnswer, redirection, type Answer } from './answer.ts'
import { methodRefused } from './bad-request.ts'
import { flowCookieName, flowCookiePath, newFlowId, sealFlow, type Flow } from './flow.ts'
import { hopsOf } from './hops.ts'
import { sessionEndedOf } from './session-ended.ts'
import { strayCleared } from './stray-sessions.ts'
import { spokenBy, TEXTS } from './texts/languages.ts'
import {
  isRead,
  onlyParameter,
  STEP_UP,
  terminate,
  type SignInWorld,
  type ServiceRequest,
} from './service-request.ts'

export async function login<V extends ServiceRequest>(
  request: V,
  world: SignInWorld<V>,
): Promise<Answer> {
  const { tenant, cookies, isCookieSecure: isSecure } = request
  if (!isRead(request.head.method)) return methodRefused(request, 'GET, HEAD')
  const verdict = world.sessions.read(request)
  const reason = verdict.kind === 'invalid' ? verdict.reason : undefined
  if (hopsOf(request) >= LIMITS.signInHopsMax) return loopPage(request, reason ?? 'no_session')
  if (tenant.isSignInBlocked)
    return reason === undefined ? redirection(303, returnToOf(request)) : signInBlocked(request)
  const flowId = newFlowId(request.nowSeconds)
  const state = `${flowId}.${randomBytes(16).toString('base64url')}`
  if (reason === 'binding_terminate') terminate(request, world)
  const isMoved = reason === 'binding_terminate' || reason === 'binding_step_up'
  const isFresh = isMoved || onlyParameter(request.query, STEP_UP) === '1'
  const redirectUri = `${request.edgeUrl}/service/callback`
  const sessionEnded = sessionEndedOf(request, reason)
  const asked = { redirectUri, state, isFresh, sessionEnded }
  const start = await world.relyingParty.start(tenant, asked)
  const flow = {
    state,
    nonce: start.nonce,
    codeVerifier: start.codeVerifier,
    returnTo: returnToOf(request),
    startedSeconds: request.nowSeconds,
    isFresh,
  }
  const path = flowCookiePath(isSecure)
  const cookie = setCookie(flowCookieName(flowId, isSecure), sealShort(flow, tenant.flowKeys[0]), {
    path,
    maxAgeSeconds: LIMITS.flowSecondsMax,
    isSecure,
  })
  // as many as a browser has of a host, in a few sign-ins
  const surplus = flowCookies(cookies)
    .slice(0, -(LIMITS.flowCookiesMax - 1))
    .slice(0, LIMITS.strayCookiesMax)
  const cleared = surplus.map(({ name }) => clearCookie(name, isSecure, path))
  return redirection(302, start.location, [...strayCleared(request), ...cleared, cookie])
}

const returnToOf = ({ query }: ServiceRequest) => safeReturnTo(onlyParameter(query, 'returnTo'))

function signInBlocked(request: ServiceRequest): Answer {
  const language = spokenBy(request)
  const { title, text } = TEXTS[language].signInBlocked
  const page = { language, title, text: text(request.tenant.name), code: 'licence_blocked' }
  return pageAnswer(403, page)
}

/** Five of these, a session and the rest of a head must fit into one: a long way back is let go. */
function sealShort(flow: Flow, key: Buffer): string {
  const sealed = sealFlow(flow, key)
  return sealed.length <= LIMITS.flowCookieBytesMax
    ? sealed
    : sealFlow({ ...flow, returnTo: '/' }, key)
}

function loopPage(request: ServiceRequest, reason: SignInReason): Answer {
  const { isCookieSecure } = request
  const language = spokenBy(request)
  const { reasons, signInLoop, tryAgain } = TEXTS[language]
  const cause = reason === 'no_session' ? signInLoop.noCookie : reasons[reason]
  return pageAnswer(
    508,
    {
      language,
      title: signInLoop.title,
      text: signInLoop.text(LIMITS.signInHopsMax, cause),
      code: reason,
      action: { href: '/service/login', label: tryAgain },
    },
    [`Set-Cookie: ${clearCookie(hopsCookieName(isCookieSecure), isCookieSecure)}`],
  )
}
