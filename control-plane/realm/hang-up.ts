import type { IncomingMessage } from 'node:http'

/** As Node, its streams and body parsers call it. */
const CODES = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** The client has left amid its own request: nobody is to be answered, and nothing has failed. */
export function isHangUp(error: unknown, request: IncomingMessage): boolean {
  if (!request.socket.destroyed || !(error instanceof Error)) return false
  return 'code' in error && typeof error.code === 'string' && CODES.has(error.code)
}
