/** `/service/login`: on to the realm, with what the callback needs in a cookie of its own. */
import { randomBytes } from 'node:crypto'
import {
  clearCookie,
  flowCookies,
  HOPS_COOKIE,
  setCookie,
} from '../../shared/enforcement/cookies.ts'
import type { SessionVerdict } from '../../shared/enforcement/decide.ts'
import { safeReturnTo } from '../../shared/enforcement/return-to.ts'
import { LIMITS } from '../../shared/limits.ts'
import { REASON_TEXTS } from '../../shared/reasons.ts'
import { answerPage, redirect } from '../answers.ts'
import type { RequestContext } from '../request.ts'
import type { EndpointWorld } from './endpoint-world.ts'
import { flowCookieName, flowCookiePath, newFlowId, sealFlow, type Flow } from './flow.ts'
import { hopsOf } from './hops.ts'
import { isRead, onlyParameter, refuseMethod } from './own-requests.ts'
import type { ProvenSession } from './read-session.ts'

export async function login(context: RequestContext, { sessions, relyingParty }: EndpointWorld) {
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

/** Five of these, a session and the rest of a head must fit into one: a long way back is let go. */
function sealShort(flow: Flow, key: Buffer): string {
  const sealed = sealFlow(flow, key)
  return sealed.length <= LIMITS.flowCookieBytesMax
    ? sealed
    : sealFlow({ ...flow, returnTo: '/' }, key)
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
