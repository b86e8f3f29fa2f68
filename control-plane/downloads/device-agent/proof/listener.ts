/**
 * The port that a sign-in sends a browser to. It answers a signed challenge of its own service by
 * sending the browser back with a one-time code, and everything else with one and the same 404.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LIMITS } from '../../../../shared/limits.ts'
import { listenOnLoopback, portOf, type LoopbackListener } from '../../resident/loopback.ts'
import { challengeIn, isCodeRequest } from './judge-request.ts'
import { PAGE_POLICY, unreachablePage } from './page.ts'

/** Where the browser goes next; null: the service could not be asked. */
type Prove = (challenge: string) => Promise<URL | 'not_ours' | null>
/** For a person to type, or the word for why there is none. */
export type CodeOrNot =
  | { readonly code: string; readonly expires_s: number }
  | { readonly error: string }

interface Answers {
  readonly prove: Prove
  readonly code: () => Promise<CodeOrNot>
}

const NOT_FOUND = 'Not found.\n'
const NOT_FOUND_LINES = [
  'HTTP/1.1 404 Not Found',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${NOT_FOUND.length}`,
  'Cache-Control: no-store',
  'X-Content-Type-Options: nosniff',
  'Connection: close',
]

/** Rejects where the port cannot be had. */
export function openProofListener(
  port: number,
  { prove, code }: Answers,
): Promise<LoopbackListener> {
  const waiting = new Set<Socket>()
  const server = createServer({
    headersTimeout: LIMITS.deviceProofHeadMsMax,
    requestTimeout: LIMITS.deviceProofHeadMsMax,
    connectionsCheckingInterval: Math.min(1000, LIMITS.deviceProofHeadMsMax),
    maxHeaderSize: HEAD_BYTES_MAX,
    // what is wrong with a request is judged in one place
    requireHostHeader: false,
    joinDuplicateHeaders: true,
    keepAlive: false,
  })
  const refuse = (socket: Duplex) => {
    if (socket.writable) socket.end(`${NOT_FOUND_LINES.join('\r\n')}\r\n\r\n${NOT_FOUND}`)
    socket.once('finish', () => socket.destroy())
    socket.on('error', () => socket.destroy())
  }
  server.on('connection', (socket) => {
    // Who comes last is let in, and who has said nothing for longest goes: a thousand that only
    // hold the port keep nobody's browser out.
    waiting.add(socket)
    socket.once('close', () => waiting.delete(socket))
    for (const oldest of waiting) {
      if (waiting.size <= LIMITS.deviceProofConnectionsMax) break
      waiting.delete(oldest)
      oldest.destroy()
    }
  })
  server.on('request', (request, response) => {
    if (isCodeRequest(request, portOf(server))) {
      waiting.delete(request.socket)
      return void answerCode(response)
    }
    const challenge = challengeIn(request, portOf(server))
    if (challenge === null) return notFound(response)
    waiting.delete(request.socket)
    void answer(request, response, challenge)
  })
  const refuseRequest = (_request: IncomingMessage, other: ServerResponse | Duplex) =>
    'writeHead' in other ? notFound(other) : refuse(other)
  for (const event of ['checkContinue', 'checkExpectation', 'upgrade', 'connect'] as const)
    server.on(event, refuseRequest)
  server.on('clientError', (_error, socket) => refuse(socket))

  async function answerCode(response: ServerResponse): Promise<void> {
    const body = await code()
    response.sendDate = false
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader('Connection', 'close')
    const status = 'code' in body ? 200 : 409
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }

  async function answer(
    { url = '', headers }: IncomingMessage,
    response: ServerResponse,
    challenge: string,
  ): Promise<void> {
    const to = await prove(challenge)
    if (to === 'not_ours') return notFound(response)
    response.sendDate = false
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('Referrer-Policy', 'no-referrer')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader('Connection', 'close')
    if (to !== null) return void response.writeHead(303, { Location: to.href }).end()
    response.setHeader('Content-Security-Policy', PAGE_POLICY)
    response.setHeader('X-Frame-Options', 'DENY')
    response.writeHead(503, { 'Content-Type': 'text/html; charset=utf-8' })
    response.end(unreachablePage(url, headers['accept-language'] ?? ''))
  }

  return listenOnLoopback(server, port)
}

/** A path of 2 KiB, and the cookies that other programs have set for this address. */
const HEAD_BYTES_MAX = 16 * 1024

/** The bytes of `refuse`, by the server's own way. */
function notFound(response: ServerResponse): void {
  response.sendDate = false
  const pairs = NOT_FOUND_LINES.slice(1).map((line) => line.split(': '))
  response.writeHead(404, 'Not Found', pairs.flat())
  response.end(NOT_FOUND)
}
