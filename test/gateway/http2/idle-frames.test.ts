/** Frames that bring nothing: which of them are counted, and which have a reason. */
import t from 'tap'
import { END_HEADERS, frame, FrameClient, requestFields, TYPE } from '../../support/http2-frames.ts'
import {
  bytesOf,
  initialWindow,
  settle,
  startSpringWire,
  widen,
} from '../../support/http2-spring.ts'
import { HOST } from '../../support/secure-wire.ts'

const FEW = { http2IdleFrames: { burst: 100, perSecond: 0 } }

t.test(
  'whoever opens its windows for all that it takes may take as much as it likes',
  async (t) => {
    const { wire } = await startSpringWire(t, { limits: FEW })
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.send(initialWindow(1 << 20), widen(0, 1 << 20)).request(1, requestFields(HOST, '/giant'))
    // As Go does it: for each 4 KiB, for the stream and for the connection.
    let read = 0
    let answered = 0
    while (answered < 600 && !client.isClosed) {
      read += bytesOf(client, 1)
      client.frames.splice(0)
      for (; read >= 4096; read -= 4096, answered += 2) client.send(widen(1, 4096), widen(0, 4096))
      await client.settled()
    }
    t.equal(await client.settled(), 'open')
    t.same(wire.abuses, [])
  },
)

t.test('and whoever opens them for nothing is ended, whatever it has taken before', async (t) => {
  const { wire } = await startSpringWire(t, { limits: FEW })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  client.request(1, requestFields(HOST, '/page'))
  await settle(client)
  const taken = bytesOf(client, 1)
  t.ok(taken > 60_000 && taken < 66_000, `${taken} bytes`)
  const free = Math.floor(taken / 2048)
  const nothing = (count: number) =>
    client.send(...Array.from({ length: count }, () => widen(1, 1)))
  t.equal(await nothing(free + FEW.http2IdleFrames.burst).settled(), 'open')
  t.equal(await nothing(1 + Math.ceil((free + 100) / 2048)).settled(), 'closed')
  t.same(wire.abuses, ['control_frames'])
})

const PADDED = 8
const noLength = Buffer.from([0])

for (const [name, idle] of [
  ['DATA that is all padding', frame(TYPE.data, PADDED, 1, noLength)],
  ['DATA of a stream that was reset', frame(TYPE.data, 0, 3, noLength)],
  ['GOAWAY', frame(TYPE.goaway, 0, 0, Buffer.alloc(8))],
] as const)
  t.test(`a flood of ${name} ends its connection`, async (t) => {
    const { wire } = await startSpringWire(t, { limits: FEW, decide: () => undefined })
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.request(1, requestFields(HOST), END_HEADERS)
    client.request(3, requestFields('elsewhere.test'), END_HEADERS)
    await client.until(({ type, stream }) => type === TYPE.reset && stream === 3)
    const { burst } = FEW.http2IdleFrames
    t.equal(await client.send(...Array.from({ length: burst }, () => idle)).settled(), 'open')
    t.equal(await client.send(idle).settled(), 'closed')
    t.same(wire.abuses, ['control_frames'])
  })

const ping = frame(TYPE.ping, 0, 0, Buffer.alloc(8))
const isPong = ({ type }: { readonly type: number }) => type === TYPE.ping
const FEW_PINGS = { http2ControlFrames: { burst: 10, perSecond: 0 } }

t.test(
  'whoever measures its line with what it is sent may do so as long as it likes',
  async (t) => {
    const { wire } = await startSpringWire(t, { limits: FEW_PINGS })
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.send(initialWindow(1 << 30), widen(0, 1 << 30)).request(1, requestFields(HOST, '/giant'))
    // As gRPC does it: one at a time, for the first DATA behind the answer to the last.
    let measured = 0
    for (; measured < 200; measured++) {
      if (!(await client.until(({ type }) => type === TYPE.data))) break
      client.frames.splice(0)
      client.send(ping)
      const pong = await client.until(isPong)
      if (pong === undefined) break
      client.frames.splice(0, client.frames.indexOf(pong) + 1)
    }
    t.equal(measured, 200)
    t.same(wire.abuses, [])
  },
)

t.test('and a flood of them ends its connection, whatever it was sent before', async (t) => {
  const { wire } = await startSpringWire(t, { limits: FEW_PINGS })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  client.request(1, requestFields(HOST, '/page'))
  await client.until(({ type }) => type === TYPE.data)
  // One for what was sent; SETTINGS were one of ten.
  client.send(...Array.from({ length: 12 }, () => ping))
  await client.closed
  t.same(wire.abuses, ['control_frames'])
})
