/** What somebody meets who is not let through: a page for people, JSON for programs. */
import type { RefusedStatus } from '../enforcement/decide.ts'
import { isNavigation, type NavigationFacts } from '../enforcement/navigation.ts'
import { pathOf } from '../enforcement/path.ts'
import { safeReturnTo } from '../enforcement/return-to.ts'
import {
  codeOf,
  MACHINE_REASONS,
  MACHINE_TOKEN_REASONS,
  REFUSE_REASONS,
  type MachineReason,
  type MachineTokenReason,
  type RefuseReason,
  type SignInReason,
} from '../reasons.ts'
import type { AllowClause } from '../fleet/access-rules.ts'
import { cookieLines, htmlAnswer, jsonAnswer, redirection, type Answer } from './answer.ts'
import { clearedVariants } from './stray-sessions.ts'
import { pageHtml } from './pages.ts'
import { SECOND_FACTOR } from './relying-party.ts'
import { STEP_UP, type ServiceRequest } from './service-request.ts'
import { english } from './texts/english.ts'
import { inEveryLanguage, spokenBy, TEXTS, type Speaker } from './texts/languages.ts'

type Asker = Pick<ServiceRequest, 'tenant' | 'edgeUrl' | 'cookies' | 'isCookieSecure'> & {
  /** With the path and query of the request. */
  readonly head: NavigationFacts & { readonly target: string }
}

/** A person is sent to sign in and comes back here; a program gets a 401 that it can read. */
export function signInRequired(ask: Asker, reason: SignInReason, maxAge?: number): Answer {
  const isStepUp = reason === 'strength_missing'
  const cookies = reason === 'session_repeated' ? clearedVariants(ask, pathOf(ask.head.target)) : []
  if (isNavigation(ask.head)) {
    const returnTo = encodeURIComponent(safeReturnTo(ask.head.target))
    return redirection(
      302,
      `/service/login?returnTo=${returnTo}${isStepUp ? `&${STEP_UP}=1` : ''}`,
      cookies,
    )
  }
  const body = {
    error: 'sign_in_required',
    detail: english.reasons[reason],
    reason,
    login_url: `${ask.edgeUrl}/service/login${isStepUp ? `?${STEP_UP}=1` : ''}`,
    ...(isStepUp && { acr_values: SECOND_FACTOR, max_age: maxAge }),
  }
  const challenge = isStepUp
    ? insufficient(maxAge)
    : `WWW-Authenticate: Session realm="${ask.tenant.tenantId}"`
  return jsonAnswer(401, body, [challenge, ...cookieLines(cookies)])
}

/** RFC 9470: which proof a client has to bring. */
function insufficient(maxAge: number | undefined): string {
  const age = maxAge === undefined ? '' : `, max_age="${maxAge}"`
  const why = 'error_description="A different authentication level is required"'
  return `WWW-Authenticate: Bearer error="insufficient_user_authentication", ${why}, acr_values="${SECOND_FACTOR}"${age}`
}

function ofEach<Made>(make: (reason: RefuseReason) => Made): Readonly<Record<RefuseReason, Made>> {
  const made = REFUSE_REASONS.map((reason) => [reason, make(reason)])
  return Object.fromEntries(made) as Record<RefuseReason, Made>
}

/** A refusal says nothing of its request, so it is made once; so many arrive with a scan. */
const PAGES = inEveryLanguage((texts, language) =>
  ofEach((reason) => pageHtml({ ...texts.refusals[reason], language, code: codeOf(reason) })),
)
const MACHINE_CODES: Readonly<Partial<Record<MachineReason, string>>> = {
  machine_not_allowed: 'access_denied',
  machine_rate_limited: 'rate_limited',
  machine_token_ambiguous: 'invalid_request',
  machine_token_invalid: 'invalid_token',
  machine_token_expired: 'invalid_token',
  machine_token_revoked: 'invalid_token',
}
/** RFC 6750 3: what is wrong with the token, for clients that read no body. */
const TOKEN_FAULTS: Readonly<Record<MachineTokenReason, string>> = {
  machine_token_ambiguous: 'The request names more than one sender',
  machine_token_invalid: 'The token is not a valid access token of a machine',
  machine_token_expired: 'The token has expired',
  machine_token_revoked: 'The token has been revoked',
}
const DETAILS = ofEach((reason) => ({
  error: codeOf(reason),
  detail: english.refusals[reason].text,
}))

/** RFC 6749 5.2. Whoever sends credentials of a machine is one, whatever else it says. */
const OF_MACHINES: Readonly<Record<string, Record<string, unknown>>> = Object.fromEntries(
  MACHINE_REASONS.map((reason) => {
    const error = MACHINE_CODES[reason] ?? 'invalid_client'
    return [reason, { error, detail: english.refusals[reason].text, reason }]
  }),
)
const MACHINE_LINES: Readonly<Partial<Record<RefusedStatus, readonly string[]>>> = {
  401: ['WWW-Authenticate: Service-Client'],
  429: ['Retry-After: 5'],
}
const TOKEN_LINES: Readonly<Partial<Record<string, readonly string[]>>> = Object.fromEntries(
  MACHINE_TOKEN_REASONS.map((reason) => {
    const fault = `error="${MACHINE_CODES[reason]}", error_description="${TOKEN_FAULTS[reason]}"`
    return [reason, [`WWW-Authenticate: Bearer ${fault}`]]
  }),
)

/** By access rules. */
export interface Denied {
  /** The clauses of which one would have opened the path. */
  readonly ways: readonly AllowClause[]
  /** Whom to ask for access. */
  readonly contact: string | undefined
  /** Of what was asked for, without its query. */
  readonly url: string
}

export const COME_BACK: readonly string[] = ['Retry-After: 5']
const NO_LINES: readonly string[] = []

export function refusal(
  asker: Speaker & { readonly head: NavigationFacts },
  reason: RefuseReason,
  status: RefusedStatus,
  denied?: Denied,
): Answer {
  if (denied !== undefined) return accessDenied(asker, denied)
  const ofMachine = OF_MACHINES[reason]
  if (ofMachine !== undefined)
    return jsonAnswer(status, ofMachine, TOKEN_LINES[reason] ?? MACHINE_LINES[status] ?? NO_LINES)
  const lines = status === 503 ? COME_BACK : NO_LINES
  return isNavigation(asker.head)
    ? htmlAnswer(status, PAGES[spokenBy(asker)][reason], lines)
    : jsonAnswer(status, DETAILS[reason], lines)
}

/** Whoever is signed in and may not open this is told what it takes, and whom to ask. */
function accessDenied(
  asker: Speaker & { readonly head: NavigationFacts },
  { ways, contact, url }: Denied,
): Answer {
  const language = spokenBy(asker)
  const { title, text } = TEXTS[language].refusals.rule_denied
  if (!isNavigation(asker.head))
    return jsonAnswer(
      403,
      { ...DETAILS.rule_denied, missing: ways, ...(contact !== undefined && { contact }) },
      NO_LINES,
    )
  const { askForAccess, accessTo, accessWays } = TEXTS[language]
  const action =
    contact === undefined
      ? {}
      : { action: { href: hrefOf(contact, accessTo(url)), label: askForAccess } }
  const needed = [...new Set(ways.map((way) => TEXTS[language].accessNeeded(way)))]
  const told = needed.length === 0 ? text : `${text} ${accessWays}`
  const page = { title, text: told, language, code: 'rule_denied', needed, ...action }
  return htmlAnswer(403, pageHtml(page), NO_LINES)
}

/** A mail that says already what it is about; an address of the web is gone to as it is. */
const hrefOf = (contact: string, subject: string): string =>
  contact.startsWith('https:')
    ? contact
    : `mailto:${contact}?subject=${encodeURIComponent(subject)}`

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
