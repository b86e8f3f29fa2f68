/**
 * The fleet listener: TLS for gateways of other machines, and HTTP in the clear for those of this one
 * and for what ends TLS in front. Which of both a connection speaks its first byte says.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type SecureContext } from 'node:tls'
import { SECOND_MS } from '../../shared/clock.ts'
import { sharedCertificate } from '../../shared/fleet/trust.ts'
import type { OwnCertificate } from '../../shared/self-signed.ts'
import type { LiveKey } from '../keys/live-key.ts'

const FIRST_BYTE_MS = 10 * SECOND_MS
const TLS_HANDSHAKE = 0x16

interface FleetListenerOptions {
  /** Listens, and is asked what has been deciphered. */
  readonly server: Server
  /** For gateways with a key of their own. */
  readonly certificate: OwnCertificate
  /** For those that share one with us. */
  readonly fleetKey: LiveKey
}

export function speakTls({ server, certificate, fleetKey }: FleetListenerOptions): void {
  const own = contextOf(certificate)
  let shared = new Map<string, SecureContext>()
  function shareAnew() {
    const all = fleetKey.all().map(sharedCertificate)
    shared = new Map(all.map((one) => [one.name, contextOf(one)]))
  }
  shareAnew()
  fleetKey.onReplaced(shareAnew)

  // Node's own listener, which makes a socket into requests
  const [serve] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  const secure = createTlsServer(
    {
      minVersion: 'TLSv1.3',
      handshakeTimeout: FIRST_BYTE_MS,
      SNICallback: (name, done) => done(null, shared.get(name) ?? own),
      ...pair(certificate),
    },
    (socket) => serve?.call(server, socket),
  )
  secure.on('tlsClientError', (_error, socket) => socket.destroy())

  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const silence = setTimeout(() => socket.destroy(), FIRST_BYTE_MS)
    const fail = () => socket.destroy()
    socket.on('error', fail)
    socket.once('close', () => clearTimeout(silence))
    socket.once('data', (first: Buffer) => {
      clearTimeout(silence)
      socket.off('error', fail)
      socket.pause()
      socket.unshift(first)
      // TLS takes what was put back by itself
      if (first[0] === TLS_HANDSHAKE) return secure.emit('connection', socket)
      serve?.call(server, socket)
      return socket.resume()
    })
  })
}

const pair = ({ certificatePem: cert, privateKeyPem: key }: OwnCertificate) => ({ cert, key })
const contextOf = (one: OwnCertificate) =>
  createSecureContext({ minVersion: 'TLSv1.3', ...pair(one) })
