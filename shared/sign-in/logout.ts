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
import { cookieLines, methodRefused, pageAnswer, redirection, type Answer } from './answer.ts'
import { languageOf, type Language } from './language.ts'
import { isLogoutMeant } from './logout-intent.ts'
import { FORM_PAGE_HEADER_LINES, pageHtml } from './pages.ts'
import { strayCleared } from './stray-sessions.ts'
import { reasonOf, type SignInWorld, type ServiceRequest } from './service-request.ts'

export async function logout<V extends ServiceRequest>(
  request: V,
  world: SignInWorld<V>,
): Promise<Answer> {
  const { head, tenant } = request
  const { method } = head
  if (method !== 'GET' && method !== 'POST') return methodRefused('GET, POST')
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
      returnUrl: `${request.edgeUrl}/`,
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

function isOver(claims: TokenClaims, { tenant, revoked, nowSeconds }: ServiceRequest): boolean {
  const { sessionSecondsMax } = tenant.sessionRules
  return (
    isRevoked(claims, revoked) || judgeTimes(claims, nowSeconds, sessionSecondsMax) !== undefined
  )
}

/** The form has to say where it comes from, so its page lets the browser say so. */
function confirmLogout(request: ServiceRequest): Answer {
  const { language, texts } = spokenTo(request)
  const { title, ask, button } = texts
  const body = pageHtml({
    language,
    title,
    text: ask(request.tenant.name),
    code: 'confirm_logout',
    form: { action: '/service/logout', label: button },
  })
  return { status: 200, headerLines: FORM_PAGE_HEADER_LINES, body }
}

function signedOut(request: ServiceRequest, cookies: readonly string[]): Answer {
  const { language, texts } = spokenTo(request)
  const page = {
    language,
    title: texts.done,
    text: texts.ended(request.tenant.name),
    code: 'signed_out',
    action: { href: '/', label: texts.again },
  }
  return pageAnswer(200, page, cookieLines(cookies))
}

/** The cookies stay, so that the next try finds them. */
function notSignedOut(request: ServiceRequest): Answer {
  const { language, texts } = spokenTo(request)
  return pageAnswer(503, {
    language,
    title: texts.open,
    text: texts.tryAgain(request.tenant.name),
    code: 'sign_out_incomplete',
    action: { href: '/service/logout', label: texts.button },
  })
}

function spokenTo(request: ServiceRequest) {
  const language = languageOf(request.header('accept-language').join())
  return { language, texts: TEXTS[language] }
}

interface LogoutTexts {
  readonly title: string
  readonly ask: (application: string) => string
  readonly button: string
  readonly done: string
  readonly ended: (application: string) => string
  readonly again: string
  readonly open: string
  readonly tryAgain: (application: string) => string
}

const TEXTS: Readonly<Record<Language, LogoutTexts>> = {
  en: {
    title: 'Sign out?',
    ask: (application) => `Confirm that you want to sign out of ${application}.`,
    button: 'Sign out',
    done: 'You are signed out',
    ended: (application) => `Your session of ${application} has ended.`,
    again: 'Sign in again',
    open: 'You may still be signed in',
    tryAgain: (application) =>
      `We could not end your session of ${application}. Please try again in a moment.`,
  },
  de: {
    title: 'Abmelden?',
    ask: (application) =>
      `Bitte bestätigen Sie, dass Sie sich von ${application} abmelden möchten.`,
    button: 'Abmelden',
    done: 'Sie sind abgemeldet',
    ended: (application) => `Ihre Sitzung bei ${application} ist beendet.`,
    again: 'Wieder anmelden',
    open: 'Sie sind vielleicht noch angemeldet',
    tryAgain: (application) =>
      `Wir konnten Ihre Sitzung bei ${application} nicht beenden. Bitte versuchen Sie es gleich noch einmal.`,
  },
}
