/** Answers of the service itself, as values: who serves the request writes them to its wire. */
import { PAGE_HEADER_LINES, pageHtml, type Page } from './pages.ts'

export interface Answer {
  readonly status: number
  /** Complete lines without CRLF: `Location: /`. Length, date and connection are the wire's. */
  readonly headerLines: readonly string[]
  readonly body: string
}

const JSON_HEADER_LINES: readonly string[] = [
  'Content-Type: application/json',
  'Cache-Control: no-store',
  'X-Content-Type-Options: nosniff',
]

export function jsonAnswer(
  status: number,
  body: Record<string, unknown>,
  headerLines: readonly string[] = [],
): Answer {
  return {
    status,
    headerLines: [...JSON_HEADER_LINES, ...headerLines],
    body: JSON.stringify(body),
  }
}

export function pageAnswer(
  status: number,
  page: Page,
  headerLines: readonly string[] = [],
): Answer {
  return htmlAnswer(status, pageHtml(page), headerLines)
}

/** A page that was made before. */
export function htmlAnswer(
  status: number,
  body: string,
  headerLines: readonly string[] = [],
): Answer {
  return { status, headerLines: [...PAGE_HEADER_LINES, ...headerLines], body }
}

export function redirection(
  status: 302 | 303 | 308,
  location: string,
  cookies: readonly string[] = [],
): Answer {
  const headerLines = [
    `Location: ${location}`,
    'Cache-Control: no-store',
    'Referrer-Policy: no-referrer',
    ...cookieLines(cookies),
  ]
  return { status, headerLines, body: '' }
}

export function cookieLines(cookies: readonly string[]): string[] {
  return cookies.map((cookie) => `Set-Cookie: ${cookie}`)
}
