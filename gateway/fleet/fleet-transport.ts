/**
 * How the gateway reaches a control plane: in the clear on this machine, over TLS wherever the link
 * leaves it. The key is not sent before the other end has shown to be who it is for.
 */
import type { Duplex } from 'node:stream'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { fingerprintOf, trustOf, type Trust } from '../../shared/fleet/trust.ts'
import { isPlainToElsewhere } from './fleet-address.ts'

interface ConnectOptions {
  readonly host?: string | null
  readonly port?: number | string | null
}
type Connected = (error: Error | null, socket?: Duplex) => void

/** What `ws` is given beside the address. */
export interface FleetTransport {
  readonly url: string
  readonly createConnection?: (options: ConnectOptions, connected: Connected) => undefined
}

interface TransportWish {
  /** As it is written in the settings. */
  readonly base: string
  readonly key: string
  /** Addresses of this machine. */
  readonly own: readonly string[]
  /** Something else keeps the link from others: a tunnel, or TLS of a neighbour. */
  readonly mayBePlain: boolean
  readonly connectMsMax: number
}

export function transportTo(wish: TransportWish): FleetTransport {
  const { base, key, own, mayBePlain, connectMsMax } = wish
  const { protocol, host } = new URL(base)
  const trust = trustOf(key)
  const isSecure = protocol === 'https:'
  const isPinned = trust !== undefined && !isSecure && isPlainToElsewhere(base, own) && !mayBePlain
  const url = `${isSecure || isPinned ? 'wss' : 'ws'}://${host}/fleet`
  // of a key that names no certificate, an authority vouches for the other end, or nobody does
  if (trust === undefined || (!isSecure && !isPinned)) return { url }
  return {
    url,
    createConnection(options, connected) {
      connectTrusted(options, { trust, isSecure, connectMsMax }, connected)
      return undefined
    },
  }
}

interface Trusted {
  readonly trust: Trust
  /** An authority's word counts, too: a proxy in front shows a certificate of its own. */
  readonly isSecure: boolean
  readonly connectMsMax: number
}

function connectTrusted(
  { host, port }: ConnectOptions,
  { trust, isSecure, connectMsMax }: Trusted,
  connected: Connected,
): void {
  const name = String(host ?? '')
  const socket = connect({
    host: name,
    port: Number(port),
    // a proxy in front goes by its own name
    ...(isSecure ? isIP(name) === 0 && { servername: name } : { servername: trust.name }),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  const end = (error: Error) => {
    socket.destroy()
    connected(error)
  }
  socket.setTimeout(connectMsMax, () => end(new Error('no TLS handshake in time')))
  socket.once('error', end)
  socket.once('secureConnect', () => {
    socket.setTimeout(0)
    socket.removeAllListeners('timeout')
    socket.off('error', end)
    if (isTrusted(socket, trust, isSecure)) return connected(null, socket)
    const reason = isSecure && socket.authorizationError ? ` (${String(socket.authorizationError)})` : ''
    end(new Error(`another certificate than the key of this gateway is for${reason}`))
  })
}

function isTrusted(socket: TLSSocket, { fingerprint }: Trust, isSecure: boolean): boolean {
  if (isSecure && socket.authorized) return true
  const shown = socket.getPeerX509Certificate()?.raw
  return shown !== undefined && fingerprintOf(shown) === fingerprint
}
