/** How a realm answers people and programs: the headers of every answer, pages, refusals. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { Tenant } from '../store/queries/tenants.ts'
import { logoUrlOf } from '../tenants/logo.ts'
import { Refusal } from '../../shared/errors.ts'
import { issuerOf } from '../../shared/issuer.ts'
import { isolateRightToLeft } from '../../shared/right-to-left.ts'
import type { Page, PageNeeds, Place } from './pages/layout.ts'
import { messagePage } from './pages/message-page.ts'
import { STYLE_SOURCE } from './pages/style.ts'
import { english, type MessageKind } from './pages/texts/english.ts'
import { textsFor } from './pages/texts/languages.ts'

export type { MessageKind }

/**
 * No `form-action`: Chromium applies it to every redirect that follows a form, so it would have to
 * name each place that the application itself may send people to after the sign-in.
 */
function contentSecurityPolicy(needs: PageNeeds = {}): string {
  const { styleSource, imageUrl, scriptUrl, connectUrl } = needs
  return [
    "default-src 'none'",
    `style-src ${[STYLE_SOURCE, styleSource].filter((one) => one !== undefined).join(' ')}`,
    ...(imageUrl === undefined ? [] : [`img-src ${withoutQuery(imageUrl)}`]),
    ...(scriptUrl === undefined ? [] : [`script-src ${withoutQuery(scriptUrl)}`]),
    ...(connectUrl === undefined ? [] : [`connect-src ${withoutQuery(connectUrl)}`]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
const POLICY_WITHOUT_NEEDS = contentSecurityPolicy()

/** One address and no other; a policy compares without the query. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** For every answer; the provider sets its own Cache-Control where an answer may be kept. */
export function setSecurityHeaders(response: ServerResponse, isHttps: boolean) {
  if (!response.hasHeader('X-Request-Id')) response.setHeader('X-Request-Id', randomUUID())
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('Content-Security-Policy', POLICY_WITHOUT_NEEDS)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('X-Frame-Options', 'DENY')
  response.setHeader('Referrer-Policy', 'no-referrer')
  if (isHttps) response.setHeader('Strict-Transport-Security', 'max-age=31536000')
}

/**
 * With `no-referrer` browsers send `Origin: null` along with a form, and we want to see where a
 * form comes from. Other sites are told just as little.
 */
export const FORM_PAGE_HEADERS = { 'Referrer-Policy': 'same-origin' } as const

interface Message {
  readonly status: number
  readonly code: string
}

/** What each says is in the tables of texts. */
export const MESSAGES: Readonly<Record<MessageKind, Message>> = {
  unknown: { status: 404, code: 'tenant_not_found' },
  not_found: { status: 404, code: 'not_found' },
  request_wrong: { status: 400, code: 'invalid_request' },
  expired: { status: 410, code: 'sign_in_expired' },
  cookie_missing: { status: 400, code: 'cookie_missing' },
  cross_site: { status: 403, code: 'cross_site_form' },
  link_gone: { status: 410, code: 'link_gone' },
  email_other_browser: { status: 403, code: 'email_other_browser' },
  too_many: { status: 429, code: 'rate_limited' },
  too_often: { status: 429, code: 'too_many_sign_ins' },
  sign_up_full: { status: 429, code: 'sign_up_full' },
  user_paused: { status: 429, code: 'user_paused' },
  address_blocked: { status: 429, code: 'address_blocked' },
  network_denied: { status: 403, code: 'network_denied' },
  device_check_over: { status: 410, code: 'device_check_expired' },
  device_other_browser: { status: 403, code: 'device_other_browser' },
  sessions_full: { status: 403, code: 'sessions_full' },
  suspended: { status: 503, code: 'tenant_suspended' },
  licence_blocked: { status: 403, code: 'licence_blocked' },
  directory_down: { status: 503, code: 'directory_down' },
  account_unusable: { status: 403, code: 'account_unusable' },
  connection_failed: { status: 400, code: 'connection_failed' },
  connection_no_account: { status: 403, code: 'connection_no_account' },
  unavailable: { status: 503, code: 'unavailable' },
  internal: { status: 500, code: 'internal' },
}

/** The database is busy or away, as a rule. */
export const isUnavailable = (error: unknown) =>
  error instanceof Refusal && error.code === 'unavailable'

/** After these one begins anew rather than going on where one was. */
const ENDINGS: readonly MessageKind[] = [
  'expired',
  'cookie_missing',
  'device_check_over',
  'device_other_browser',
]

interface MessageSettings {
  readonly place: Place
  readonly applicationUrl?: string | undefined
  readonly details?: readonly string[]
}

export function message(
  kind: MessageKind,
  { place, applicationUrl, details }: MessageSettings,
): Page {
  const { texts } = place
  const label = ENDINGS.includes(kind) ? texts.startAgain : texts.backToApplication
  return messagePage({
    place,
    text: texts.messages[kind],
    link: applicationUrl === undefined ? undefined : { href: applicationUrl, label },
    details,
  })
}

/** The same for programs, whose answers are always in English. */
export function messageJson(kind: MessageKind) {
  return { error: MESSAGES[kind].code, detail: english.messages[kind].intro }
}

export function pageHeaders({ language, needs }: Page): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': language,
    'Content-Security-Policy': contentSecurityPolicy(needs),
  }
}

/** Browsers name text/html; programs that name nothing get what the address is made for. */
export function wantsPage({ headers }: IncomingMessage, isForPeople: boolean): boolean {
  const accept = headers.accept ?? ''
  if (accept.includes('text/html')) return true
  return isForPeople && !accept.includes('application/json')
}

/** Where a page is shown, apart from its language. Nothing but the host where no tenant is known. */
export function placeOfTenant(baseUrl: string, tenant: Tenant | undefined): TenantPlace {
  const { host } = new URL(baseUrl)
  if (tenant === undefined) return { host }
  const { name, tenantId, brandColour } = tenant
  const logoUrl = logoUrlOf(issuerOf(baseUrl, tenantId), tenant)
  return { host, name, brand: { colour: brandColour ?? undefined, logoUrl } }
}
type TenantPlace = Omit<Place, 'texts'>

/** For what comes before a realm is known, and for its failures. */
export async function answerMessage(
  request: IncomingMessage,
  response: ServerResponse,
  kind: MessageKind,
  place: TenantPlace,
  isForPeople: boolean,
  details: readonly string[] = [],
) {
  const { status } = MESSAGES[kind]
  const texts = textsFor({ acceptLanguage: request.headers['accept-language'] })
  const page = wantsPage(request, isForPeople)
    ? message(kind, { place: { ...place, texts }, details })
    : undefined
  const body =
    page === undefined
      ? JSON.stringify({ ...messageJson(kind), ...(details.length > 0 && { details }) })
      : isolateRightToLeft(String(await page.html))
  const headers = page === undefined ? { 'Content-Type': 'application/json' } : pageHeaders(page)
  if (status === 503) response.setHeader('Retry-After', '60')
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}
