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
  answer(exchange, status, [...JSON_HEADER_LINES, ...headerLines], JSON.stringify(body))
}

export function answerPage(
  exchange: Exchange,
  status: number,
  page: Page,
  headerLines: readonly string[] = [],
) {
  answer(exchange, status, [...PAGE_HEADER_LINES, ...headerLines], pageHtml(page))
}

export function redirect(
  exchange: Exchange,
  status: 302 | 303 | 308,
  location: string,
  cookies: readonly string[],
) {
  const lines = [
    `Location: ${location}`,
    'Cache-Control: no-store',
    'Referrer-Policy: no-referrer',
    ...cookies.map((cookie) => `Set-Cookie: ${cookie}`),
  ]
  answer(exchange, status, lines, '')
}

/** Every answer names its request, so that a person who quotes it can be helped. */
export function answer(
  exchange: Exchange,
  status: number,
  headerLines: readonly string[],
  body: string,
) {
  const requestId = (exchange.context as { readonly requestId?: string } | undefined)?.requestId
  const isNamed = headerLines.some((line) => line.startsWith('X-Request-Id: '))
  const idLines = requestId === undefined || isNamed ? [] : [`X-Request-Id: ${requestId}`]
  exchange.respond({ status, headerLines: [...headerLines, ...idLines], body })
}
