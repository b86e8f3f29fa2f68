/** Real sockets around the codec: a recording origin, a gateway with a trivial decision, a raw client. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Test } from 'tap'
import type { Deadlines } from '../../gateway/wire/deadlines.ts'
import type { Exchange, ForwardPlan } from '../../gateway/wire/exchange.ts'
import { createHttp1Server } from '../../gateway/http1/server.ts'
import type { ExchangeOutcome } from '../../gateway/wire/protocol.ts'
import type { Http1ServerOptions } from '../../gateway/http1/world.ts'
import type { Http1Server } from '../../gateway/http1/server.ts'
import { createUpstreamRuntime } from '../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../gateway/upstream/upstream.ts'
import type { Upstream } from '../../gateway/wire/upstream-call.ts'
import type { UpstreamOptions } from '../../gateway/upstream/upstream.ts'
import type { Clock } from '../../shared/clock.ts'
import { rawListener } from './raw-listener.ts'

type T = Pick<Test, 'teardown'>

export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

export interface SeenRequest {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly trailers: readonly string[]
}

export interface Origin {
  readonly port: number
  readonly url: string
  /** Whole requests, as Node's own parser read them. */
  readonly seen: SeenRequest[]
  /** Heads that arrived, whole requests or not. */
  readonly begun: () => number
  readonly sockets: ReadonlySet<Socket>
}

/** An origin that records every request and answers `ok`, or as it is told. */
export async function startOrigin(
  t: T,
  answer: (request: IncomingMessage, response: ServerResponse, seen: SeenRequest) => void = (
    _request,
    response,
  ) => response.end('ok'),
): Promise<Origin> {
  const seen: SeenRequest[] = []
  const sockets = new Set<Socket>()
  let begun = 0
  const server = createServer((request, response) => {
    begun++
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const whole = {
        method: request.method ?? '',
        target: request.url ?? '',
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        trailers: request.rawTrailers,
      }
      seen.push(whole)
      answer(request, response, whole)
    })
    request.on('error', () => undefined)
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listening(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port, url: `http://127.0.0.1:${port}`, seen, begun: () => begun, sockets }
}

/** An origin that is a bare socket: `serve` gets each connection. */
export async function startRawOrigin(t: T, serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    serve(socket)
  })
  const port = await listening(server)
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  t.teardown(stop)
  return { port, url: `http://127.0.0.1:${port}`, sockets, stop }
}

export interface Wire {
  readonly port: number
  readonly server: Http1Server
  readonly upstream: Upstream
  readonly outcomes: ExchangeOutcome[]
  readonly plan: (exchange: Exchange) => ForwardPlan
  readonly deadlines: Deadlines
}

export interface WireOptions extends Partial<Http1ServerOptions> {
  readonly decide?: (exchange: Exchange, wire: Wire) => void
  readonly upstreamOptions?: Partial<UpstreamOptions>
  readonly sweepMs?: number
  /** For the way to the origin as well. */
  readonly everyClock?: Clock
}

/** A gateway that forwards everything, or as `decide` says. */
export async function startWire(t: T, origin: string, options: WireOptions = {}): Promise<Wire> {
  const { everyClock: clock, sweepMs = 20 } = options
  const runtime = createUpstreamRuntime({ sweepMs, ...(clock && { clock }) })
  const upstream = createUpstream({
    origin,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    runtime,
    ...options.upstreamOptions,
  })
  const outcomes: ExchangeOutcome[] = []
  const decide = options.decide ?? ((exchange) => exchange.forward(plan(exchange)))
  const server = createHttp1Server({
    timeouts: { headMs: 60_000, idleMs: 60_000, keepAliveMs: 60_000 },
    onExchangeEnd: (_exchange, outcome) => outcomes.push(outcome),
    deadlines: runtime.deadlines,
    ...(clock && { clock }),
    ...options,
    handle: (exchange) => decide(exchange, wire),
  })
  const listener = rawListener(server.accept)
  const port = await listening(listener)
  const plan = (exchange: Exchange): ForwardPlan => ({
    upstream,
    requestLines: `Host: ${exchange.head.authority}\r\nX-Service-Verified: true\r\n`,
    responseLines: '',
    isPrivate: false,
    privateCookieLine: '',
  })
  const { deadlines } = runtime
  const wire: Wire = { port, server, upstream, outcomes, plan, deadlines }
  t.teardown(async () => {
    listener.close()
    server.close()
    await upstream.close()
    runtime.close()
  })
  return wire
}

export interface Answer {
  readonly status: number
  /** Status line and header lines. */
  readonly head: string
  readonly body: Buffer
  readonly isWhole: boolean
}

/** A client that writes bytes and reads answers by their framing. */
export class RawClient {
  readonly socket: Socket
  readonly closed: Promise<void>
  readonly #methods: string[] = []
  #received = Buffer.alloc(0)
  #isEnded = false
  #wake: (() => void) | null = null

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    this.closed = new Promise((resolve) => {
      const end = () => {
        this.#isEnded = true
        this.#wake?.()
        resolve()
      }
      this.socket.on('end', end).on('close', end)
    })
    this.socket.on('error', () => undefined)
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake?.()
    })
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
    return this
  }

  /** The next final answer; undefined where the connection ends without one. */
  async answer(method = 'GET'): Promise<Answer | undefined> {
    for (;;) {
      const answer = this.#take(method)
      if (answer !== undefined && answer.status >= 200) return answer
      if (answer !== undefined) this.informational.push(answer)
      else if (this.#isEnded) return this.#takeCut()
      else await this.more()
    }
  }
  readonly informational: Answer[] = []

  /** Waits for the next bytes, or the end. */
  async more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  async until(condition: (received: string) => boolean): Promise<string> {
    while (!condition(this.received) && !this.#isEnded) await this.more()
    return this.received
  }

  get isClosed(): boolean {
    return this.#isEnded
  }

  get received(): string {
    return this.#received.toString('latin1')
  }

  #take(method: string): Answer | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const head = this.#received.toString('latin1', 0, headEnd)
    const status = Number(head.slice(9, 12))
    const found = bodyOf(head, status, method, this.#received.subarray(headEnd + 4), this.#isEnded)
    if (found === undefined) return undefined
    this.#received = this.#received.subarray(headEnd + 4 + found.used)
    return { status, head, body: found.body, isWhole: true }
  }

  #takeCut(): Answer | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const head = this.#received.toString('latin1', 0, headEnd)
    const body = this.#received.subarray(headEnd + 4)
    return { status: Number(head.slice(9, 12)), head, body, isWhole: false }
  }

  close(): void {
    this.socket.destroy()
  }
}

function bodyOf(head: string, status: number, method: string, rest: Buffer, isEnded: boolean) {
  const none = { body: Buffer.alloc(0), used: 0 }
  if (status < 200 || status === 204 || status === 304 || method === 'HEAD') return none
  const length = /^content-length: ([0-9]+)$/im.exec(head)?.[1]
  if (length !== undefined) {
    const used = Number(length)
    return rest.length < used ? undefined : { body: rest.subarray(0, used), used }
  }
  if (!/^transfer-encoding: chunked$/im.test(head))
    return isEnded ? { body: rest, used: rest.length } : undefined
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error('the gateway sent a bad chunk')
    if (size === 0) {
      const end = rest.indexOf('\r\n\r\n', lineEnd)
      return end === -1 ? undefined : { body: Buffer.concat(chunks), used: end + 4 }
    }
    if (rest.length < lineEnd + 2 + size + 2) return undefined
    chunks.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}

/** Sends one text and reads as many answers as methods are given. */
export async function talk(
  t: T,
  port: number,
  text: string,
  methods: readonly string[] = ['GET'],
): Promise<(Answer | undefined)[]> {
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(text)
  const answers: (Answer | undefined)[] = []
  for (const method of methods) answers.push(await client.answer(method))
  client.close()
  return answers
}
