/**
 * An answer that is given before the body of its request has come: too large, not wanted, not
 * allowed. The client is still writing, and would find a reset in place of the answer; so the rest
 * is read and thrown away, within bounds, and only then the connection goes on or is closed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { LIMITS } from '../../shared/limits.ts'

interface DrainLimits {
  readonly bytesMax: number
  readonly ms: number
}

const DRAIN_LIMITS: DrainLimits = {
  bytesMax: LIMITS.unwantedBodyBytesMax,
  ms: LIMITS.unwantedBodyMsMax,
}
const CHECKS_PER_LIMIT = 100

export function drainAfterAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { bytesMax, ms }: DrainLimits = DRAIN_LIMITS,
) {
  if (isWithoutBody(request)) return
  const { socket } = request
  const close = socket.destroySoon.bind(socket)
  // Node closes the connection right behind an answer that says so, whatever is still on its way.
  socket.destroySoon = () => {
    if (request.complete || request.destroyed) return close()
    socket.end()
    request.once('end', () => socket.destroy())
  }
  response.once('finish', () => {
    if (request.complete) return
    const bytesBefore = socket.bytesRead
    const untilMs = performance.now() + ms
    // Node throws away what nobody has begun to read, without telling how much; the socket counts.
    const check = setInterval(() => {
      const isTooMuch = socket.bytesRead - bytesBefore > bytesMax
      if (isTooMuch || performance.now() > untilMs) socket.destroy()
    }, ms / CHECKS_PER_LIMIT)
    const settle = () => {
      clearInterval(check)
      socket.off('close', settle)
    }
    socket.once('close', settle) // Node has let go of the request, and tells it nothing
    request.once('end', settle)
    request.resume()
  })
  response.once('close', () => {
    if (request.complete || socket.destroyed) socket.destroySoon = close
  })
}

/**
 * The last answer on a socket that belongs to no request. Node has taken its own listeners off such
 * a socket, so its errors and its end are ours: an error that nobody hears ends the process.
 */
export function answerAndEnd(socket: Duplex, text: string, ms: number = LIMITS.unwantedBodyMsMax) {
  socket.on('error', () => socket.destroy())
  const timer = setTimeout(() => socket.destroy(), ms).unref()
  socket.once('close', () => clearTimeout(timer))
  socket.end(text)
  socket.resume() // else the end of its other side would never be heard
}

/** `Expect: 100-continue` is answered where somebody begins to read, and not where nobody does. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse) {
  const read = request._read.bind(request)
  request._read = (size) => {
    request._read = read
    if (!response.headersSent) response.writeContinue()
    read(size)
  }
}

function isWithoutBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)
}
