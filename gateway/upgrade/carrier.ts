/**
 * http-proxy-3, given only what it may decide. It strips nothing that Connection names and appends
 * to a client's own X-Forwarded-For, so it gets a request whose headers are exactly the lines that
 * we wrote, and forwards the very target that was decided on.
 */
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { createRequire } from 'node:module'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type * as HttpProxy from 'http-proxy-3'
import type { UpstreamRequest } from '../wire/upstream-call.ts'
import type { Tunnel } from './tunnel.ts'

const require = createRequire(import.meta.url)

/** What becomes of a request that is being carried. */
export interface CarriedCalls {
  /** Before anything is sent. */
  onRequest(call: ClientRequest): void
  /** http-proxy-3 has begun with it. */
  onCarried(): void
  onError(error: NodeJS.ErrnoException): void
}

export function createCarrier({ lookup }: { readonly lookup: LookupFunction }) {
  let loaded: HttpProxy.ProxyServer | undefined
  const agent = new Agent({ lookup })
  const secureAgent = new SecureAgent({ lookup, ALPNProtocols: ['http/1.1'] })
  /** With the first WebSocket: many gateways never see one, and it takes a tenth of a worker's start. */
  function open() {
    const { createProxyServer } = require('http-proxy-3') as typeof HttpProxy
    // Each call hears of its own errors; unheard, they would end the process.
    return createProxyServer({}).on('error', () => {})
  }

  return {
    /** With a socket, on that one; `origin` is then only a name. */
    carry(
      origin: string,
      request: UpstreamRequest,
      tunnel: Tunnel,
      calls: CarriedCalls,
      socket?: Socket,
    ): void {
      const target = new URL(origin)
      if (socket !== undefined) target.protocol = 'http:'
      const isSecure = target.protocol === 'https:'
      const host = target.hostname.replace(/^\[|\]$/g, '')
      const clean = {
        method: 'GET',
        url: request.target,
        httpVersion: '1.1',
        httpVersionMajor: 1,
        headers: headersOf(request.lines),
      } as unknown as IncomingMessage
      const options = {
        target,
        agent: socket ? new OneSocket(socket) : isSecure ? secureAgent : agent,
        // Node would take the name to verify from the Host header, which is the client's.
        ssl: { servername: isIP(host) === 0 ? host : '' },
        prependPath: false,
        toProxy: true,
      }
      try {
        loaded ??= open()
      } catch (error) {
        socket?.destroy()
        return calls.onError(error as Error)
      }
      const proxy = loaded
      proxy.once('proxyReqWs', (call) => {
        // http-proxy-3 joins paths, and loses an empty query on the way.
        call.path = request.target
        calls.onRequest(call)
      })
      try {
        proxy.ws(clean, tunnel, undefined, options, (error) => calls.onError(error))
      } finally {
        proxy.removeAllListeners('proxyReqWs')
      }
      calls.onCarried()
    },
    close() {
      agent.destroy()
      secureAgent.destroy()
    },
  }
}

/** For one request, on a connection that is there already. */
class OneSocket extends Agent {
  readonly #socket: Socket

  constructor(socket: Socket) {
    super()
    this.#socket = socket
  }

  override createConnection(): Socket {
    return this.#socket
  }
}

/** By name as it is spelled first, so that lines of one name stay together and none is lost. */
function headersOf(lines: string): Record<string, string | string[]> {
  const found = new Map<string, { name: string; values: string[] }>()
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    const entry = found.get(name.toLowerCase()) ?? { name, values: [] }
    entry.values.push(line.slice(colon + 1).trimStart())
    found.set(name.toLowerCase(), entry)
  }
  const headers = Object.create(null) as Record<string, string | string[]>
  for (const { name, values } of found.values())
    headers[name] = values.length === 1 ? values[0]! : values
  // In lower case, as http-proxy-3 looks for them.
  headers['connection'] = 'Upgrade'
  headers['upgrade'] = 'websocket'
  return headers
}
