/** Answers that their client does not take: what they hold, for how long, and what goes on beside. */
// apart: measures the buffers of its process
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import {
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  FrameClient,
  requestFields,
  TYPE,
  uint32,
} from '../../support/http2-frames.ts'
import { HOST, NGHTTP2_REFUSED_STREAM, startSecureWire } from '../../support/secure-wire.ts'
import type { SecureWire, SecureWireOptions } from '../../support/secure-wire.ts'
import { startRawOrigin } from '../../support/wire.ts'

const IDLE_MS = 60_000
const MIB = 1 << 20
const GIANT_BYTES = 64 * MIB
const tick = () => new Promise((next) => setImmediate(next))

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
/**
 * V8 gives buffers back in the background, and each read of the application's sockets here had one of
 * 64 KiB: what counts is what stays.
 */
async function bufferBytes(): Promise<number> {
  let least = Infinity
  for (let same = 0; same < 5; same++) {
    collectGarbage()
    await new Promise((next) => setTimeout(next, 10))
    const { arrayBuffers } = process.memoryUsage()
    if (arrayBuffers < least) same = 0
    least = Math.min(least, arrayBuffers)
  }
  return least
}

function initialWindow(bytes: number): Buffer {
  const setting = Buffer.alloc(6)
  setting.writeUInt16BE(4, 0)
  setting.writeUInt32BE(bytes, 2)
  return frame(TYPE.settings, 0, 0, setting)
}

const widen = (stream: number, bytes: number) => frame(TYPE.windowUpdate, 0, stream, uint32(bytes))

/** `/giant` never ends, `/events` says a word now and then, all else is a page of 100 KB. */
async function startSpring(t: Test) {
  const page = Buffer.alloc(100_000)
  const asked: string[] = []
  const events = new Set<Socket>()
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      const path = chunk.toString('latin1').split(' ')[1]!
      asked.push(path)
      if (path === '/events') {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        events.add(socket)
      } else {
        const bytes = path === '/giant' ? GIANT_BYTES : page.length
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`)
        for (let left = bytes; left > 0; left -= page.length)
          socket.write(page.subarray(0, Math.min(left, page.length)))
      }
    })
  })
  return { ...origin, asked, events }
}

async function start(t: Test, options: SecureWireOptions = {}) {
  const origin = await startSpring(t)
  let nowMs = 1_800_000_000_000
  const clock = { nowMs: () => nowMs }
  const timeouts = { headMs: IDLE_MS, idleMs: IDLE_MS, keepAliveMs: IDLE_MS }
  const wire = await startSecureWire(t, origin.url, {
    clock,
    timeouts,
    sweepMs: 2 ** 30,
    ...options,
  })
  const pass = (ms: number) => {
    nowMs += ms
    wire.deadlines.sweep()
  }
  return { origin, wire, pass }
}

const connect = (wire: SecureWire, windowBytes: number) =>
  new FrameClient(wire.tls({ ALPNProtocols: ['h2'] })).send(initialWindow(windowBytes))

/** So many turns that all that was under way has come as far as it can. */
async function settle(client: FrameClient) {
  for (let count = 0; count < 20; count++) await client.settled()
}

const bytesOf = (client: FrameClient, stream: number) =>
  client.frames
    .filter((found) => found.type === TYPE.data && found.stream === stream)
    .reduce((sum, { payload }) => sum + payload.length, 0)

const inFlight = (wire: SecureWire) => {
  let count = 0
  wire.http2.eachInFlight(() => count++)
  return count
}

for (const [windowBytes, heldMax, title] of [
  [0, MIB, 'a window of zero: little of one is held, not all of each'],
  // What Node has framed already, and the client's own copy of what it was sent, come on top.
  [
    65_535,
    4 * LIMITS.http2UnsentBytesMin,
    'a window that is used up: as much as a connection may hold, over all streams',
  ],
] as const)
  t.test(`a hundred answers to ${title}`, async (t) => {
    const { wire } = await start(t)
    const client = connect(wire, windowBytes)
    await client.settled()
    const before = await bufferBytes()
    for (let at = 0; at < LIMITS.http2StreamsMax; at++)
      client.request(1 + 2 * at, requestFields(HOST, '/giant'))
    while (inFlight(wire) < LIMITS.http2StreamsMax) await tick()
    for (let turn = 0; turn < 10; turn++) await settle(client)
    const held = (await bufferBytes()) - before
    t.ok(held < heldMax, `${(held / MIB).toFixed(2)} MiB in buffers`)
  })

t.test('answers without a body to a client that reads nothing hold what they are', async (t) => {
  const { wire } = await start(t, {
    decide: (exchange) => {
      if (exchange.head.method === 'HEAD')
        exchange.respond({ status: 200, headerLines: [], body: 'seldom' })
      else exchange.forward(wire.plan(exchange))
    },
  })
  const client = connect(wire, 2 ** 30).send(widen(0, 2 ** 30))
  await client.settled()
  client.socket.pause()
  // Until neither the kernel nor the socket takes any more.
  client.request(1, requestFields(HOST, '/giant'))
  // Until neither the kernel nor the socket takes any more.
  for (let count = 0; count < 5000; count++) await tick()
  const before = await bufferBytes()
  const head = fields([
    [':method', 'HEAD'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', '/'],
  ])
  for (let at = 1; at <= 1000; at++) {
    client.request(1 + 2 * at, head)
    while (wire.outcomes.length < at) await tick()
  }
  const held = (await bufferBytes()) - before
  t.ok(held < MIB, `${(held / MIB).toFixed(2)} MiB in buffers`)
})

t.test('who takes nothing gets nothing new begun; all of it comes when it does', async (t) => {
  const { wire, origin } = await start(t)
  const client = connect(wire, 0)
  client.request(1, requestFields(HOST, '/giant'))
  await client.until(({ type, stream }) => type === TYPE.headers && stream === 1)
  await settle(client)
  for (const stream of [3, 5, 7]) client.request(stream, requestFields(HOST, '/page'))
  await settle(client)
  t.same(origin.asked, ['/giant'])
  t.equal(inFlight(wire), 4)
  client.send(initialWindow(2 ** 30), widen(0, 2 ** 30))
  for (const stream of [3, 5, 7])
    t.ok(await client.until((found) => found.stream === stream && (found.flags & 1) === 1))
  t.equal(bytesOf(client, 7), 100_000)
})

t.test('an upload that waits, and is then refused, is read on like any other', async (t) => {
  const { wire, origin, pass } = await start(t)
  const client = connect(wire, 0)
  client.request(1, requestFields(HOST, '/giant'))
  await client.until(({ type, stream }) => type === TYPE.headers && stream === 1)
  await settle(client)
  const post = (...more: [string, string][]) =>
    fields([
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', '/upload'],
      ['content-length', '100000'],
      ...more,
    ])
  client.request(3, post(), END_HEADERS).send(frame(TYPE.data, 0, 3, Buffer.alloc(1000)))
  client.request(5, post(['expect', '100-continue']), END_HEADERS)
  await settle(client)
  t.same(origin.asked, ['/giant'])
  t.equal(inFlight(wire), 3)
  wire.http2.eachInFlight((exchange) => {
    if (exchange.head.target === '/upload' && exchange.recall?.() === true)
      exchange.respond({ status: 401, headerLines: [], body: 'gone' })
  })
  client.send(widen(3, 1000), widen(5, 1000))
  const isLast = (stream: number) => (found: { stream: number; type: number; flags: number }) =>
    found.stream === stream && found.type === TYPE.data && (found.flags & 1) === 1
  t.ok(await client.until(isLast(5)))
  await settle(client)
  t.equal(client.resetCode(5), 0, 'who waits for leave to send is not waited for')
  t.ok(await client.until(isLast(3)))
  for (let round = 0; round < 3; round++) {
    pass(LIMITS.unwantedBodySilentMsMax - 1)
    client.send(frame(TYPE.data, 0, 3, Buffer.alloc(1000)))
    await settle(client)
    t.equal(client.resetCode(3), undefined, `${round}: it is sending`)
  }
  pass(LIMITS.unwantedBodySilentMsMax)
  await settle(client)
  t.equal(client.resetCode(3), 0)
  t.equal(inFlight(wire), 1)
})

t.test('a stream that waits for its client does not stop the others', async (t) => {
  const { wire } = await start(t)
  const client = connect(wire, 65_535).send(widen(0, 2 ** 30))
  client.request(1, requestFields(HOST, '/giant'))
  await client.until(({ type, stream }) => type === TYPE.data && stream === 1)
  await settle(client)
  for (let stream = 3; stream < 43; stream += 2) {
    client.request(stream, requestFields(HOST, '/page')).send(widen(stream, 2 ** 20))
    t.ok(await client.until((found) => found.stream === stream && (found.flags & 1) === 1))
  }
  t.ok(LIMITS.http2UnsentBytesMax > (10 * LIMITS.http2UnsentBytesMin) / 2)
})

t.test('nothing taken for the idle time: the streams end, with their upstream calls', async (t) => {
  const { wire, pass, origin } = await start(t)
  const client = connect(wire, 0)
  for (let stream = 1; stream < 21; stream += 2)
    client.request(stream, requestFields(HOST, '/giant'))
  while (origin.asked.length < 10) await tick()
  await settle(client)
  pass(IDLE_MS - 1)
  t.equal(wire.outcomes.length, 0)
  await settle(client) // answers to PING are no progress
  pass(2)
  while (wire.outcomes.length === 0 || wire.upstream.stats().sockets > 9) await tick()
  for (let round = 0; round < 20 && inFlight(wire) > 0; round++) {
    await settle(client)
    pass(IDLE_MS + 1)
  }
  t.equal(inFlight(wire), 0)
  t.equal(wire.upstream.stats().sockets, 0)
  t.ok(wire.outcomes.every(({ isCut }) => isCut))
})

t.test('so do events that nobody reads, however small they are', async (t) => {
  const { wire, pass, origin } = await start(t)
  const client = connect(wire, 0)
  client.request(1, requestFields(HOST, '/events'))
  while (origin.events.size === 0) await tick()
  pass(10 * IDLE_MS)
  await settle(client)
  t.equal(inFlight(wire), 1, 'there is nothing that it could have taken')
  for (const socket of origin.events) socket.write('2\r\nhi\r\n')
  await client.until(({ type, stream }) => type === TYPE.headers && stream === 1)
  await settle(client)
  pass(IDLE_MS + 1)
  while (wire.outcomes.length === 0) await tick()
  t.match(wire.outcomes, [{ isCut: true }])
})

t.test('so does an answer of our own, though its request is not whole', async (t) => {
  const { wire, pass } = await start(t, {
    decide: (exchange) => exchange.respond({ status: 403, headerLines: [], body: 'no' }),
  })
  const client = connect(wire, 0)
  client.request(1, requestFields(HOST), END_HEADERS)
  await client.until(({ type, stream }) => type === TYPE.headers && stream === 1)
  pass(IDLE_MS + 1)
  t.equal(await client.settled(), 'open')
  t.type(client.resetCode(1), 'number')
  t.match(wire.outcomes, [{ status: 403, isCut: true }])
})

t.test('events that are read go on for ever', async (t) => {
  const { wire, pass, origin } = await start(t)
  const client = connect(wire, 65_535)
  client.request(1, requestFields(HOST, '/events'))
  while (origin.events.size === 0) await tick()
  for (let sent = 2; sent < 20; sent += 2) {
    for (const socket of origin.events) socket.write('2\r\nhi\r\n')
    while (bytesOf(client, 1) < sent) await tick()
    pass(IDLE_MS + 1)
    await settle(client)
  }
  t.equal(inFlight(wire), 1)
})

t.test('while its connection moves a stream has more time, and not for ever', async (t) => {
  const { wire, pass } = await start(t)
  const client = connect(wire, 65_535).send(widen(0, 2 ** 30))
  client.request(1, requestFields(HOST, '/giant'))
  client.request(3, requestFields(HOST, '/giant'))
  const begun = ({ type, stream }: { type: number; stream: number }) =>
    type === TYPE.data && stream === 1
  await client.until(begun)
  let passedMs = 0
  for (let wanted = 65_535; wire.outcomes.length === 0; wanted += 200_000) {
    client.send(widen(3, 200_000))
    while (bytesOf(client, 3) < wanted + 200_000 && !client.isClosed) await tick()
    await settle(client)
    passedMs += IDLE_MS / 2
    pass(IDLE_MS / 2)
    await settle(client)
  }
  t.ok(passedMs > 2 * IDLE_MS, `cut after ${passedMs} ms`)
  t.ok(passedMs <= LIMITS.http2StreamIdleMsMax + IDLE_MS)
  t.equal(inFlight(wire), 1, 'the other one goes on')
})

t.test('quiet time before is not held against who waits while its connection moves', async (t) => {
  const { wire, pass, origin } = await start(t)
  const client = connect(wire, 65_535).send(widen(0, 2 ** 30))
  client.request(1, requestFields(HOST, '/events'))
  while (origin.events.size === 0) await tick()
  pass(20 * IDLE_MS)
  client.request(3, requestFields(HOST, '/giant')).request(5, requestFields(HOST, '/giant'))
  while (bytesOf(client, 3) + bytesOf(client, 5) < 2 * 65_535) await tick()
  await settle(client)
  // Over the time of the streams it is more than enough, over that of the connection too little.
  for (let round = 0; round < 3 && wire.outcomes.length === 0; round++) {
    pass(IDLE_MS + 1)
    client.send(widen(3, 30_000))
    const wanted = 65_535 + (round + 1) * 30_000
    while (bytesOf(client, 3) < wanted && wire.outcomes.length === 0) await tick()
    await settle(client)
  }
  t.ok((65_535 * 2 * 1000) / (20 * IDLE_MS) < LIMITS.progressBytesPerSecondMin)
  t.same(wire.outcomes, [])
  t.equal(inFlight(wire), 3)
})

t.test('who waits all the while is measured all the while, whatever else begins', async (t) => {
  const { wire, pass, origin } = await start(t)
  const client = connect(wire, 0)
  client.request(1, requestFields(HOST, '/events'))
  while (origin.events.size === 0) await tick()
  for (const socket of origin.events) socket.write('2\r\nhi\r\n')
  await client.until(({ type, stream }) => type === TYPE.headers && stream === 1)
  await settle(client)
  for (let stream = 3; stream < 9 && wire.outcomes.length === 0; stream += 2) {
    pass(IDLE_MS - 1)
    client.request(stream, requestFields(HOST, '/page'))
    await client.until((found) => found.type === TYPE.headers && found.stream === stream)
    await settle(client)
    pass(2)
    await settle(client)
  }
  t.match(wire.outcomes, [{ isCut: true }])
})

t.test('an address has so many streams, over all its connections', async (t) => {
  const { wire, origin } = await start(t, { limits: { http2StreamsPerAddressMax: 3 } })
  t.ok(LIMITS.http2StreamsPerAddressMax >= 10 * LIMITS.http2StreamsMax)
  const [one, two] = [connect(wire, 0), connect(wire, 0)]
  for (const stream of [1, 3]) one.request(stream, requestFields(HOST, '/events'))
  two.request(1, requestFields(HOST, '/events'))
  while (origin.events.size < 3) await tick()
  two.request(3, requestFields(HOST, '/page'))
  await two.until(({ type }) => type === TYPE.reset)
  t.equal(two.resetCode(3), NGHTTP2_REFUSED_STREAM)
  one.socket.destroy()
  while (wire.http2.connections() > 1) await tick()
  two.request(5, requestFields(HOST, '/events')).request(7, requestFields(HOST, '/events'))
  while (origin.asked.length < 5) await tick()
  t.equal(await two.settled(), 'open')
  t.equal(inFlight(wire), 3)
})

t.test('of an address so many uploads are under way, and the next when one is whole', async (t) => {
  const { wire, origin } = await start(t, { limits: { http2UploadsPerAddressMax: 2 } })
  t.ok(LIMITS.http2UploadsPerAddressMax < LIMITS.upstreamSocketsPerClientMax)
  const client = connect(wire, 65_535)
  const post = Buffer.from(
    requestFields(HOST, '/giant').toString('latin1').replace('\x03GET', '\x04POST'),
    'latin1',
  )
  client.request(1, post, END_HEADERS).request(3, post, END_HEADERS)
  while (origin.asked.length < 2) await tick()
  client.request(5, post, END_HEADERS)
  await client.until(({ type }) => type === TYPE.reset)
  t.equal(client.resetCode(5), NGHTTP2_REFUSED_STREAM)
  client.send(frame(TYPE.data, END_STREAM, 1, Buffer.from('whole')))
  await settle(client)
  client.request(7, post, END_HEADERS)
  while (origin.asked.length < 3) await tick()
  t.equal(await client.settled(), 'open')
})
