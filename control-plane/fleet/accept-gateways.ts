/** Who gets to the fleet listener: one path, who has a key, everything else is turned away. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import { WebSocketServer, type WebSocket } from 'ws'
import { isLoopback } from '../../shared/networks.ts'
import { LIMITS } from '../../shared/limits.ts'
import { answerAndEnd } from '../listener/early-answers.ts'
import type { Admission, Credential } from './admission.ts'

const FLEET_PATH = '/fleet'

/** How long the other end may take over its own goodbye. */
const GOODBYE_MS = 1000

/** What a proxy says of itself that ends TLS on this machine for gateways of others. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'] as const

interface GatewayListener {
  attach(server: Server): void
  close(): void
}

export function acceptGateways(
  authenticate: Admission['authenticate'],
  enter: (socket: WebSocket, address: string, credential: Credential) => void,
  log: Logger,
): GatewayListener {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: LIMITS.fleetMessageBytesMax,
  })
  const attached: Server[] = []
  let isClosed = false

  function onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    socket.on('error', () => socket.destroy())
    if (request.url !== FLEET_PATH) return turnAway(socket, '404 Not Found')
    admit(request, socket, head).catch((error: unknown) => {
      log.error({ error }, 'cannot look a key up, so nobody comes in')
      turnAway(socket, '503 Service Unavailable')
    })
  }

  async function admit(request: IncomingMessage, socket: Duplex, head: Buffer) {
    const key = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const address = request.socket.remoteAddress ?? ''
    const isForwarded = FORWARDED.some((name) => request.headers[name] !== undefined)
    const credential =
      key === undefined ? undefined : await authenticate(key, { address, isForwarded })
    const { socket: connection } = request
    const isHere = isLoopback(address) || address === connection.localAddress || isForwarded
    if (credential !== undefined && !isHere && !(connection instanceof TLSSocket))
      log.warn(
        { address },
        'a gateway of another machine came in without TLS: make a new key for it',
      )
    if (isClosed) return void socket.destroy()
    if (credential === undefined)
      return turnAway(socket, '401 Unauthorized', 'WWW-Authenticate: Bearer\r\n')
    sockets.handleUpgrade(request, socket, head, (webSocket) =>
      enter(webSocket, address, credential),
    )
  }

  return {
    attach(server) {
      server.on('upgrade', onUpgrade)
      attached.push(server)
    },
    close() {
      isClosed = true
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

function turnAway(socket: Duplex, status: string, headers = ''): void {
  const head = `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`
  answerAndEnd(socket, head)
}
