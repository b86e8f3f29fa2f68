/** A client that closes its connection has left it, whatever it has said before. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { END_HEADERS, FrameClient, requestFields, TYPE } from '../../support/http2-frames.ts'
import { HOST, startSecureWire } from '../../support/secure-wire.ts'
import type { SecureWire } from '../../support/secure-wire.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const tick = () => new Promise((next) => setImmediate(next))
const ADDRESS = '127.0.0.1'
/** It stands: nothing ends here for lack of time. */
const clock = clockOf(() => 1_800_000_000_000)

/** A client over a socket of its own, so that each of the two can end without the other. */
async function frameClient(t: Test, wire: SecureWire) {
  const raw = connect({ port: wire.port, host: ADDRESS, allowHalfOpen: true })
  t.teardown(() => raw.destroy())
  raw.on('error', () => undefined)
  const secure = wire.tls({ socket: raw, ALPNProtocols: ['h2'] })
  const client = new FrameClient(secure)
  await once(secure, 'secureConnect')
  return { client, secure, raw }
}

const WAYS = {
  'close_notify and FIN': ({ secure }: Awaited<ReturnType<typeof frameClient>>) => secure.end(),
  'FIN alone': ({ raw }: Awaited<ReturnType<typeof frameClient>>) => raw.end(),
} as const

for (const [way, hangUp] of Object.entries(WAYS)) {
  t.test(`${way}, without GOAWAY: the connection and its place are free at once`, async (t) => {
    const origin = await startOrigin(t)
    const wire = await startSecureWire(t, origin.url, { clock })
    const visitor = await frameClient(t, wire)
    visitor.client.request(1, requestFields(HOST))
    t.ok(await visitor.client.until(({ type, stream }) => type === TYPE.data && stream === 1))
    t.equal(wire.addresses.of(ADDRESS), 1)
    hangUp(visitor)
    while (wire.http2.connections() > 0) await tick()
    t.equal(wire.addresses.of(ADDRESS), 0)
    const left = wire.addresses.siteOf(ADDRESS).shortConnections?.leftAt(clock.nowMs())
    t.equal(left, LIMITS.shortConnections.burst - 1, 'what it cost is known of its site')
  })

  t.test(`${way}, in the middle of requests: what the application does ends as well`, async (t) => {
    const origin = await startRawOrigin(t, (socket) => void socket.resume())
    const wire = await startSecureWire(t, origin.url, { clock })
    const visitor = await frameClient(t, wire)
    visitor.client.request(1, requestFields(HOST))
    visitor.client.request(3, requestFields(HOST), END_HEADERS) // its body is still to come
    while (origin.sockets.size < 2) await tick()
    hangUp(visitor)
    while (wire.http2.connections() > 0 || origin.sockets.size > 0) await tick()
    t.equal(wire.upstream.stats().sockets, 0)
    t.equal(wire.addresses.of(ADDRESS), 0)
    t.match(wire.outcomes, [{ isCut: true }, { isCut: true }])
  })

  t.test(`${way}, after answers that nobody took: nothing of them is kept`, async (t) => {
    const origin = await startOrigin(t, (_request, response) => response.end(Buffer.alloc(500_000)))
    const wire = await startSecureWire(t, origin.url, { clock })
    const visitor = await frameClient(t, wire)
    visitor.client.request(1, requestFields(HOST))
    t.ok(await visitor.client.until(({ type, stream }) => type === TYPE.data && stream === 1))
    hangUp(visitor)
    while (wire.http2.connections() > 0 || wire.outcomes.length === 0) await tick()
    t.match(wire.outcomes, [{ status: 200, isCut: true }])
  })
}

t.test('who speaks HTTP/1.1 over TLS may still end first and be answered', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => void release.promise.then(() => socket.write(ANSWER)))
  })
  const release = Promise.withResolvers<void>()
  const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const wire = await startSecureWire(t, origin.url, { clock })
  const secure = wire.tls({ ALPNProtocols: ['http/1.1'] })
  secure.allowHalfOpen = true
  let received = ''
  secure.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  secure.end(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
  while (origin.sockets.size === 0) await tick()
  release.resolve()
  await once(secure, 'end')
  t.match(received, /^HTTP\/1\.1 200 [^]*ok$/)
})
