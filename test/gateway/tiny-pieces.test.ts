/** Bodies that come a byte at a time cost what they hold, wherever they wait, on both protocols. */
// apart: measures the heap of its process
import { duplexPair } from 'node:stream'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { BodyCollector } from '../../gateway/wire/body-collector.ts'
import { GatheredBytes } from '../../gateway/wire/gathered-bytes.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  FrameClient,
  TYPE,
} from '../support/http2-frames.ts'
import { HOST, startSecureWire } from '../support/secure-wire.ts'
import type { SecureWireOptions } from '../support/secure-wire.ts'
import { startOrigin, startRawOrigin, startWire } from '../support/wire.ts'
import { clockOf } from '../support/clocks.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const tick = () => new Promise((next) => setImmediate(next))
const heldBytes = async () => {
  // what ends with a turn of the event loop is let go in the next
  for (let turn = 0; turn < 5; turn++) {
    collectGarbage()
    await tick()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const STREAMS = 20
/** Of one byte each; every stream has window for all of them. */
const FRAMES = 8000
const SENT_BYTES = STREAMS * FRAMES * 10
const UNLIMITED = { burst: 2 ** 40, perSecond: 0 }
const PATIENT = { headMs: 600_000, idleMs: 600_000, keepAliveMs: 600_000 }

const post = (length: number) =>
  fields([
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', '/'],
    ...(length < 0 ? [] : [['content-length', String(length)] as const]),
  ])

const byte = (stream: number, flags = 0) => frame(TYPE.data, flags, stream, Buffer.from('x'))
const bytesOf = (stream: number) => Buffer.concat(Array<Buffer>(FRAMES).fill(byte(stream)))

async function startHttp2(t: Test, options: SecureWireOptions) {
  const origin = await startOrigin(t)
  const limits = { http2SmallDataFrames: UNLIMITED, ...options.limits }
  const wire = await startSecureWire(t, origin.url, {
    clock: clockOf(() => 1_800_000_000_000),
    sweepMs: 2 ** 30,
    timeouts: PATIENT,
    ...options,
    limits,
  })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  await client.settled()
  return { origin, wire, client }
}

/** What is held for that many bytes, beside what the streams are. */
async function heldFor(client: FrameClient, block: Buffer) {
  for (let at = 0; at < STREAMS; at++) client.request(1 + 2 * at, block, END_HEADERS)
  for (let turn = 0; turn < 5; turn++) await client.settled()
  const before = await heldBytes()
  for (let at = 0; at < STREAMS; at++) client.send(bytesOf(1 + 2 * at))
  for (let turn = 0; turn < 20; turn++) await client.settled()
  return (await heldBytes()) - before
}

const NOWHERE = { upstreamSocketsMax: 0 }
const ways: readonly (readonly [string, SecureWireOptions, Buffer])[] = [
  ['a small body that is waited for', {}, post(LIMITS.smallBodyBytesMax)],
  [
    'a body that waits for a connection to its application',
    { upstreamOptions: { limits: NOWHERE } },
    post(-1),
  ],
  ['a body that nobody has decided about', { decide: () => undefined }, post(-1)],
  [
    'a form of our own',
    {
      decide(exchange) {
        void exchange.readBody(LIMITS.ownFormBytesMax).catch(() => undefined)
      },
    },
    post(-1),
  ],
]

for (const [title, options, block] of ways)
  t.test(`HTTP/2: ${title}`, async (t) => {
    const { client } = await startHttp2(t, options)
    const held = await heldFor(client, block)
    t.ok(held < SENT_BYTES, `${held} bytes held for ${SENT_BYTES} bytes sent`)
  })

t.test('HTTP/2: a body in frames of one byte arrives whole, once it is waited for', async (t) => {
  const { client, origin } = await startHttp2(t, {})
  client.request(1, post(-1), END_HEADERS)
  client.send(bytesOf(1), frame(TYPE.data, 0, 1, Buffer.alloc(5000, 'y')), byte(1, END_STREAM))
  await client.until(({ type, flags }) => type === TYPE.data && (flags & END_STREAM) === 1)
  t.equal(origin.seen[0]!.body.toString(), `${'x'.repeat(FRAMES)}${'y'.repeat(5000)}x`)
})

t.test('HTTP/2: what came while nobody read is in its order', async (t) => {
  const held: (() => void)[] = []
  const { client, origin } = await startHttp2(t, {
    decide: (exchange, wire) => void held.push(() => exchange.forward(wire.plan(exchange))),
  })
  const pieces = Array.from({ length: 300 }, (_, at) =>
    Buffer.alloc(1 + (at % 7) * 90, `${at % 10}`),
  )
  client.request(1, post(-1), END_HEADERS)
  for (const piece of pieces.slice(0, 150)) client.send(frame(TYPE.data, 0, 1, piece))
  await client.settled()
  held[0]!()
  for (const piece of pieces.slice(150)) client.send(frame(TYPE.data, 0, 1, piece))
  client.send(byte(1, END_STREAM))
  await client.until(({ type, flags }) => type === TYPE.data && (flags & END_STREAM) === 1)
  t.ok(origin.seen[0]!.body.equals(Buffer.concat([...pieces, Buffer.from('x')])))
})

t.test(
  'HTTP/2: who sends on and on while it waits is ended, a body of few tiny frames is not',
  async (t) => {
    const budget = { burst: 10, perSecond: 0 }
    const { client, wire, origin } = await startHttp2(t, {
      limits: { http2SmallDataFrames: budget },
    })
    const next = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    await next.settled()
    const free = LIMITS.http2SmallDataFramesFree
    const whole = Buffer.concat([...Array<Buffer>(free - 1).fill(byte(1)), byte(1, END_STREAM)])
    client.request(1, post(-1), END_HEADERS).send(whole)
    await client.until(({ type, flags }) => type === TYPE.data && (flags & END_STREAM) === 1)
    t.equal(origin.seen[0]!.body.length, free)
    client.request(3, post(-1), END_HEADERS)
    for (let count = 0; count < free + budget.burst; count++) client.send(byte(3))
    client.send(frame(TYPE.data, 0, 3, Buffer.alloc(LIMITS.http2SmallDataFrameBytes)))
    t.equal(await client.settled(), 'open')
    client.request(5, post(-1), END_HEADERS)
    const half = LIMITS.throttledOwedMax / 2
    client.send(...Array<Buffer>(half).fill(byte(3)), ...Array<Buffer>(half).fill(byte(5)))
    t.equal(await client.settled(), 'open')
    client.send(...Array<Buffer>(100).fill(byte(3)))
    t.equal(await client.settled(), 'closed', 'all its streams are one sender')
    t.equal(client.goawayCode(), 11, 'ENHANCE_YOUR_CALM')
    next.request(1, post(-1), END_HEADERS)
    const tooMany = Array<Buffer>(LIMITS.throttledOwedMax + 100).fill(byte(1))
    next.send(...tooMany)
    t.equal(await next.settled(), 'closed', 'on no other connection of the address either')
    while (wire.addresses.of('127.0.0.1') > 0) await tick()
    const later = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    await later.settled()
    later.request(1, post(-1), END_HEADERS)
    later.send(...tooMany)
    t.equal(await later.settled(), 'closed', 'nor on a later one')
    t.same(wire.abuses, Array(3).fill('small_data_frames'))
    t.ok(LIMITS.http2SmallDataFrames.burst >= 10_000, 'what somebody types is far from it')
  },
)

function asSocket(stream: ReturnType<typeof duplexPair>[0]): Socket {
  const same = () => stream
  return Object.assign(stream, { setNoDelay: same, setTimeout: same }) as unknown as Socket
}

/** Each write is one read at the other end, as a segment of one byte is. */
async function startHttp1(t: Test, decide?: Parameters<typeof startWire>[2]) {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startWire(t, origin.url, {
    sweepMs: 2 ** 30,
    timeouts: PATIENT,
    limits: { smallReads: UNLIMITED },
    ...decide,
  })
  const [near, far] = duplexPair()
  near.resume()
  t.teardown(() => near.destroy())
  wire.server.accept(asSocket(far), { peerAddress: '192.0.2.7' })
  return near
}

async function heldForWrites(near: ReturnType<typeof duplexPair>[0], head: string, piece: string) {
  const write = async (count: number) => {
    for (; count > 0; count--) {
      near.write(piece)
      await tick()
    }
  }
  near.write(head)
  // what is compiled on the way is no part of it
  await write(FRAMES)
  const before = await heldBytes()
  await write(FRAMES)
  return (await heldBytes()) - before
}

t.test('HTTP/1.1: a small body that is waited for', async (t) => {
  const near = await startHttp1(t)
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LIMITS.smallBodyBytesMax}\r\n\r\n`
  const held = await heldForWrites(near, head, 'x')
  t.ok(held < 40 * FRAMES, `${held} bytes held for ${FRAMES} segments of one byte`)
})

t.test('HTTP/1.1: a form of our own, in chunks of one byte', async (t) => {
  const near = await startHttp1(t, {
    decide(exchange) {
      void exchange.readBody(LIMITS.ownFormBytesMax).catch(() => undefined)
    },
  })
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const held = await heldForWrites(near, head, '1\r\nx\r\n')
  t.ok(held < 40 * FRAMES, `${held} bytes held for ${FRAMES} chunks of one byte`)
})

t.test('HTTP/1.1: odd chunks that wait for a connection to their application', async (t) => {
  const near = await startHttp1(t, { upstreamOptions: { limits: NOWHERE } })
  const chunk = '01\r\nx\r\n'
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  near.write(head)
  await tick()
  const before = await heldBytes()
  near.write(chunk.repeat(FRAMES))
  await tick()
  const held = (await heldBytes()) - before
  t.ok(held < 10 * FRAMES * chunk.length, `${held} bytes held for ${FRAMES * chunk.length}`)
})

t.test('pieces come back as they were put in, and hold at most twice as much', async (t) => {
  const gathered = new GatheredBytes()
  const bytes = Buffer.from(Array.from({ length: 3000 }, (_, at) => at % 251))
  for (let at = 0; at < bytes.length; at++) gathered.add(bytes, at, at + 1)
  gathered.addText('caf\xe9')
  t.equal(gathered.length, 3004)
  const taken = gathered.take()
  t.ok(taken.equals(Buffer.concat([bytes, Buffer.from('caf\xe9', 'latin1')])))
  t.ok(taken.buffer.byteLength <= 2 * 3004 + 64)
  t.equal(gathered.take().length, 0)

  const known = new GatheredBytes(100)
  const whole = Buffer.alloc(100, 'w')
  known.give(whole)
  t.equal(known.take().buffer, whole.buffer, 'one that is all of it is not copied')
  known.give(Buffer.alloc(60, 'a'))
  known.give(Buffer.alloc(40, 'b'))
  t.equal(known.take().toString(), 'a'.repeat(60) + 'b'.repeat(40))

  const collector = new BodyCollector(3)
  for (const one of 'abcd') collector.add(Buffer.from(one))
  await t.rejects(collector.body, { message: 'the body is too large' })
})
