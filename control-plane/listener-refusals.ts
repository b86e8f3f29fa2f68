/** What the listener answers by itself: a page for people, JSON for programs. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Refusal } from '../shared/errors.ts'
import { LIMITS } from '../shared/limits.ts'
import { REFUSAL_PAGE_HEADERS, refusalPageFor } from './pages/refusal-page.ts'
import { answerAndEnd } from './listener/early-answers.ts'
import { stopParsing } from './listener/parsed-in-slices.ts'

const INVALID = new Refusal('request_invalid')
const NO_TUNNEL = new Refusal('method_not_allowed')

export function refuse(response: ServerResponse<IncomingMessage>, refusal = INVALID) {
  const { method = '', headers } = response.req
  const { status } = refusal
  const page = refusalPageFor(refusal, method, (name) => String(headers[name] ?? ''))
  const body = page ?? JSON.stringify(refusal.body())
  const { retry_after: retryAfter } = refusal.fields
  response.writeHead(status, {
    ...headersOf(page),
    ...(typeof retryAfter === 'number' && { 'Retry-After': retryAfter }),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  })
  response.end(body)
}

const headersOf = (page: string | undefined): Record<string, string> =>
  page === undefined ? { 'Content-Type': 'application/json' } : REFUSAL_PAGE_HEADERS

/** What the parser refused never becomes a request, but is answered like one. */
export function refuseBrokenRequest(
  error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer },
  socket: Socket,
) {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  stopParsing(socket)
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const status = isTooLarge ? 431 : isLate ? 408 : 400
  const head = error.rawPacket?.toString('latin1', 0, LIMITS.headBytesMax) ?? ''
  endWith(socket, `${status} ${STATUS_CODES[status]}`, pageFor(status, head))
}

export function refuseTunnel(socket: Duplex) {
  endWith(socket, '405 Method Not Allowed', undefined, NO_TUNNEL)
}

/** Only the look of the answer hangs on what these bytes say. */
function pageFor(status: number, head: string): string | undefined {
  const method = /^[A-Z]{1,20}(?= )/.exec(head)?.[0] ?? ''
  const { code } = INVALID
  return refusalPageFor({ status, code }, method, (name) => {
    const value = new RegExp(`^${name}:[\\t ]*([^\\r\\n]*)`, 'im').exec(head)?.[1]
    return value ?? ''
  })
}

function endWith(socket: Duplex, status: string, page: string | undefined, refusal = INVALID) {
  const body = page ?? JSON.stringify(refusal.body())
  const lines = Object.entries(headersOf(page)).map(([name, value]) => `${name}: ${value}\r\n`)
  answerAndEnd(
    socket,
    `HTTP/1.1 ${status}\r\n${lines.join('')}X-Request-Id: ${randomUUID()}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
