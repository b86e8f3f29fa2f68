/** An application that speaks WebSocket, and clients as a browser would be one. */
import { createServer, type IncomingMessage } from 'node:http'
import { WebSocket, WebSocketServer, type ClientOptions } from 'ws'
import { HOST, USER_AGENT, type EdgeWorld } from './edge-world.ts'
import { listening } from './wire.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export interface WebSocketApplication {
  readonly url: string
  /** The requests that it accepted. */
  readonly opened: IncomingMessage[]
  readonly sockets: WebSocket[]
  /** How each ended, as the application was told. */
  readonly closed: { code: number; reason: string }[]
  /** Ordinary requests that it got. */
  readonly requested: string[]
}

/** Sends back what it is sent, unless `serve` does something else. */
export async function startWebSocketApplication(
  t: Teardown,
  serve: (socket: WebSocket, request: IncomingMessage) => void = echo,
): Promise<WebSocketApplication> {
  const application = {
    url: '',
    opened: [] as IncomingMessage[],
    sockets: [] as WebSocket[],
    closed: [] as { code: number; reason: string }[],
    requested: [] as string[],
  }
  const server = createServer((request, response) => {
    application.requested.push(request.url ?? '')
    response.end('ordinary')
  })
  const webSockets = new WebSocketServer({ server, perMessageDeflate: true })
  webSockets.on('connection', (socket, request) => {
    application.opened.push(request)
    application.sockets.push(socket)
    socket.on('error', () => {})
    socket.on('close', (code, reason) => {
      application.closed.push({ code, reason: reason.toString() })
    })
    serve(socket, request)
  })
  application.url = `http://127.0.0.1:${await listening(server)}`
  t.teardown(() => {
    for (const socket of application.sockets) socket.terminate()
    webSockets.close()
    server.closeAllConnections()
    server.close()
  })
  return application
}

function echo(socket: WebSocket) {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
}

export interface Ended {
  readonly code: number
  readonly reason: string
}

export interface Client {
  readonly socket: WebSocket
  readonly closed: Promise<Ended>
  next(): Promise<Buffer>
}

export interface ConnectOptions {
  readonly cookie?: string
  readonly headers?: Record<string, string>
  readonly socket?: ClientOptions
}

/** Rejects where the answer is no 101, with the answer's status and body. */
export async function connect(
  t: Teardown,
  edge: EdgeWorld,
  path: string,
  { cookie, headers = {}, socket: options }: ConnectOptions = {},
): Promise<Client> {
  const socket = new WebSocket(edge.url + path, {
    ...options,
    headers: {
      host: `${HOST}:${edge.port}`,
      'user-agent': USER_AGENT,
      ...(cookie !== undefined && { cookie }),
      ...headers,
    },
  })
  t.teardown(() => socket.terminate())
  const received: Buffer[] = []
  const waiting: ((data: Buffer) => void)[] = []
  socket.on('message', (data: Buffer) => {
    const asked = waiting.shift()
    if (asked === undefined) received.push(data)
    else asked(data)
  })
  const closed = new Promise<Ended>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.on('error', reject)
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      let body = ''
      response.on('data', (chunk: Buffer) => void (body += chunk.toString()))
      response.on('end', () => reject(new Refused(response, body)))
      response.on('error', reject)
    })
  })
  return {
    socket,
    closed,
    next() {
      const data = received.shift()
      return data === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(data)
    },
  }
}

export class Refused extends Error {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string

  constructor({ statusCode = 0, headers }: IncomingMessage, body: string) {
    super(`${statusCode} ${body}`)
    this.status = statusCode
    this.headers = headers
    this.body = body
  }
}

/** The refusal that a connection meets; fails where it is let in. */
export async function refusalOf(connecting: Promise<Client>): Promise<Refused> {
  try {
    await connecting
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
  throw new Error('it was let in')
}
