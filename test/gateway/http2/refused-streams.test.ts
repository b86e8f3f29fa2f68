/** Requests that are refused before they are exchanges: what they may hold, and for how long. */
import t, { type Test } from 'tap'
import { fields, frame, FrameClient, requestFields, TYPE } from '../../support/http2-frames.ts'
import { END_HEADERS, uint32 } from '../../support/http2-frames.ts'
import { HOST, NGHTTP2_REFUSED_STREAM, OTHER_HOST } from '../../support/secure-wire.ts'
import { startSecureWire } from '../../support/secure-wire.ts'
import type { SecureWire, SecureWireOptions } from '../../support/secure-wire.ts'
import { startRawOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const TIME_MS = 60_000
const MISDIRECTED = requestFields(OTHER_HOST)
const tick = () => new Promise((next) => setImmediate(next))

/** An application that never answers, and a clock that stands until it is told. */
async function start(t: Test, options: SecureWireOptions = {}) {
  let begun = 0
  const origin = await startRawOrigin(t, (socket) => void socket.on('data', () => begun++))
  let nowMs = 1_800_000_000_000
  const wire = await startSecureWire(t, origin.url, {
    clock: clockOf(() => nowMs),
    timeouts: { headMs: TIME_MS, idleMs: TIME_MS, keepAliveMs: TIME_MS },
    sweepMs: 2 ** 30,
    ...options,
  })
  const pass = (ms: number) => {
    nowMs += ms
    wire.deadlines.sweep()
  }
  return { wire, pass, begun: () => begun }
}

/** Who says that it takes no bodies: SETTINGS_INITIAL_WINDOW_SIZE is 0. */
const connect = (wire: SecureWire) =>
  new FrameClient(wire.tls({ ALPNProtocols: ['h2'] })).send(
    frame(TYPE.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
  )

const statusOf = (client: FrameClient, stream: number) =>
  client.until((found) => found.type === TYPE.headers && found.stream === stream)

const WAYS: Readonly<Record<string, Buffer>> = {
  'for another host': MISDIRECTED,
  'of two hosts': requestFields(HOST, '/', [['host', OTHER_HOST]]),
  'a method that is not served': fields([
    [':method', 'TRACE'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', '/'],
  ]),
  'a target too long': requestFields(HOST, `/${'x'.repeat(9000)}`),
  'too many fields': requestFields(
    HOST,
    '/',
    Array.from({ length: 101 }, (_, at) => [`x-${at}`, 'y'] as const),
  ),
}

for (const [name, block] of Object.entries(WAYS))
  t.test(`refused streams count among those of their address: ${name}`, async (t) => {
    const { wire, begun } = await start(t, { limits: { http2StreamsPerAddressMax: 3 } })
    const [one, two] = [connect(wire), connect(wire)]
    for (const stream of [1, 3]) one.request(stream, block)
    two.request(1, block, END_HEADERS)
    for (const stream of [1, 3]) t.ok(await statusOf(one, stream))
    t.ok(await statusOf(two, 1))
    two.request(3, block)
    t.equal(await two.settled(), 'open')
    t.equal(two.resetCode(3), NGHTTP2_REFUSED_STREAM, 'N + 1')
    one.send(frame(TYPE.reset, 0, 1, uint32(8)), frame(TYPE.windowUpdate, 0, 3, uint32(2 ** 20)))
    await one.until(({ type, stream }) => type === TYPE.data && stream === 3)
    t.equal(await one.settled(), 'open')
    for (const stream of [5, 7]) two.request(stream, requestFields(HOST))
    while (begun() < 2) await tick()
    two.request(9, block)
    t.equal(await two.settled(), 'open')
    t.equal(two.resetCode(9), NGHTTP2_REFUSED_STREAM)
    two.socket.destroy()
    one.socket.destroy()
    while (wire.http2.connections() > 0) await tick()
    const three = connect(wire)
    for (const stream of [1, 3, 5]) three.request(stream, block)
    for (const stream of [1, 3, 5]) t.ok(await statusOf(three, stream), 'nothing is left behind')
  })

t.test('an answer that nobody takes ends with the idle time, beside open exchanges', async (t) => {
  const { wire, pass, begun } = await start(t)
  const client = connect(wire)
  client.request(1, requestFields(HOST))
  while (begun() < 1) await tick()
  client.request(3, MISDIRECTED).request(5, MISDIRECTED, END_HEADERS)
  for (const stream of [3, 5]) t.ok(await statusOf(client, stream))
  pass(TIME_MS - 1)
  t.equal(await client.settled(), 'open')
  t.same([client.resetCode(3), client.resetCode(5)], [undefined, undefined])
  pass(2)
  t.equal(await client.settled(), 'open')
  t.type(client.resetCode(3), 'number')
  t.type(client.resetCode(5), 'number')
  t.equal(client.resetCode(1), undefined)
})

t.test('what is refused keeps no connection open', async (t) => {
  const { wire, pass } = await start(t)
  const client = connect(wire)
  await client.settled()
  for (const stream of [1, 3]) {
    pass(TIME_MS / 2 - 1)
    client.request(stream, MISDIRECTED)
    t.ok(await statusOf(client, stream))
  }
  pass(2)
  await client.settled()
  t.equal(client.goawayCode(), 0)
  pass(TIME_MS)
  t.equal(await client.settled(), 'closed')
})

for (const [name, ends] of [
  ['takes the answer', false],
  ['resets it', true],
] as const)
  t.test(`what is refused is of the budget of resets, whether its client ${name}`, async (t) => {
    const budget = { burst: 5, perSecond: 1 }
    const { wire } = await start(t, { limits: { http2Resets: budget } })
    const client = connect(wire)
    // Each in a write of its own, so that it is refused before it is reset.
    const ask = async (stream: number) => {
      client.request(stream, MISDIRECTED)
      await statusOf(client, stream)
      if (ends) client.send(frame(TYPE.reset, 0, stream, uint32(8)))
      return client.settled()
    }
    for (let at = 0; at < budget.burst; at++) t.equal(await ask(1 + 2 * at), 'open', 'N')
    t.equal(await ask(1 + 2 * budget.burst), 'closed', 'N + 1')
    await client.closed
    t.same(wire.abuses, ['resets'])
  })

t.test('a balancer passes on what others get wrong', async (t) => {
  const limits = { http2Resets: { burst: 5, perSecond: 0 } }
  const { wire } = await start(t, { limits, isExempt: () => true })
  const client = connect(wire)
  for (let stream = 1; stream < 30; stream += 2) client.request(stream, MISDIRECTED)
  t.equal(await client.settled(), 'open')
})

/** SETTINGS_MAX_CONCURRENT_STREAMS, as often as it was said. */
const streamsToldTo = (client: FrameClient) =>
  client.frames
    .filter(({ type }) => type === TYPE.settings)
    .flatMap(({ payload }) =>
      Array.from({ length: payload.length / 6 }, (_, at) => payload.subarray(at * 6, at * 6 + 6)),
    )
    .filter((setting) => setting.readUInt16BE(0) === 3)
    .map((setting) => setting.readUInt32BE(2))

const BESIDE_MANY = { http2StreamsMax: 5, http2StreamsBesideManyMax: 2 }

for (const [name, most, block, flags] of [
  ['requests', { http2StreamsPerAddressMax: 4 }, requestFields(HOST), undefined],
  [
    'uploads',
    { http2UploadsPerAddressMax: 4 },
    fields([
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', '/'],
      ['content-length', '1000000'],
    ]),
    END_HEADERS,
  ],
] as const)
  t.test(`who has many ${name} under way begins few more on a new connection`, async (t) => {
    const limits = { ...BESIDE_MANY, ...most }
    const { wire, begun } = await start(t, { limits })
    const one = connect(wire).request(1, block, flags)
    while (begun() < 1) await tick()
    const before = connect(wire)
    await before.settled()
    t.same(streamsToldTo(before), [5], 'below half')
    one.request(3, block, flags)
    while (begun() < 2) await tick()
    const narrow = connect(wire)
    for (const stream of [1, 3, 5]) narrow.request(stream, requestFields(HOST))
    await narrow.until(({ type }) => type === TYPE.reset)
    t.same(streamsToldTo(narrow), [2], 'at half')
    t.equal(narrow.resetCode(5), NGHTTP2_REFUSED_STREAM)
    while (begun() < 4) await tick()
    t.equal(await narrow.settled(), 'open')
    one.socket.destroy()
    while (wire.http2.connections() > 2) await tick()
    narrow.send(frame(TYPE.reset, 0, 1, uint32(8)), frame(TYPE.reset, 0, 3, uint32(8)))
    while (streamsToldTo(narrow).length < 2) await tick()
    t.same(streamsToldTo(narrow), [2, 5], 'and as many as others once they are fewer')
    for (const stream of [7, 9, 11]) narrow.request(stream, requestFields(HOST))
    while (begun() < 7) await tick()
    t.equal(await narrow.settled(), 'open')
  })

t.test('who is exempt may open as many as ever', async (t) => {
  const { wire, begun } = await start(t, {
    limits: { ...BESIDE_MANY, http2StreamsPerAddressMax: 2 },
    isExempt: () => true,
  })
  const one = connect(wire).request(1, requestFields(HOST))
  while (begun() < 1) await tick()
  const two = connect(wire)
  await two.settled()
  t.same([...streamsToldTo(one), ...streamsToldTo(two)], [5, 5])
})
