/** The one place that tells a client that has left from a failure of ours: realm, API and console ask. */
import type { IncomingMessage } from 'node:http'

/** As Node, its streams and body parsers call it. */
const CODES = new Set<unknown>([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
])
/** What @hono/node-server gives as the reason where the request has none. */
const CLOSED_EARLY = 'Client connection prematurely closed.'

/** The client has left amid its own request: nobody is to be answered, and nothing has failed. */
export function isHangUp(error: unknown, request: IncomingMessage | undefined): boolean {
  if (request?.socket.destroyed !== true || !(error instanceof Error)) return false
  return CODES.has((error as NodeJS.ErrnoException).code) || error.message === CLOSED_EARLY
}
