import type { IncomingMessage } from 'node:http'

/** `::ffff:192.0.2.1` → `192.0.2.1`: one person, one spelling. */
export function addressOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
}
