/** A connection to a gateway: TLS 1.3, and nobody's certificate but that gateway's. */
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { carriedBy } from '../../../../shared/connector/break-off.ts'
import { alpnFor, CONNECTOR_ALPN, type DialledFor } from '../../../../shared/connector/handshake.ts'
import { isPinned, PINNED_TLS } from '../../../../shared/connector/pinned-tls.ts'
import { connectStraight, connectThrough } from '../../resident/connect.ts'
import type { Proxies } from '../../resident/proxies.ts'

export interface GatewayAddress {
  readonly gateway_id: string
  /** `gateway.example:443` */
  readonly address: string
  /** In base64url. */
  readonly certificate: string
}

/** What stood in the way, in words for the person who runs the connector. */
class DialError extends Error {
  readonly code: 'unreachable' | 'timeout' | 'certificate' | 'tls'

  constructor(code: DialError['code'], message: string) {
    super(message)
    this.name = 'DialError'
    this.code = code
  }
}

export interface Dialling {
  readonly timeoutMs: number
  readonly proxies?: Proxies
}

export async function dial(
  to: GatewayAddress,
  dialled: DialledFor,
  { timeoutMs, proxies }: Dialling,
): Promise<TLSSocket> {
  const [, host = '', port = ''] = /^\[?([^\]]*)\]?:(\d+)$/.exec(to.address) ?? []
  const destination = { host, port: Number(port) }
  const deadline = AbortSignal.timeout(timeoutMs)
  const proxy = proxies?.({ ...destination, isSecure: true })
  // TLS begins on a connection that is there: of several addresses one has been found by then.
  const raw = await (proxy === undefined
    ? connectStraight(destination, deadline)
    : connectThrough(proxy, destination, deadline))
  return new Promise((resolve, reject) => {
    const socket = connectTls({ ...PINNED_TLS, socket: raw, ALPNProtocols: alpnFor(dialled) })
    const fail = (error: DialError) => {
      deadline.removeEventListener('abort', expire)
      socket.destroy()
      reject(error)
    }
    const expire = () =>
      fail(new DialError('timeout', `${to.address} did not answer within ${timeoutMs / 1000} s`))
    deadline.addEventListener('abort', expire)
    socket.once('error', (error: NodeJS.ErrnoException) => fail(dialErrorOf(error, to)))
    socket.once('secureConnect', () => {
      if (!isPinned(socket, to.certificate)) return fail(notTheGateway(to))
      if (socket.alpnProtocol !== CONNECTOR_ALPN)
        return fail(new DialError('tls', `${to.address} does not take connectors`))
      deadline.removeEventListener('abort', expire)
      socket.removeAllListeners('error')
      socket.on('error', () => socket.destroy())
      socket.setNoDelay(true)
      // Of a connection that the other side has left, and that nothing more comes on.
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      carriedBy(socket, raw)
      resolve(socket)
    })
  })
}

const KEEP_ALIVE_MS = 60_000

const notTheGateway = ({ address, gateway_id: gatewayId }: GatewayAddress) =>
  new DialError(
    'certificate',
    `what answers at ${address} is not gateway ${gatewayId}: it has another certificate. Something on the way may be opening TLS connections; it must let these through.`,
  )

function dialErrorOf({ code = 'unknown' }: NodeJS.ErrnoException, to: GatewayAddress): DialError {
  return /^(?:ERR_|EPROTO)/.test(code)
    ? new DialError('tls', `TLS with ${to.address} failed: ${code}`)
    : new DialError('unreachable', `${to.address} cannot be reached: ${code}`)
}
