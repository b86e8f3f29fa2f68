/** `/service/login`: on to the realm, with what the callback needs in a cookie of its own. */
import { randomBytes } from 'node:crypto'
import { clearCookie, flowCookies, hopsCookieName, setCookie } from '../enforcement/cookies.ts'
import { safeReturnTo } from '../enforcement/return-to.ts'
import { LIMITS } from '../limits.ts'
import { REASON_TEXTS, type SignInReason } from '../reasons.ts'
import { methodRefused, pageAnswer, redirection, type Answer } from './answer.ts'
import { flowCookieName, flowCookiePath, newFlowId, sealFlow, type Flow } from './flow.ts'
import { hopsOf } from './hops.ts'
import { strayCleared } from './stray-sessions.ts'
import {
  isRead,
  onlyParameter,
  terminate,
  type SignInWorld,
  type ServiceRequest,
} from './service-request.ts'

export async function login<V extends ServiceRequest>(
  request: V,
  world: SignInWorld<V>,
): Promise<Answer> {
  const { tenant, cookies, isCookieSecure: isSecure } = request
  if (!isRead(request.head.method)) return methodRefused('GET, HEAD')
  const verdict = world.sessions.read(request)
  const reason = verdict.kind === 'invalid' ? verdict.reason : undefined
  if (hopsOf(request) >= LIMITS.signInHopsMax) return loopPage(request, reason ?? 'no_session')
  if (tenant.isSignInBlocked)
    return reason === undefined ? redirection(303, returnToOf(request)) : signInBlocked(tenant)
  const flowId = newFlowId(request.nowSeconds)
  const state = `${flowId}.${randomBytes(16).toString('base64url')}`
  if (reason === 'binding_terminate') terminate(request, world)
  const isMoved = reason === 'binding_terminate' || reason === 'binding_step_up'
  const redirectUri = `${request.edgeUrl}/service/callback`
  const start = await world.relyingParty.start(tenant, { redirectUri, state, isFresh: isMoved })
  const flow = {
    state,
    nonce: start.nonce,
    codeVerifier: start.codeVerifier,
    returnTo: returnToOf(request),
    startedSeconds: request.nowSeconds,
    isFresh: isMoved,
  }
  const path = flowCookiePath(isSecure)
  const cookie = setCookie(flowCookieName(flowId, isSecure), sealShort(flow, tenant.flowKeys[0]), {
    path,
    maxAgeSeconds: LIMITS.flowSecondsMax,
    isSecure,
  })
  const surplus = flowCookies(cookies).slice(0, -(LIMITS.flowCookiesMax - 1))
  const cleared = surplus.map(({ name }) => clearCookie(name, isSecure, path))
  return redirection(302, start.location, [...strayCleared(request), ...cleared, cookie])
}

const returnToOf = ({ query }: ServiceRequest) => safeReturnTo(onlyParameter(query, 'returnTo'))

function signInBlocked({ name }: ServiceRequest['tenant']): Answer {
  return pageAnswer(403, {
    title: 'Nobody can sign in at the moment',
    text: `New sign-ins to ${name} are closed. Whoever runs it can tell you more.`,
    code: 'licence_blocked',
  })
}

/** Five of these, a session and the rest of a head must fit into one: a long way back is let go. */
function sealShort(flow: Flow, key: Buffer): string {
  const sealed = sealFlow(flow, key)
  return sealed.length <= LIMITS.flowCookieBytesMax
    ? sealed
    : sealFlow({ ...flow, returnTo: '/' }, key)
}

function loopPage({ isCookieSecure }: ServiceRequest, reason: SignInReason): Answer {
  const cause =
    reason === 'no_session'
      ? 'Your browser did not keep the session cookie. Allow cookies for this site.'
      : REASON_TEXTS[reason]
  return pageAnswer(
    508,
    {
      title: 'Sign-in keeps repeating',
      text: `We stopped it after ${LIMITS.signInHopsMax} rounds. ${cause}`,
      code: reason,
      action: { href: '/service/login', label: 'Try once more' },
    },
    [`Set-Cookie: ${clearCookie(hopsCookieName(isCookieSecure), isCookieSecure)}`],
  )
}
