/** What somebody meets who is not let through: a page for people, JSON for programs. */
import { isNavigation, type NavigationFacts } from '../enforcement/navigation.ts'
import { pathOf } from '../enforcement/path.ts'
import { safeReturnTo } from '../enforcement/return-to.ts'
import { codeOf, REFUSE_REASONS, type RefuseReason, type SignInReason } from '../reasons.ts'
import { cookieLines, htmlAnswer, jsonAnswer, redirection, type Answer } from './answer.ts'
import { clearedVariants } from './stray-sessions.ts'
import { pageHtml } from './pages.ts'
import type { ServiceRequest } from './service-request.ts'
import { english } from './texts/english.ts'
import { inEveryLanguage, spokenBy, type Speaker } from './texts/languages.ts'

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
    detail: english.reasons[reason],
    reason,
    login_url: `${ask.edgeUrl}/service/login`,
  }
  const challenge = `WWW-Authenticate: Session realm="${ask.tenant.tenantId}"`
  return jsonAnswer(401, body, [challenge, ...cookieLines(cookies)])
}

function ofEach<Made>(make: (reason: RefuseReason) => Made): Readonly<Record<RefuseReason, Made>> {
  const made = REFUSE_REASONS.map((reason) => [reason, make(reason)])
  return Object.fromEntries(made) as Record<RefuseReason, Made>
}

/** A refusal says nothing of its request, so it is made once; so many arrive with a scan. */
const PAGES = inEveryLanguage((texts, language) =>
  ofEach((reason) => pageHtml({ ...texts.refusals[reason], language, code: codeOf(reason) })),
)
const DETAILS = ofEach((reason) => ({
  error: codeOf(reason),
  detail: english.refusals[reason].text,
}))

export const COME_BACK: readonly string[] = ['Retry-After: 5']
const NO_LINES: readonly string[] = []

export function refusal(
  asker: Speaker & { readonly head: NavigationFacts },
  reason: RefuseReason,
  status: 400 | 403 | 404 | 503,
): Answer {
  const lines = status === 503 ? COME_BACK : NO_LINES
  return isNavigation(asker.head)
    ? htmlAnswer(status, PAGES[spokenBy(asker)][reason], lines)
    : jsonAnswer(status, DETAILS[reason], lines)
}

const UNAVAILABLE = inEveryLanguage(({ signInUnavailable: said, tryAgain }, language) =>
  pageHtml({
    ...said,
    language,
    code: 'sign_in_unavailable',
    action: { href: '/', label: tryAgain },
  }),
)

export function signInUnavailable(asker: Speaker): Answer {
  return htmlAnswer(503, UNAVAILABLE[spokenBy(asker)], COME_BACK)
}
