/** How a realm answers people and programs: the headers of every answer, pages, refusals. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { Html } from './pages/layout.ts'
import { messagePage } from './pages/message-page.ts'
import { STYLE_SOURCE } from './pages/style.ts'
import type { MessageText } from './pages/texts.ts'
import { TEXTS } from './pages/texts.ts'

/**
 * No `form-action`: Chromium applies it to every redirect that follows a form, so it would have to
 * name each place that the application itself may send people to after the sign-in.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_SOURCE}`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** For every answer; the provider sets its own Cache-Control where an answer may be kept. */
export function setSecurityHeaders(response: ServerResponse, isHttps: boolean) {
  if (!response.hasHeader('X-Request-Id')) response.setHeader('X-Request-Id', randomUUID())
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY)
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
  readonly text: MessageText
}

export const MESSAGES = {
  unknown: { status: 404, code: 'tenant_not_found', text: TEXTS.unknown },
  not_found: { status: 404, code: 'not_found', text: TEXTS.notFound },
  request_wrong: { status: 400, code: 'invalid_request', text: TEXTS.requestWrong },
  expired: { status: 410, code: 'sign_in_expired', text: TEXTS.expired },
  cookie_missing: { status: 400, code: 'cookie_missing', text: TEXTS.cookieMissing },
  cross_site: { status: 403, code: 'cross_site_form', text: TEXTS.crossSite },
  too_many: { status: 429, code: 'rate_limited', text: TEXTS.tooMany },
  suspended: { status: 503, code: 'tenant_suspended', text: TEXTS.suspended },
  licence_blocked: { status: 403, code: 'licence_blocked', text: TEXTS.licenceBlocked },
  unavailable: { status: 503, code: 'unavailable', text: TEXTS.unavailable },
  internal: { status: 500, code: 'internal', text: TEXTS.internal },
} as const satisfies Record<string, Message>
export type MessageKind = keyof typeof MESSAGES

export interface MessageSettings {
  readonly host: string
  readonly name?: string | undefined
  readonly applicationUrl?: string | undefined
  readonly details?: readonly string[]
}

export function message(kind: MessageKind, settings: MessageSettings): Html {
  const { host, name, applicationUrl, details } = settings
  const label = kind === 'expired' || kind === 'cookie_missing' ? 'startAgain' : 'backToApplication'
  return messagePage({
    place: { host, name },
    text: MESSAGES[kind].text,
    link: applicationUrl === undefined ? undefined : { href: applicationUrl, label: TEXTS[label] },
    details,
  })
}

/** Browsers name text/html; programs that name nothing get what the address is made for. */
export function wantsPage({ headers }: IncomingMessage, isForPeople: boolean): boolean {
  const accept = headers.accept ?? ''
  if (accept.includes('text/html')) return true
  return isForPeople && !accept.includes('application/json')
}

/** For what comes before a realm is known, and for its failures. */
export async function answerMessage(
  request: IncomingMessage,
  response: ServerResponse,
  kind: MessageKind,
  settings: MessageSettings,
  isForPeople: boolean,
) {
  const { status, code, text } = MESSAGES[kind]
  const isPage = wantsPage(request, isForPeople)
  const body = isPage
    ? String(await message(kind, settings))
    : JSON.stringify({ error: code, detail: text.intro })
  if (status === 503) response.setHeader('Retry-After', '60')
  response.statusCode = status
  response.setHeader('Content-Type', isPage ? 'text/html; charset=utf-8' : 'application/json')
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(request.method === 'HEAD' ? undefined : body)
}
