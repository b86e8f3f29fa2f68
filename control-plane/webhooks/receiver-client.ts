/**
 * Posts deliveries to receivers that tenants have named. The address is looked up and checked for
 * every connection, and the socket goes to what was checked, not to the name: a name server that
 * answers differently the second time is not asked a second time. No redirect is followed; all of
 * it, from the name to the last byte, has one deadline.
 */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'
import { Agent, type buildConnector, type Dispatcher } from 'undici'
import { LIMITS } from '../../shared/limits.ts'
import { resolveName, type Resolve } from '../outbound/resolve-name.ts'
import {
  AddressRefused,
  createReceiverAddresses,
  readReceiverUrl,
  type ReceiverAddresses,
} from './public-address.ts'
import type { AddressCheck, ReceiverAnswer, ReceiverClient } from './receiver.ts'

export interface ReceiverWorld {
  /** CIDRs that the operator opens for test installations. */
  readonly allowPrivate: readonly string[]
  /** `http://` or `https://`: all deliveries go through it, to addresses that were checked here. */
  readonly egressProxy: string | null
  readonly resolve?: Resolve
  readonly timeoutMs?: number
  readonly keepAliveMs?: number
  /** Beside those of Node and NODE_EXTRA_CA_CERTS. */
  readonly ca?: string
}

const defaultResolve: Resolve = (name) => resolveName(name, LIMITS.webhookMsMax / 2)

export function createAddressCheck({
  allowPrivate,
  resolve = defaultResolve,
}: Pick<ReceiverWorld, 'allowPrivate' | 'resolve'>): AddressCheck {
  const addresses = createReceiverAddresses({ allowPrivate, resolve })
  return async (text) => {
    try {
      await addresses.find(readReceiverUrl(text).hostname)
      return undefined
    } catch (error) {
      if (error instanceof AddressRefused) return error.message
      throw error
    }
  }
}

export function createReceiverClient(world: ReceiverWorld): ReceiverClient {
  const { allowPrivate, resolve = defaultResolve, timeoutMs = LIMITS.webhookMsMax } = world
  const { keepAliveMs = LIMITS.webhookKeepAliveMsMax } = world
  const addresses = createReceiverAddresses({ allowPrivate, resolve })
  const agent = new Agent({
    connect: connectorTo({ ...world, addresses, timeoutMs }),
    // as many as are ever under way: nobody waits for a socket that another tenant holds
    connections: LIMITS.webhookSendsMax,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs, // whatever a receiver asks for
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: -1, // we stop reading by ourselves, and that is no failure
  })

  return {
    async post({ url, headers, body }): Promise<ReceiverAnswer> {
      const startedMs = performance.now()
      const ending = new AbortController()
      const deadline = ending.signal
      const timer = setTimeout(() => ending.abort(new Late()), timeoutMs)
      const ended = (status: number | undefined, firstBytes: string, problem: string) => ({
        status,
        milliseconds: Math.round(performance.now() - startedMs),
        firstBytes,
        problem,
      })
      try {
        const { origin, pathname, search } = readReceiverUrl(url)
        const path = pathname + search
        const wanted = { origin, path, method: 'POST', headers, body, signal: deadline } as const
        const answer = await raced(agent.request(wanted), deadline)
        const { statusCode } = answer
        try {
          return ended(statusCode, await firstBytesOf(answer, deadline), '')
        } catch (error) {
          // it has answered: what breaks off behind that is no other answer, unless it came too late
          return ended(statusCode, '', deadline.aborted ? problemOf(error, deadline) : '')
        }
      } catch (error) {
        return ended(undefined, '', problemOf(error, deadline))
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => agent.destroy(),
  }
}

/** Whoever waits for a name or a handshake does not hear of the signal by itself. */
function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(signal.reason as Error)
    signal.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
}

/** Enough to see what was said; whoever sends more is not listened to. */
async function firstBytesOf({ body }: Dispatcher.ResponseData, signal: AbortSignal) {
  const chunks: Buffer[] = []
  let bytes = 0
  const reading = (async () => {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= LIMITS.webhookAnswerBytesMax) return void body.destroy()
    }
  })()
  await raced(reading, signal)
  const text = Buffer.concat(chunks).subarray(0, LIMITS.webhookAnswerBytesMax).toString('utf8')
  return text.replaceAll('\0', '\ufffd')
}

interface ConnectorWorld extends ReceiverWorld {
  readonly addresses: ReceiverAddresses
  readonly timeoutMs: number
}

function connectorTo(world: ConnectorWorld): buildConnector.connector {
  return (options, callback) => {
    open(world, options).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    )
  }
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
    egressProxy === null ? undefined : await openTunnel(egressProxy, address, portNumber, world)
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
    throw new AddressRefused('the connection led to a network that webhooks do not reach')
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
function openTunnel(
  proxy: string,
  address: string,
  port: number,
  { timeoutMs }: ConnectorWorld,
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

class Late extends Error {
  override readonly name = 'TimeoutError'
}

class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused'
}

/** For the tenant to read: what to look at, never an address or a message of our own network. */
function problemOf(error: unknown, deadline: AbortSignal): string {
  if (error instanceof AddressRefused) return error.message
  if (error instanceof ProxyRefused) return 'the proxy that webhooks go through did not connect'
  const { code = '', name = '' } = error as { code?: string; name?: string }
  if (deadline.aborted || name === 'TimeoutError' || /TIMEOUT/.test(code))
    return `no answer within ${LIMITS.webhookMsMax / 1000} seconds`
  if (code === 'ECONNREFUSED') return 'the connection was refused'
  if (/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return 'the host is not reachable'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code))
    return `the TLS certificate or handshake was not in order (${code})`
  return 'the connection broke off, or the answer was not HTTP'
}
