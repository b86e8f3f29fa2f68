/** Answers that their client does not take: what they hold, for how long, and what goes on beside. */
// apart: measures the buffers of its process
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import {
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  requestFields,
  TYPE,
} from '../../support/http2-frames.ts'
import {
  bytesOf,
  connect,
  inFlight,
  initialWindow,
  settle,
  startSpringWire,
  tick,
  widen,
} from '../../support/http2-spring.ts'
import { HOST, NGHTTP2_REFUSED_STREAM } from '../../support/secure-wire.ts'

const MIB = 1 << 20

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
    const { wire } = await startSpringWire(t)
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
  const { wire } = await startSpringWire(t, {
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
  const { wire, origin } = await startSpringWire(t)
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
  const { wire, origin, pass } = await startSpringWire(t)
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
  const { wire } = await startSpringWire(t)
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

t.test('an address has so many streams, over all its connections', async (t) => {
  const { wire, origin } = await startSpringWire(t, { limits: { http2StreamsPerAddressMax: 3 } })
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
  const { wire, origin } = await startSpringWire(t, { limits: { http2UploadsPerAddressMax: 2 } })
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

// Each of them had its own look at all streams and its own frame: 64 KiB of them were 5,000.
t.test('windows that are opened together are used together', async (t) => {
  const { wire } = await startSpringWire(t)
  const client = connect(wire, 0)
  client.request(1, requestFields(HOST, '/giant'))
  await client.until(({ type, stream }) => type === TYPE.headers && stream === 1)
  await settle(client)
  client.send(...Array.from({ length: 500 }, () => widen(1, 1)))
  while (bytesOf(client, 1) < 500) await tick()
  const pieces = client.frames.filter(({ type }) => type === TYPE.data)
  t.ok(pieces.length <= 2, `${pieces.length} frames`)
  client.send(initialWindow(100), ...Array.from({ length: 20 }, () => widen(1, 1)))
  while (bytesOf(client, 1) < 620) await tick()
  t.ok(client.frames.filter(({ type }) => type === TYPE.data).length <= pieces.length + 2)
})
