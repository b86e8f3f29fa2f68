/** A connection to a gateway: TLS 1.3, and nobody's certificate but that gateway's. */
import { request } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { CONNECTOR_ALPN, workerAlpn } from '../../../../shared/connector/handshake.ts'

export interface GatewayAddress {
  readonly gateway_id: string
  /** `gateway.example:443` */
  readonly address: string
  /** In base64url. */
  readonly certificate: string
}

/** What stood in the way, in words for the person who runs the connector. */
class DialError extends Error {
  readonly code: 'unreachable' | 'timeout' | 'proxy' | 'certificate' | 'tls'

  constructor(code: DialError['code'], message: string) {
    super(message)
    this.name = 'DialError'
    this.code = code
  }
}

export interface Dialling {
  readonly timeoutMs: number
  /** `http://name:password@proxy.example:3128` */
  readonly proxy?: URL | undefined
}

export async function dial(
  to: GatewayAddress,
  worker: number,
  { timeoutMs, proxy }: Dialling,
): Promise<TLSSocket> {
  const [, host = '', port = ''] = /^\[?([^\]]*)\]?:(\d+)$/.exec(to.address) ?? []
  const deadline = AbortSignal.timeout(timeoutMs)
  const raw = proxy === undefined ? undefined : await throughProxy(proxy, `${to.address}`, deadline)
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: raw ?? connectTcp({ host, port: Number(port), noDelay: true, allowHalfOpen: true }),
      ALPNProtocols: [CONNECTOR_ALPN, workerAlpn(worker)],
      minVersion: 'TLSv1.3',
      // This one certificate and no other: neither an authority nor a name has a say in it.
      ca: certificatePem(to.certificate),
      checkServerIdentity: () => undefined,
    })
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
      if (socket.alpnProtocol !== CONNECTOR_ALPN)
        return fail(new DialError('tls', `${to.address} does not take connectors`))
      deadline.removeEventListener('abort', expire)
      socket.removeAllListeners('error')
      socket.on('error', () => socket.destroy())
      socket.setNoDelay(true)
      resolve(socket)
    })
  })
}

const NOT_TRUSTED = /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_)/

function dialErrorOf(error: NodeJS.ErrnoException, to: GatewayAddress): DialError {
  const { code = 'unknown' } = error
  const { address, gateway_id: gatewayId } = to
  if (NOT_TRUSTED.test(code))
    return new DialError(
      'certificate',
      `what answers at ${address} is not gateway ${gatewayId}: it has another certificate. Something on the way may be opening TLS connections; it must let these through.`,
    )
  return /^(?:ERR_|EPROTO)/.test(code)
    ? new DialError('tls', `TLS with ${address} failed: ${code}`)
    : new DialError('unreachable', `${address} cannot be reached: ${code}`)
}

function certificatePem(der: string): string {
  const text = Buffer.from(der, 'base64url').toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

function throughProxy(proxy: URL, address: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { hostname, port, username, password } = proxy
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const asked = request({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || 80,
      method: 'CONNECT',
      path: address,
      headers: {
        host: address,
        ...(username !== '' && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
      signal,
      agent: false,
    })
    asked.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode === 200) {
        const raw = socket
        raw.allowHalfOpen = true
        return resolve(raw)
      }
      socket.destroy()
      const advice = statusCode === 407 ? ': it wants a name and a password' : ''
      reject(new DialError('proxy', `the proxy ${proxy.host} answered ${statusCode}${advice}`))
    })
    asked.once('response', ({ statusCode = 0 }) =>
      reject(new DialError('proxy', `the proxy ${proxy.host} answered ${statusCode}`)),
    )
    asked.once('error', (error: NodeJS.ErrnoException) => {
      const isLate = signal.aborted
      const why = isLate ? 'did not answer in time' : `cannot be reached: ${error.code ?? ''}`
      reject(new DialError(isLate ? 'timeout' : 'proxy', `the proxy ${proxy.host} ${why}`))
    })
    asked.end()
  })
}
