/** `/service/logout`: here at once, everywhere soon, and at the realm if it can be reached. */
import {
  clearCookie,
  hopsCookieName,
  readCookie,
  REPEATED,
  seenCookieName,
  SESSION_COOKIE,
} from '../enforcement/cookies.ts'
import { isRevoked } from '../enforcement/session.ts'
import { judgeTimes, type TokenClaims } from '../enforcement/token.ts'
import { cookieLines, pageAnswer, redirection, type Answer } from './answer.ts'
import { methodRefused } from './bad-request.ts'
import { isLogoutMeant } from './logout-intent.ts'
import { SIGNED_OUT, signedOutUrl } from './signed-out-url.ts'
import { FORM_PAGE_HEADER_LINES, pageHtml } from './pages.ts'
import { strayCleared } from './stray-sessions.ts'
import { isRead, reasonOf, type SignInWorld, type ServiceRequest } from './service-request.ts'
import { spokenBy, TEXTS } from './texts/languages.ts'

export async function logout<V extends ServiceRequest>(
  request: V,
  world: SignInWorld<V>,
): Promise<Answer> {
  const { head, tenant } = request
  const { method } = head
  if (method !== 'GET' && method !== 'POST') return methodRefused(request, 'GET, POST')
  if (isBackFromRealm(request, world)) return signedOut(request, [])
  if (!isLogoutMeant(request)) return confirmLogout(request)
  const { isCookieSecure: isSecure } = request
  const names = [SESSION_COOKIE, seenCookieName(isSecure), hopsCookieName(isSecure)]
  const own = names.map((name) => clearCookie(name, isSecure))
  const cleared = [...own, ...strayCleared(request)]
  // whoever holds a token may end it, so of several all end: none is left to whoever knows it
  const sessions = world.sessions.allOf(request)
  const isUnproven =
    sessions.length === 0 && readCookie(request.cookies, SESSION_COOKIE) === REPEATED
  if (sessions.length === 0 && !isUnproven) return signedOut(request, cleared)
  // who is out already, a moment or a year ago, is not put out again with every request
  for (const { claims } of sessions)
    if (!isOver(claims, request)) world.endSession(request, claims, 'logout')
  try {
    const location = await world.relyingParty.endSessionLocation(tenant, {
      idToken: sessions.find(({ isOwn }) => isOwn)?.token,
      returnUrl: signedOutUrl(request.edgeUrl),
    })
    return redirection(303, location, cleared)
  } catch (error) {
    world.log.warn(
      { reason: reasonOf(error), tenant_id: tenant.tenantId },
      'realm logout not reached',
    )
    return isUnproven ? notSignedOut(request) : signedOut(request, cleared)
  }
}

/** Signed out here and at the realm; who has signed in anew since is asked like everybody. */
function isBackFromRealm<V extends ServiceRequest>(request: V, { sessions }: SignInWorld<V>) {
  return (
    isRead(request.head.method) &&
    request.query === SIGNED_OUT &&
    readCookie(request.cookies, SESSION_COOKIE) !== REPEATED &&
    sessions.allOf(request).length === 0
  )
}

function isOver(claims: TokenClaims, { tenant, revoked, nowSeconds }: ServiceRequest): boolean {
  const { sessionSecondsMax } = tenant.sessionRules
  return (
    isRevoked(claims, revoked) || judgeTimes(claims, nowSeconds, sessionSecondsMax) !== undefined
  )
}

/** The form has to say where it comes from, so its page lets the browser say so. */
function confirmLogout(request: ServiceRequest): Answer {
  const language = spokenBy(request)
  const { signOutAsk, signOut } = TEXTS[language]
  const body = pageHtml({
    language,
    title: signOutAsk.title,
    text: signOutAsk.text(request.tenant.name),
    code: 'confirm_logout',
    isCalm: true,
    form: { action: '/service/logout', label: signOut },
  })
  return { status: 200, headerLines: FORM_PAGE_HEADER_LINES, body }
}

function signedOut(request: ServiceRequest, cookies: readonly string[]): Answer {
  const language = spokenBy(request)
  const { signedOut: said, signInAgain } = TEXTS[language]
  const page = {
    language,
    title: said.title,
    text: said.text(request.tenant.name),
    code: 'signed_out',
    isCalm: true,
    action: { href: '/', label: signInAgain },
  }
  return pageAnswer(200, page, cookieLines(cookies))
}

/** The cookies stay, so that the next try finds them. */
function notSignedOut(request: ServiceRequest): Answer {
  const language = spokenBy(request)
  const { notSignedOut: said, signOut } = TEXTS[language]
  return pageAnswer(503, {
    language,
    title: said.title,
    text: said.text(request.tenant.name),
    code: 'sign_out_incomplete',
    action: { href: '/service/logout', label: signOut },
  })
}
