/** WebSockets in streams of HTTP/2 (RFC 8441), as browsers open them where a connection is there already. */
import { once } from 'node:events'
import { connect, type ClientHttp2Stream } from 'node:http2'
import { createServer } from 'node:net'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { certificateFor } from './certificate.ts'
import { HOST, startEdge } from './edge-world.ts'
import { listening } from './wire.ts'

/** An edge that is asked over TLS, and a connection of HTTP/2 to it. */
export async function startHttp2Edge(
  t: Test,
  origin: string,
  timeouts: Parameters<typeof startEdge>[3] = {},
) {
  const own = certificateFor(HOST)
  const edge = await startEdge(
    t,
    origin,
    {
      certificates: [{ hostname: HOST, certificate_pem: own.cert, private_key_pem: own.key }],
    },
    timeouts,
  )
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    edge.gateway.server.acceptTls(socket),
  )
  const port = await listening(listener)
  t.teardown(() => listener.close())
  const authority = `${HOST}:${port}`
  const session = connect(`https://127.0.0.1:${port}`, { ca: own.cert, servername: HOST })
  session.on('error', () => undefined)
  t.teardown(() => session.destroy())
  await once(session, 'remoteSettings')
  return { edge, authority, session }
}

export type Http2Edge = Awaited<ReturnType<typeof startHttp2Edge>>

/** `more` with undefined takes a field away. */
export function openStream(
  { session, authority }: Pick<Http2Edge, 'session' | 'authority'>,
  path: string,
  more: Readonly<Record<string, string | undefined>> = {},
  isEnd = false,
): ClientHttp2Stream {
  const headers = {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'https',
    ':path': path,
    ':authority': authority,
    'sec-websocket-version': '13',
    origin: `https://${authority}`,
    ...more,
  }
  const given = Object.entries(headers).filter(([, value]) => value !== undefined)
  const stream = session.request(Object.fromEntries(given), { endStream: isEnd })
  stream.on('error', () => undefined)
  return stream
}

export async function answerTo(stream: ClientHttp2Stream) {
  const [headers] = (await once(stream, 'response')) as [Record<string, string>]
  return { status: Number(headers[':status']), headers }
}

export async function openWebSocket(
  t: Test,
  edge: Pick<Http2Edge, 'session' | 'authority'>,
  path: string,
  more: Readonly<Record<string, string | undefined>> = {},
) {
  const stream = openStream(edge, path, more)
  const { status, headers } = await answerTo(stream)
  if (status !== 200) throw new Error(`${status}`)
  const { socket, closed } = speak(t, stream)
  return { stream, socket, closed, headers }
}

const OPTIONS = { autoPong: true, closeTimeout: 30_000 }

/** `ws` has no client over a stream, but takes one whose handshake is over. */
function speak(t: Test, stream: ClientHttp2Stream) {
  const socket = new WebSocket(null as unknown as string, [], OPTIONS)
  const inside = socket as unknown as { _isServer: boolean; setSocket(...given: unknown[]): void }
  inside._isServer = false
  inside.setSocket(stream, Buffer.alloc(0), { maxPayload: 1 << 26, allowSynchronousEvents: true })
  t.teardown(() => socket.terminate())
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  return { socket, closed }
}
