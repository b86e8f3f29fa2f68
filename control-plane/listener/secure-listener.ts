/**
 * TLS for the control plane's own name. What has been deciphered goes the way of all other
 * connections, with the same bounds; here are those of what comes before it.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer, type SecureContext, type Server as TlsServer } from 'node:tls'
import { countedAs, withoutMapping } from '../../shared/client-address.ts'
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

const HANDSHAKE_MS = 10 * SECOND_MS

interface SecureListenerOptions {
  /** Takes connections that are deciphered. */
  readonly server: Server
  readonly hostname: string
  /** Of our own name; undefined: there is none yet. */
  readonly context: () => SecureContext | undefined
  readonly perAddressMax?: number
}

export function createSecureListener(options: SecureListenerOptions): TlsServer {
  const { server, hostname, context } = options
  const { perAddressMax = LIMITS.publicConnectionsPerAddressMax } = options
  const underWay = new Map<string, number>()

  const secure = createServer(
    {
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HANDSHAKE_MS,
      // who asks for another name has come to the wrong place
      SNICallback: (name, done) =>
        name.toLowerCase() === hostname ? done(null, context()) : done(NO_SUCH_NAME),
    },
    (socket) => {
      // Node hands errors of a handshake to the server, and those behind it to nobody
      socket.on('error', () => socket.destroy())
      server.emit('connection', socket)
    },
  )
  secure.on('tlsClientError', (_error, socket) => socket.destroy())
  secure.prependListener('connection', (socket: Socket) => {
    const address = countedAs(withoutMapping(socket.remoteAddress ?? ''))
    const count = (underWay.get(address) ?? 0) + 1
    underWay.set(address, count)
    socket.once('close', () => {
      const left = (underWay.get(address) ?? 1) - 1
      if (left > 0) underWay.set(address, left)
      else underWay.delete(address)
    })
    if (count > perAddressMax) socket.destroy()
  })
  return secure
}

const NO_SUCH_NAME = new Error('no such name')
