/**
 * Health and metrics, for machines of the operator's own, on a listener that no browser reaches.
 * `live`: the process runs. `ready`: send requests here.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Listen } from '../../shared/config/config.ts'

export interface Readiness {
  /** Undefined where requests are welcome. */
  readonly reason: NotReadyReason | undefined
  readonly workersWanted: number
  readonly workersServing: number
}

const NOT_READY_REASONS = {
  draining: 'The gateway is stopping.',
  not_configured: 'The control plane has not been reached yet.',
  workers_starting: 'Not every worker has the whole state yet.',
  no_worker: 'No worker serves at the moment.',
} as const
type NotReadyReason = keyof typeof NOT_READY_REASONS

interface StatusServerOptions {
  readonly listen: Listen
  readonly readiness: () => Readiness
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly onError: (error: unknown) => void
}

const REQUEST_MS_MAX = 5000

export type StatusServer = Awaited<ReturnType<typeof openStatusServer>>

/** Rejects where the address cannot be had. */
export async function openStatusServer(options: StatusServerOptions) {
  const { listen, readiness, metrics, onError } = options
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX, keepAliveTimeout: 1000 },
    (request, response) => {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return json(response, 405, { error: 'method_not_allowed' })
      switch (request.url?.split('?', 1)[0]) {
        case '/health/live':
          return json(response, 200, { status: 'live' })
        case '/health/ready':
          return answerReadiness(response, readiness())
        case '/metrics':
          metrics().then(
            ({ contentType, text }) => answer(response, 200, contentType, text),
            (error: unknown) => {
              onError(error)
              json(response, 500, { error: 'internal_error' })
            },
          )
          return
        default:
          return json(response, 404, { error: 'not_found' })
      }
    },
  )
  server.maxConnections = 64
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, () => {
      server.off('error', reject)
      server.on('error', onError)
      resolve()
    })
  })
  return {
    address: server.address() as AddressInfo,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function answerReadiness(response: ServerResponse, readiness: Readiness) {
  const { reason, workersWanted, workersServing } = readiness
  const workers = { wanted: workersWanted, serving: workersServing }
  if (reason === undefined) return json(response, 200, { status: 'ready', workers })
  const detail = NOT_READY_REASONS[reason]
  json(response, 503, { status: 'not_ready', reason, detail, workers })
}

function json(response: ServerResponse, status: number, body: Record<string, unknown>) {
  answer(response, status, 'application/json', `${JSON.stringify(body)}\n`)
}

function answer(response: ServerResponse, status: number, contentType: string, text: string) {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' })
  response.end(text)
}
