/** What a client may say of a stream that we are not done with, or have not taken. */
import t from 'tap'
import {
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  FrameClient,
  requestFields,
  TYPE,
  uint32,
} from '../../../support/http2-frames.ts'
import { initialWindow, widen } from '../../../support/http2-spring.ts'
import { HOST, startSecureWire } from '../../../support/secure-wire.ts'
import { startRawOrigin } from '../../../support/wire.ts'

const HEAD = fields([
  [':method', 'HEAD'],
  [':scheme', 'https'],
  [':authority', HOST],
  [':path', '/'],
])

for (const [name, said] of [
  ['opens its window', widen(1, 1000)],
  ['changes the windows of all', initialWindow(100_000)],
] as const)
  t.test(`an answer to HEAD begins with its head, whoever ${name} before`, async (t) => {
    const origin = await startRawOrigin(t, (socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')),
    )
    const wire = await startSecureWire(t, origin.url)
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.request(1, HEAD).send(said)
    const first = await client.until(({ stream }) => stream === 1)
    t.equal(first?.type, TYPE.headers)
    t.equal(first?.flags, END_HEADERS | END_STREAM)
    await client.settled()
    t.equal(wire.outcomes[0]?.isCut, false)
  })

const REFUSED = 7
const some = Buffer.from('x')
const none = Buffer.alloc(0)

for (const [name, ...more] of [
  ['a body', frame(TYPE.data, 0, 3, some), frame(TYPE.data, END_STREAM, 3, none)],
  ['trailers', frame(TYPE.headers, END_HEADERS | END_STREAM, 3, fields([['x-a', 'b']]))],
  ['a window', widen(3, 1000)],
  ['a reset', frame(TYPE.reset, 0, 3, uint32(8))],
] as const)
  t.test(`${name} of a request that GOAWAY came before ends no others`, async (t) => {
    let answer: (() => void) | undefined
    const origin = await startRawOrigin(t, (socket) =>
      socket.on('data', () => {
        answer = () => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      }),
    )
    const wire = await startSecureWire(t, origin.url)
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.request(1, requestFields(HOST))
    while (answer === undefined) await client.settled()
    void wire.http2.drain()
    client.request(3, requestFields(HOST), END_HEADERS).send(...more)
    t.equal(await client.settled(), 'open')
    t.equal(client.resetCode(3), REFUSED)
    answer()
    await client.until(({ stream, type }) => stream === 1 && type === TYPE.data)
    t.equal(wire.outcomes[0]?.isCut, false)
    await client.closed
    const goaways = client.frames.filter(({ type }) => type === TYPE.goaway)
    t.same(
      goaways.map(({ payload }) => [payload.readUInt32BE(0), payload.readUInt32BE(4)]),
      [[1, 0]],
      'it was told once, and of the request that was taken',
    )
  })

t.test('whoever ends each body behind its reset is no attacker', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const limits = { http2InvalidFramesMax: 3 }
  const wire = await startSecureWire(t, origin.url, { limits })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  const ends = (id: number) => frame(TYPE.data, END_STREAM, id, none)
  // Refused with an answer, which the reset stands behind.
  const ids = [1, 3, 5, 7, 9]
  for (const id of ids) client.request(id, requestFields('elsewhere.test'), END_HEADERS)
  for (const id of ids)
    await client.until(({ type, stream }) => type === TYPE.reset && stream === id)
  t.equal(await client.send(...ids.map(ends)).settled(), 'open', 'once for each')
  t.equal(await client.send(...ids.slice(0, 3).map(ends)).settled(), 'open')
  client.send(ends(9))
  await client.closed
  t.equal(client.goawayCode(), 11, 'and no more')
})

t.test('a table that is made small and large again in one frame is empty', async (t) => {
  const origin = await startRawOrigin(t, (socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
  )
  const wire = await startSecureWire(t, origin.url)
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  const size = (bytes: number) => Buffer.concat([Buffer.from([0, 1]), uint32(bytes)])
  client.send(frame(TYPE.settings, 0, 0, Buffer.concat([size(0), size(4096)])))
  const head = (id: number) =>
    client.until(({ type, stream }) => type === TYPE.headers && stream === id)
  const first = await (client.request(1, requestFields(HOST)), head(1))
  // RFC 7541 section 4.2: the smaller one is told before the last one.
  t.equal(first?.payload.toString('hex', 0, 4), '203fe11f')
  const second = await (client.request(3, requestFields(HOST)), head(3))
  t.equal(second?.payload[0], 0x88, 'and once')
})
