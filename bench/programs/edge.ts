/** Our wire with the shortest of decisions: `node bench/programs/edge.ts <port> <origin port>`. */
import { createHttp1Server } from '../../gateway/http1/server.ts'
import { createUpstream } from '../../gateway/upstream/upstream.ts'
import { rawListener } from '../../test/support/raw-listener.ts'

const [port = 0, originPort = 0] = process.argv.slice(2).map(Number)
const upstream = createUpstream({
  origin: `http://127.0.0.1:${originPort}`,
  timeouts: { connectMs: 5000, firstByteMs: 30_000, idleMs: 60_000 },
})
const server = createHttp1Server({
  timeouts: { headMs: 10_000, idleMs: 60_000, keepAliveMs: 75_000 },
  handle: (exchange) => {
    const { authority, cookies } = exchange.head
    const token = cookies.slice(cookies.indexOf('service_session=') + 16)
    exchange.forward({
      upstream,
      requestLines:
        `Host: ${authority}\r\nCookie: service_session=${token}\r\nX-Service-User: ada\r\nX-Service-Verified: true\r\n` +
        `X-Service-Claims: ${token}\r\nX-Forwarded-For: ${exchange.peerAddress}\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: ${authority}\r\n`,
      responseLines: 'X-Request-Id: 0123456789abcdef\r\n',
      isPrivate: true,
      privateCookieLine: '',
    })
  },
})
const listener = rawListener(server.accept)
listener.listen(port, '127.0.0.1', 4096)
process.once('SIGTERM', () => process.exit(0))
