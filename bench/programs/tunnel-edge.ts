/**
 * The edge's own wire and pool, with the shortest of decisions, and three ways to the application:
 * `node bench/programs/tunnel-edge.ts <port> <way> <origin port> <tunnel port>`, where a way is
 * `address` (dialled), `reversed` (connections that the other side has dialled) or `http2` (CONNECT
 * streams of one session that the other side has dialled).
 */
import { readFileSync } from 'node:fs'
import { connect as openSession, type ClientHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { createHttp1Server } from '../../gateway/http1/server.ts'
import { createUpstream } from '../../gateway/upstream/upstream.ts'
import type { Way } from '../../gateway/wire/upstream-call.ts'
import { rawListener } from '../../test/support/raw-listener.ts'

const [port, way, originPort, tunnelPort, certificate = ''] = process.argv.slice(2)
const spares: TLSSocket[] = []
let session: ClientHttp2Session | undefined

/** One client has all of it. */
const shared = { isCrowded: () => false, hasRoomFor: () => true, roomNow: () => () => true }

/** A spare connection is asked with OPEN; once it has answered OK it is the application's. */
const reversed: Way = {
  ...shared,
  open({ onOpened }) {
    const socket = spares.shift()
    if (socket === undefined) throw new Error('no spare connection: let more be kept')
    socket.removeAllListeners('data')
    socket.once('data', (chunk: Buffer) => {
      if (chunk.toString('latin1') === 'OK\n') onOpened(socket)
      else socket.destroy()
    })
    socket.write('OPEN\n')
  },
}

const streams: Way = {
  ...shared,
  open({ onOpened }) {
    if (session === undefined) throw new Error('no session')
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'application' })
    stream.once('response', () => {
      onOpened(Object.assign(stream, { setNoDelay() {} }) as unknown as Socket)
    })
  },
}

if (way !== 'address') {
  const pem = readFileSync(certificate)
  const server = createServer({ key: pem, cert: pem, ALPNProtocols: ['service-connector/1'] })
  server.on('secureConnection', (socket) => {
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    if (way === 'reversed') {
      spares.push(socket)
      return void socket.resume()
    }
    session = openSession('http://application', {
      createConnection: () => socket,
      settings: { initialWindowSize: 2 ** 20 },
    })
    session.setLocalWindowSize(2 ** 24)
  })
  server.listen(Number(tunnelPort), '127.0.0.1')
}

const upstream = createUpstream({
  origin: `http://127.0.0.1:${originPort}`,
  timeouts: { connectMs: 5000, firstByteMs: 30_000, idleMs: 60_000 },
  ...(way === 'reversed' && { way: reversed }),
  ...(way === 'http2' && { way: streams }),
})
const server = createHttp1Server({
  timeouts: { headMs: 10_000, idleMs: 60_000, keepAliveMs: 75_000 },
  handle: (exchange) => {
    const { authority } = exchange.head
    exchange.forward({
      upstream,
      requestLines: `Host: ${authority}\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: ${authority}\r\n`,
      responseLines: 'X-Request-Id: 0123456789abcdef\r\n',
      isPrivate: true,
      privateCookieLine: '',
    })
  },
})
rawListener(server.accept).listen(Number(port), '127.0.0.1', 4096)
process.once('SIGTERM', () => process.exit(0))
