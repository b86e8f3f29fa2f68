/** Answers that the gateway gives itself, in the one shape that each kind has. */
import type { Exchange } from './exchange.ts'
import { PAGE_HEADER_LINES, pageHtml, type Page } from './pages.ts'

const JSON_HEADER_LINES: readonly string[] = [
  'Content-Type: application/json',
  'Cache-Control: no-store',
  'X-Content-Type-Options: nosniff',
]

export function answerJson(
  exchange: Exchange,
  status: number,
  body: Record<string, unknown>,
  headerLines: readonly string[] = [],
) {
  const lines = [...JSON_HEADER_LINES, ...headerLines]
  exchange.respond({ status, headerLines: lines, body: JSON.stringify(body) })
}

export function answerPage(
  exchange: Exchange,
  status: number,
  page: Page,
  headerLines: readonly string[] = [],
) {
  const lines = [...PAGE_HEADER_LINES, ...headerLines]
  exchange.respond({ status, headerLines: lines, body: pageHtml(page) })
}

export function redirect(
  exchange: Exchange,
  status: 302 | 303 | 308,
  location: string,
  cookies: readonly string[],
) {
  exchange.respond({
    status,
    headerLines: [
      `Location: ${location}`,
      'Cache-Control: no-store',
      'Referrer-Policy: no-referrer',
      ...cookies.map((cookie) => `Set-Cookie: ${cookie}`),
    ],
    body: '',
  })
}
