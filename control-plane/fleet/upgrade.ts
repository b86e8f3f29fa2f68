/** The door of the fleet listener: one path, one key, everything else is turned away. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { LIMITS } from '../../shared/limits.ts'

export const FLEET_PATH = '/fleet'

/** How long the other end may take over its own goodbye. */
const GOODBYE_MS = 1000

export interface FleetDoor {
  attach(server: Server): void
  close(): void
}

export function openFleetDoor(
  fleetKey: string,
  enter: (socket: WebSocket, address: string) => void,
): FleetDoor {
  const expected = digest(fleetKey)
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: LIMITS.fleetMessageBytesMax,
  })
  const attached: Server[] = []

  function onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    socket.on('error', () => socket.destroy())
    if (request.url !== FLEET_PATH) return turnAway(socket, '404 Not Found')
    if (!isAuthorized(request.headers.authorization, expected))
      return turnAway(socket, '401 Unauthorized', 'WWW-Authenticate: Bearer\r\n')
    const address = request.socket.remoteAddress ?? ''
    sockets.handleUpgrade(request, socket, head, (webSocket) => enter(webSocket, address))
  }

  return {
    attach(server) {
      server.on('upgrade', onUpgrade)
      attached.push(server)
    },
    close() {
      for (const server of attached) server.off('upgrade', onUpgrade)
      sockets.close()
      for (const client of sockets.clients) leave(client)
    },
  }
}

/** Whoever has come in, also those who have not said hello yet: nobody keeps the listener open. */
function leave(client: WebSocket): void {
  client.close(1001, 'the control plane stops')
  setTimeout(() => client.terminate(), GOODBYE_MS).unref()
}

function isAuthorized(header: string | undefined, expected: Buffer): boolean {
  const presented = /^Bearer +(.+)$/i.exec(header ?? '')?.[1]
  return presented !== undefined && timingSafeEqual(digest(presented), expected)
}

/** Equal lengths, so that the comparison tells nothing, not even a length. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

function turnAway(socket: Duplex, status: string, headers = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`)
}
