/** What lasts long, breaks off or is said at the very end of a stream. */
// apart: measures the buffers of its process
import { once } from 'node:events'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import {
  END_HEADERS,
  frame,
  FrameClient,
  requestFields,
  TYPE,
  uint32,
} from '../../support/http2-frames.ts'
import { answerOf, ask, HOST, startSecureWire } from '../../support/secure-wire.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const tick = () => new Promise((next) => setImmediate(next))

function manualClock() {
  let nowMs = 1_800_000_000_000
  return { ...clockOf(() => nowMs), pass: (ms: number) => void (nowMs += ms) }
}

t.test('the last request of a connection says so at once, not when it is idle', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, {
    clock: manualClock(), // nothing ends for lack of time
    limits: { requestsPerConnectionMax: 2 },
  })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  client.request(1, requestFields(HOST))
  t.ok(await client.until(({ type, stream }) => type === TYPE.data && stream === 1))
  t.equal(client.goawayCode(), undefined)
  client.request(3, requestFields(HOST))
  await client.closed
  t.equal(client.goawayCode(), 0)
  t.equal(origin.seen.length, 2)
})

t.test('who comes while we drain and asks nothing is not waited for', async (t) => {
  const clock = manualClock()
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { clock })
  await wire.http2.drain()
  const late = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  await late.settled()
  clock.pass(LIMITS.lingerMsMax + 1)
  wire.deadlines.sweep()
  await late.closed
  while (wire.http2.connections() > 0) await tick()

  const asking = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  asking.request(1, requestFields(HOST))
  await asking.closed
  t.equal(origin.seen.length, 1, 'one request of it is answered, and it ends by itself')
})

t.test('a client that stalls and goes on is not cut, however long the rest takes', async (t) => {
  const clock = manualClock()
  const bytes = 4_000_000
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes + 1}\r\n\r\n`)
      socket.write(Buffer.alloc(bytes))
    })
  })
  const wire = await startSecureWire(t, origin.url, { clock })
  const client = wire.http2Client()
  const stream = client.request({ ':authority': HOST })
  stream.on('error', () => undefined)
  await once(stream, 'response')
  // Not reading yet: its window is used up, and the gateway waits for it.
  for (let count = 0; count < 50; count++) await new Promise((next) => client.ping(next))
  let received = 0
  stream.on('data', (chunk: Buffer) => (received += chunk.length))
  while (received < bytes) await tick()
  clock.pass(LIMITS.http2StreamIdleMsMax + 1)
  wire.deadlines.sweep()
  for (let count = 0; count < 20; count++) await new Promise((next) => client.ping(next))
  t.notOk(stream.closed, 'now it is the application that is waited for')
  for (const socket of origin.sockets) socket.write('!')
  await once(stream, 'end')
  t.equal(received, bytes + 1)
})

t.test('an upload that is reset never looks whole to the application', async (t) => {
  let received = ''
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  })
  const wire = await startSecureWire(t, origin.url)
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  for (const [at, code] of [0, 5, 8].entries()) {
    received = ''
    const stream = 1 + 2 * at
    const block = requestFields(HOST).toString('latin1').replace('\x03GET', '\x04POST')
    client.request(stream, Buffer.from(block, 'latin1'), END_HEADERS)
    client.send(frame(TYPE.data, 0, stream, Buffer.from('hello')))
    while (!received.includes('hello')) await tick()
    client.send(frame(TYPE.reset, 0, stream, uint32(code)))
    while (origin.sockets.size > 0) await tick()
    t.match(received, /transfer-encoding: chunked/i)
    t.notMatch(received, /\r\n0\r\n/, `code ${code}`)
  }
})

t.test('what the gateway holds of an upload that nobody reads is a few windows', async (t) => {
  const origin = await startRawOrigin(t, (socket) => void socket.pause())
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  const streams = Array.from({ length: 4 }, () => {
    const stream = client.request({ ':method': 'POST', ':authority': HOST }, { endStream: false })
    stream.on('error', () => undefined)
    stream.write(Buffer.alloc(64 << 20))
    return stream
  })
  while (origin.sockets.size < streams.length) await tick()
  const bytesOf = () => {
    let bytes = 0
    for (const socket of origin.sockets) bytes += socket.bytesRead
    return bytes
  }
  for (let same = 0, last = -1; same < 50; same = bytesOf() === last ? same + 1 : 0) {
    last = bytesOf()
    await new Promise((next) => client.ping(next))
  }
  const { arrayBuffers } = process.memoryUsage()
  // The client's own four bodies are of this process as well.
  t.ok(arrayBuffers < (4 * 64 + 64) << 20, `${arrayBuffers >> 20} MiB in buffers`)
  for (const stream of streams) stream.close()
})

t.test('trailers of a request have the limits of a head', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const send = async (trailers: Record<string, string>) => {
    const stream = wire
      .http2Client()
      .request({ ':method': 'POST', ':authority': HOST }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    return answerOf(stream, 'body')
  }
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_item, at) => [`x-${at}`, 'y']))
  const long = (bytes: number) => ({ 'x-a': 'y'.repeat(bytes - 'x-a: \r\n'.length) })
  t.match(await send(many(LIMITS.headerCountMax)), { status: 200 })
  t.match(await send(many(LIMITS.headerCountMax + 1)), { status: 400 })
  t.match(await send(long(LIMITS.trailerBytesMax)), { status: 200 })
  t.match(await send(long(LIMITS.trailerBytesMax + 1)), { status: 400 })
  t.equal(origin.seen.length, 2)
})

t.test('no name of a trailer means anything to us but its name', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n__proto__: a\r\nconstructor: b\r\nX-T: c\r\n\r\n',
      ),
    )
  })
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  for (let round = 0; round < 2; round++) {
    const answer = await ask(client, {})
    t.match(answer, { status: 200, rstCode: 0, body: Buffer.from('hi') })
    t.equal(answer.trailers['x-t'], 'c')
  }
  t.same(wire.errors, [])
})
