/** Requests that are refused before they are exchanges: what they may hold, and for how long. */
import t, { type Test } from 'tap'
import { plainAnswer } from '../../../gateway/wire/answer.ts'
import { REFUSALS } from '../../../gateway/wire/refusals.ts'
import { fields, frame, FrameClient, requestFields, TYPE } from '../../support/http2-frames.ts'
import { END_HEADERS, uint32 } from '../../support/http2-frames.ts'
import { HOST, NGHTTP2_REFUSED_STREAM, OTHER_HOST } from '../../support/secure-wire.ts'
import { ask, startSecureWire } from '../../support/secure-wire.ts'
import type { SecureWire, SecureWireOptions } from '../../support/secure-wire.ts'
import { startRawOrigin } from '../../support/wire.ts'

const TIME_MS = 60_000
const MISDIRECTED = requestFields(OTHER_HOST)
const tick = () => new Promise((next) => setImmediate(next))

/** An application that never answers, and a clock that stands until it is told. */
async function start(t: Test, options: SecureWireOptions = {}) {
  let begun = 0
  const origin = await startRawOrigin(t, (socket) => void socket.on('data', () => begun++))
  let nowMs = 1_800_000_000_000
  const wire = await startSecureWire(t, origin.url, {
    clock: { nowMs: () => nowMs },
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

t.test('refused streams that their client ends are of the budget of resets', async (t) => {
  const budget = { burst: 5, perSecond: 1 }
  const { wire } = await start(t, { limits: { http2Resets: budget } })
  const client = connect(wire)
  // Each in a write of its own, so that it is refused before it is reset.
  const reset = async (stream: number) => {
    client.request(stream, MISDIRECTED)
    await statusOf(client, stream)
    client.send(frame(TYPE.reset, 0, stream, uint32(8)))
    return client.settled()
  }
  for (let at = 0; at < budget.burst; at++) t.equal(await reset(1 + 2 * at), 'open', 'N')
  t.equal(await reset(1 + 2 * budget.burst), 'closed', 'N + 1')
  await client.closed
  t.same(wire.abuses, ['resets'])
})

t.test('an answer that cannot be sent ends its stream, and nothing else', async (t) => {
  const refusal = plainAnswer(REFUSALS.misdirected)
  // Node throws at what belongs to a connection of HTTP/1.
  const answer = { ...refusal, headerLines: [...refusal.headerLines, 'Connection: close'] }
  const { wire } = await start(t, {
    refusalAnswer: () => answer,
    decide: (exchange) => exchange.respond({ status: 204, headerLines: [], body: '' }),
  })
  const client = connect(wire)
  client.request(1, MISDIRECTED)
  t.equal(await client.settled(), 'open')
  t.type(client.resetCode(1), 'number')
  t.equal(wire.errors.length, 1)
  t.match(await ask(wire.http2Client(), {}), { status: 204 })
})
