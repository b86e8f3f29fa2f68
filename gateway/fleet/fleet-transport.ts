/**
 * How the gateway reaches a control plane: in the clear on this machine, over TLS wherever the link
 * leaves it. The key is not sent before the other end has shown to be who it is for.
 */
import type { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import { PINNED_TLS } from '../../shared/connector/pinned-tls.ts'
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
  const isToElsewhere = isPlainToElsewhere(base, own) && !mayBePlain
  // of a key that names no certificate nobody vouches for the other end
  if (trust === undefined || !isToElsewhere)
    return { url: `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/fleet` }
  return {
    url: `wss://${host}/fleet`,
    createConnection(options, connected) {
      connectTrusted(options, { trust, connectMsMax }, connected)
      return undefined
    },
  }
}

interface Trusted {
  readonly trust: Trust
  readonly connectMsMax: number
}

function connectTrusted(
  { host, port }: ConnectOptions,
  { trust, connectMsMax }: Trusted,
  connected: Connected,
): void {
  const socket = connect({
    ...PINNED_TLS,
    host: host ?? '',
    port: Number(port),
    servername: trust.name,
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
    if (isTrusted(socket, trust)) return connected(null, socket)
    end(new Error('the control plane has another certificate than the key of this gateway is for'))
  })
}

function isTrusted(socket: TLSSocket, { fingerprint }: Trust): boolean {
  const shown = socket.getPeerX509Certificate()?.raw
  return shown !== undefined && fingerprintOf(shown) === fingerprint
}
