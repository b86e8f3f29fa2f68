/** `/service/logout`: here at once, everywhere soon, and at the realm if it can be reached. */
import {
  clearCookie,
  hopsCookieName,
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
import { reasonOf, type SignInWorld, type Visit } from './visit.ts'

export async function logout<V extends Visit>(visit: V, world: SignInWorld<V>): Promise<Answer> {
  const { head, tenant } = visit
  const { method } = head
  if (method !== 'GET' && method !== 'POST') return methodRefused('GET, POST')
  if (!isLogoutMeant(visit)) return confirmLogout(visit)
  const { isCookieSecure: isSecure } = visit
  const names = [SESSION_COOKIE, seenCookieName(isSecure), hopsCookieName(isSecure)]
  const own = names.map((name) => clearCookie(name, isSecure))
  const cleared = [...own, ...strayCleared(visit)]
  const session = world.sessions.claimsOf(visit)
  if (session === undefined) return signedOut(visit, cleared)
  // who is out already, a moment or a year ago, is not put out again with every request
  if (!isOver(session.claims, visit)) world.endSession(visit, session.claims, 'logout')
  try {
    const location = await world.relyingParty.endSessionLocation(tenant, {
      idToken: session.token,
      returnUrl: `${visit.edgeUrl}/`,
    })
    return redirection(303, location, cleared)
  } catch (error) {
    world.log.warn({ reason: reasonOf(error), tenant: tenant.tenantId }, 'realm logout not reached')
    return signedOut(visit, cleared)
  }
}

function isOver(claims: TokenClaims, { tenant, revoked, nowSeconds }: Visit): boolean {
  const { sessionSecondsMax } = tenant.sessionRules
  return (
    isRevoked(claims, revoked) || judgeTimes(claims, nowSeconds, sessionSecondsMax) !== undefined
  )
}

/** The form has to say where it comes from, so its page lets the browser say so. */
function confirmLogout(visit: Visit): Answer {
  const { language, texts } = spokenTo(visit)
  const { title, ask, button } = texts
  const body = pageHtml({
    language,
    title,
    text: ask(visit.tenant.name),
    code: 'confirm_logout',
    form: { action: '/service/logout', label: button },
  })
  return { status: 200, headerLines: FORM_PAGE_HEADER_LINES, body }
}

function signedOut(visit: Visit, cookies: readonly string[]): Answer {
  const { language, texts } = spokenTo(visit)
  const page = {
    language,
    title: texts.done,
    text: texts.ended(visit.tenant.name),
    code: 'signed_out',
    action: { href: '/', label: texts.again },
  }
  return pageAnswer(200, page, cookieLines(cookies))
}

function spokenTo(visit: Visit) {
  const language = languageOf(visit.header('accept-language').join())
  return { language, texts: TEXTS[language] }
}

interface LogoutTexts {
  readonly title: string
  readonly ask: (application: string) => string
  readonly button: string
  readonly done: string
  readonly ended: (application: string) => string
  readonly again: string
}

const TEXTS: Readonly<Record<Language, LogoutTexts>> = {
  en: {
    title: 'Sign out?',
    ask: (application) => `Confirm that you want to sign out of ${application}.`,
    button: 'Sign out',
    done: 'You are signed out',
    ended: (application) => `Your session of ${application} has ended.`,
    again: 'Sign in again',
  },
  de: {
    title: 'Abmelden?',
    ask: (application) =>
      `Bitte bestätigen Sie, dass Sie sich von ${application} abmelden möchten.`,
    button: 'Abmelden',
    done: 'Sie sind abgemeldet',
    ended: (application) => `Ihre Sitzung bei ${application} ist beendet.`,
    again: 'Wieder anmelden',
  },
}
