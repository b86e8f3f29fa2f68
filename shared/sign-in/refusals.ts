/** What somebody meets who is not let through: a page for people, JSON for programs. */
import { isNavigation, type NavigationFacts } from '../enforcement/navigation.ts'
import { pathOf } from '../enforcement/path.ts'
import { safeReturnTo } from '../enforcement/return-to.ts'
import { REASON_TEXTS, REFUSAL_TEXTS, type RefuseReason, type SignInReason } from '../reasons.ts'
import { cookieLines, jsonAnswer, pageAnswer, redirection, type Answer } from './answer.ts'
import { clearedVariants } from './stray-sessions.ts'
import type { ServiceRequest } from './service-request.ts'

type Asker = Pick<ServiceRequest, 'tenant' | 'edgeUrl' | 'cookies' | 'isCookieSecure'> & {
  /** With the path and query of the request. */
  readonly head: NavigationFacts & { readonly target: string }
}

/** A person is sent to sign in and comes back here; a program gets a 401 that it can read. */
export function signInRequired(ask: Asker, reason: SignInReason): Answer {
  const cookies = reason === 'session_repeated' ? clearedVariants(ask, pathOf(ask.head.target)) : []
  if (isNavigation(ask.head)) {
    const returnTo = encodeURIComponent(safeReturnTo(ask.head.target))
    return redirection(302, `/service/login?returnTo=${returnTo}`, cookies)
  }
  const body = {
    error: 'sign_in_required',
    detail: REASON_TEXTS[reason],
    reason,
    login_url: `${ask.edgeUrl}/service/login`,
  }
  const challenge = `WWW-Authenticate: Session realm="${ask.tenant.tenantId}"`
  return jsonAnswer(401, body, [challenge, ...cookieLines(cookies)])
}

export function refusal(
  head: NavigationFacts,
  reason: RefuseReason,
  status: 400 | 403 | 404 | 503,
): Answer {
  const lines = status === 503 ? ['Retry-After: 5'] : []
  const { code, title, text } = REFUSAL_TEXTS[reason]
  return isNavigation(head)
    ? pageAnswer(status, { title, text, code }, lines)
    : jsonAnswer(status, { error: code, detail: text }, lines)
}

export function signInUnavailable(): Answer {
  return pageAnswer(
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
