/** `server.on('upgrade', service.upgrade(listener))`: a WebSocket is a request like any other. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Guard, Identity } from '../guard.ts'
import { judge, hasBody, type Answer } from './carry-out.ts'
import { withholdSession, writeIdentity } from './identity-headers.ts'
import { IncomingRequest, PASSED, type Incoming } from './messages.ts'

export type UpgradeListener = (request: Incoming, socket: Duplex, head: Buffer) => unknown

export function upgradeAdapter(guard: Guard, listener: UpgradeListener): UpgradeListener {
  return (request, socket, head) => {
    // Node has let go of the socket: an error that nobody hears would end the process
    socket.on('error', ignore)
    judge(guard, new IncomingRequest(request), (outcome) => {
      if (socket.destroyed) return
      if (outcome.kind === 'answer') return refuse(socket, outcome)
      socket.off('error', ignore)
      request[PASSED] = guard
      request.url = outcome.target
      writeIdentity(request, outcome.identity)
      if (outcome.isForeignPage) withholdSession(request)
      request.serviceClaims = outcome.identity?.claims
      if (outcome.identity !== undefined) watch(guard, socket, outcome.identity)
      listener(request, socket, head)
    })
  }
}

const ignore = () => undefined

/** Where the session ends the socket does: a WebSocket outlives no sign-out (pomerium 1279). */
export function watch(guard: Guard, socket: Duplex, identity: Identity): void {
  const release = guard.watch?.(identity, () => socket.destroy())
  if (release === undefined) return
  const before = releases.get(socket)
  releases.set(socket, release)
  // a request that only says it wants to upgrade leaves the socket to the next one
  if (before === undefined) socket.once('close', () => releases.get(socket)?.())
  else before()
}

/** One watch for each socket, however many requests it carries. */
const releases = new WeakMap<Duplex, () => void>()

function refuse(socket: Duplex, { status, headers, body }: Answer): void {
  const lines = headers
    .filter(([name]) => !/^(?:connection|content-length)$/i.test(name))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const length = hasBody(status) ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : ''
  const reason = STATUS_CODES[status] ?? ''
  // nothing else closes it: Node's time-outs have let go of the socket
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\n${lines}${length}Connection: close\r\n\r\n` +
      (hasBody(status) ? body : ''),
    () => socket.destroy(),
  )
}
