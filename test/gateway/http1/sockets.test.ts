/** The same codec on every kind of socket: TLS, one that was read before, one that is no socket. */
import { createHash } from 'node:crypto'
import { request as httpsRequest } from 'node:https'
import { createServer } from 'node:net'
import { duplexPair } from 'node:stream'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import type { Socket } from 'node:net'
import t from 'tap'
import { certificateFor } from '../../support/certificate.ts'
import { RawClient, listening, startOrigin, startWire } from '../../support/wire.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

t.test('uploads and downloads pass whole over TLS', async (t) => {
  const origin = await startOrigin(t, (_request, response, { body }) => response.end(body))
  const wire = await startWire(t, origin.url)
  const pair = certificateFor('app.test')
  const front = createTlsServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) =>
    wire.server.accept(socket, { isSecure: true }),
  )
  const port = await listening(front)
  t.teardown(() => front.close())
  for (const bytes of [0, 1, 16_384, 16_385, 100_000, 5_000_000]) {
    const sent = Buffer.alloc(bytes, 'tls ')
    const received = await new Promise<Buffer>((resolve, reject) => {
      const options = {
        port,
        host: '127.0.0.1',
        servername: 'app.test',
        ca: pair.cert,
        method: 'POST',
      }
      httpsRequest({ ...options, headers: { host: 'app.test' }, agent: false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks)))
      })
        .on('error', reject)
        .end(sent)
    })
    const hash = (of: Buffer) => createHash('sha256').update(of).digest('hex')
    t.equal(hash(received), hash(sent), `${bytes} bytes there and back`)
  }
})

t.test('bytes that were read before and put back are the first to be looked at', async (t) => {
  const origin = await startOrigin(t, (request, response) => response.end(request.url))
  const peers: string[] = []
  const wire = await startWire(t, origin.url, {
    decide(exchange, wire) {
      peers.push(exchange.peerAddress)
      exchange.forward(wire.plan(exchange))
    },
  })
  const front = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', (chunk: Buffer) => {
      socket.pause()
      socket.unshift(chunk.subarray(chunk.indexOf('\n') + 1))
      wire.server.accept(socket, { peerAddress: '192.0.2.7' })
      socket.resume()
    })
  })
  const port = await listening(front)
  t.teardown(() => front.close())
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(`PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n${GET.replace('/', '/1')}${GET.slice(0, 10)}`)
  t.equal((await client.answer())?.body.toString(), '/1')
  client.send(GET.slice(10))
  t.equal((await client.answer())?.body.toString(), '/')
  t.strictSame(peers, ['192.0.2.7', '192.0.2.7'])
})

t.test('a stream that is no socket of Node works as well', async (t) => {
  const origin = await startOrigin(t, (_request, response, { body }) => response.end(body))
  const wire = await startWire(t, origin.url)
  const [near, far] = duplexPair()
  wire.server.accept(asSocket(far), { peerAddress: '192.0.2.7' })
  let received = ''
  near.on('data', (chunk) => (received += String(chunk)))
  near.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\nConnection: close\r\n\r\n')
  near.write('x'.repeat(200_000))
  await new Promise((resolve) => near.on('end', resolve))
  near.destroy()
  t.match(received, /^HTTP\/1.1 200 OK\r\n/)
  t.ok(received.endsWith(`\r\n\r\n${'x'.repeat(200_000)}`))
})

function asSocket(stream: Duplex): Socket {
  const same = () => stream
  return Object.assign(stream, { setNoDelay: same, setTimeout: same }) as unknown as Socket
}
