/**
 * Connections to hosts that tenants have named. The address is looked up and checked for every
 * connection, and the socket goes to what was checked, not to the name: a name server that answers
 * differently the second time is not asked a second time.
 */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'
import { Agent, type buildConnector } from 'undici'
import { LIMITS } from '../../shared/limits.ts'
import {
  AddressRefused,
  createReceiverAddresses,
  type ReceiverAddresses,
} from './public-address.ts'
import { resolveName, type Resolve } from './resolve-name.ts'

/** How hosts that tenants have named are reached. */
export interface OutboundWorld {
  /** CIDRs that the operator opens for test installations. */
  readonly allowPrivate: readonly string[]
  /** `http://` or `https://`: all goes through it, to addresses that were checked here. */
  readonly egressProxy: string | null
  readonly resolve?: Resolve
  readonly timeoutMs?: number
  /** Beside those of Node and NODE_EXTRA_CA_CERTS. */
  readonly ca?: string
}

/** Whoever waits for a name or a handshake does not hear of the signal by itself. */
export function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(signal.reason as Error)
    signal.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
}

interface ConnectorWorld extends OutboundWorld {
  readonly addresses: ReceiverAddresses
  readonly timeoutMs: number
}

/** Of the time that there is, one half at most is for the name. */
export const resolveWithin =
  (timeoutMs: number): Resolve =>
  (name) =>
    resolveName(name, timeoutMs / 2)

/** A pool of undici: every connection it opens is looked at. */
export function checkedAgent(
  world: OutboundWorld & { readonly timeoutMs: number },
  options: Agent.Options,
): Agent {
  const { allowPrivate, timeoutMs, resolve = resolveWithin(timeoutMs) } = world
  const addresses = createReceiverAddresses({ allowPrivate, resolve })
  const connect: buildConnector.connector = (wanted, callback) => {
    open({ ...world, addresses }, wanted).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    )
  }
  const times = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  return new Agent({ connect, pipelining: 1, ...times, ...options })
}

/** A receiver that is down at one address may answer at the next: they share the time. */
async function open(world: ConnectorWorld, options: buildConnector.Options): Promise<TLSSocket> {
  const endMs = performance.now() + world.timeoutMs
  const found = (await world.addresses.find(options.hostname)).slice(0, LIMITS.addressesTriedMax)
  for (const [at, address] of found.entries())
    try {
      const timeoutMs = Math.max(1, (endMs - performance.now()) / (found.length - at))
      return await openAt({ ...world, timeoutMs }, options, address)
    } catch (error) {
      if (error instanceof AddressRefused || at === found.length - 1) throw error
    }
  throw new AddressRefused('the name does not resolve')
}

async function openAt(
  world: ConnectorWorld,
  { hostname, port }: buildConnector.Options,
  address: string,
): Promise<TLSSocket> {
  const { addresses, egressProxy, timeoutMs, ca } = world
  const portNumber = Number(port || 443)
  const tunnel =
    egressProxy === null ? undefined : await openTunnel(egressProxy, address, portNumber, timeoutMs)
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = tlsConnect({
    ...(tunnel === undefined ? { host: address, port: portNumber } : { socket: tunnel }),
    servername: isIP(bare) === 0 ? bare : '',
    ...(isIP(bare) === 0 ? {} : { host: bare }),
    ALPNProtocols: ['http/1.1'],
    ...(ca === undefined ? {} : { ca }),
  })
  await secured(socket, timeoutMs)
  // the last word is the socket's own
  if (tunnel === undefined && !addresses.mayReach(socket.remoteAddress ?? '')) {
    socket.destroy()
    throw new AddressRefused('the connection led to a network that is not public')
  }
  return socket.setNoDelay(true)
}

function secured(socket: TLSSocket, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(timeoutMs, () => fail(new Late()))
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      socket.setTimeout(0)
      socket.off('error', fail)
      resolve()
    })
  })
}

/** `CONNECT` names the address that was checked, so the proxy asks no name server either. */
export function openTunnel(
  proxy: string,
  address: string,
  port: number,
  timeoutMs: number,
): Promise<Socket> {
  const url = new URL(proxy)
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const asked = request({
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? undefined : Number(url.port),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority },
      timeout: timeoutMs,
    })
    asked.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket)
      socket.destroy()
      reject(new ProxyRefused())
    })
    asked.once('timeout', () => asked.destroy(new Late()))
    asked.once('error', (error) => reject(error instanceof Late ? error : new ProxyRefused()))
    asked.end()
  })
}

export class Late extends Error {
  override readonly name = 'TimeoutError'
}

class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused'
}

/** For the tenant to read: what to look at, never an address or a message of our own network. */
export function problemOf(error: unknown, deadline: AbortSignal, timeoutMs: number): string {
  if (error instanceof AddressRefused) return error.message
  if (error instanceof ProxyRefused) return 'the proxy that requests go through did not connect'
  const { code = '', name = '' } = error as { code?: string; name?: string }
  if (deadline.aborted || name === 'TimeoutError' || /TIMEOUT/.test(code))
    return `no answer within ${timeoutMs / 1000} seconds`
  if (code === 'ECONNREFUSED') return 'the connection was refused'
  if (/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return 'the host is not reachable'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code))
    return `the TLS certificate or handshake was not in order (${code})`
  return 'the connection broke off, or the answer was not HTTP'
}
