/** `server.on('upgrade', service.upgrade(listener))`: a WebSocket is a request like any other. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Guard, Answer } from '../guard.ts'
import { admit, judge, hasBody } from './carry-out.ts'
import { IncomingRequest, type Incoming } from './messages.ts'
import { watchSocket } from './still-open.ts'

export type UpgradeListener = (request: Incoming, socket: Duplex, head: Buffer) => unknown

export function upgradeAdapter(guard: Guard, listener: UpgradeListener): UpgradeListener {
  return (request, socket, head) => {
    // Node has let go of the socket: an error that nobody hears would end the process
    socket.on('error', ignore)
    judge(guard, new IncomingRequest(request), (outcome) => {
      if (socket.destroyed) return
      if (outcome.kind === 'answer') return refuse(socket, outcome)
      socket.off('error', ignore)
      admit(guard, request, outcome)
      request.url = outcome.target
      watchSocket(guard, socket, outcome)
      listener(request, socket, head)
    })
  }
}

const ignore = () => undefined

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
