/**
 * What programs on this machine may ask: `/ready`, `/metrics`, `/status`. Loopback only, nothing
 * can be changed by it, and no name that a stranger's page could have pointed here is answered.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  listenOnLoopback,
  LOOPBACK,
  portOf,
  type LoopbackListener,
} from '../../resident/loopback.ts'

/** Below those that systems give to outgoing connections. */
export const LOCAL_PORT = 20317

interface LocalAnswers {
  /** What is told is to be known first. */
  look(): Promise<void>
  ready(): { readonly isReady: boolean; readonly body: unknown }
  status(): unknown
  metrics(): { readonly type: string; readonly text: string }
}

const REQUEST_MS_MAX = 5000

/** Rejects where the port cannot be had. */
export function openLocalListener(port: number, answers: LocalAnswers): Promise<LoopbackListener> {
  const limits = { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX }
  const server = createServer({ ...limits, keepAliveTimeout: 1000 }, (request, response) =>
    answer(request, response, answers, portOf(server)),
  )
  server.maxConnections = LIMITS.connectorLocalConnectionsMax
  return listenOnLoopback(server, port)
}

function answer(
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
  answers: LocalAnswers,
  port: number,
): void {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
  if (!isOurName(headers.host, port))
    return json(response, 421, { error: 'wrong_host', detail: `Ask ${LOOPBACK}:${port}.` })
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return json(response, 405, { error: 'method_not_allowed' })
  }
  const path = url.split('?', 1)[0] ?? ''
  if (!PATHS.includes(path))
    return json(response, 404, { error: 'not_found', detail: `Try ${PATHS.join(', ')}.` })
  void answers.look().then(() => tell(path, response, answers))
}

const PATHS: readonly string[] = ['/ready', '/metrics', '/status']

function tell(path: string, response: ServerResponse, answers: LocalAnswers): void {
  switch (path) {
    case '/ready': {
      const { isReady, body } = answers.ready()
      return json(response, isReady ? 200 : 503, body)
    }
    case '/status':
      return json(response, 200, answers.status())
    case '/metrics': {
      const { type, text } = answers.metrics()
      return send(response, 200, type, text)
    }
  }
}

/** A page whose own name resolves to this machine says that name. */
function isOurName(host: string | undefined, port: number): boolean {
  return host === `${LOOPBACK}:${port}` || host?.toLowerCase() === `localhost:${port}`
}

const json = (response: ServerResponse, status: number, body: unknown) =>
  send(response, status, 'application/json; charset=utf-8', `${JSON.stringify(body)}\n`)

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
