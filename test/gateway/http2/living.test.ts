/** Limits, floods, time-outs and the end of a connection. */
import { once } from 'node:events'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import {
  END_HEADERS,
  field,
  frame,
  FrameClient,
  requestFields,
  TYPE,
  uint32,
} from '../../support/http2-frames.ts'
import { answerOf, ask, HOST, startSecureWire } from '../../support/secure-wire.ts'
import type { SecureWire } from '../../support/secure-wire.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const raw = (wire: SecureWire) => new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
const tick = () => new Promise((next) => setImmediate(next))

const ENHANCE_YOUR_CALM = 11
const PROTOCOL_ERROR = 1

/** A clock that stands until it is told. */
function manualClock() {
  let nowMs = 1_800_000_000_000
  return { ...clockOf(() => nowMs), pass: (ms: number) => void (nowMs += ms) }
}

t.test('a connection has as many streams at once as it may, and no more', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url)
  const client = raw(wire)
  await client.settled()
  for (let at = 0; at < LIMITS.http2StreamsMax; at++)
    client.request(1 + at * 2, requestFields(HOST))
  t.equal(await client.settled(), 'open')
  let inFlight = 0
  wire.http2.eachInFlight(() => inFlight++)
  t.equal(inFlight, LIMITS.http2StreamsMax)
  client.request(1 + LIMITS.http2StreamsMax * 2, requestFields(HOST))
  await client.closed
  t.equal(client.goawayCode(), PROTOCOL_ERROR)
})

t.test('what we promise: streams, windows, header lists, and no push', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  await once(client, 'remoteSettings')
  t.match(client.remoteSettings, {
    maxConcurrentStreams: 100,
    initialWindowSize: 65_536,
    maxHeaderListSize: LIMITS.http2HeaderBlockBytesMax,
    enableConnectProtocol: true,
  })
  await ask(client, {})
  t.equal(client.state.remoteWindowSize, LIMITS.http2ConnectionWindowBytes)
})

t.test('rapid resets end the connection when their budget is spent, not before', async (t) => {
  const budget = { burst: 20, perSecond: 1 }
  const clock = manualClock()
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url, { clock, limits: { http2Cancels: budget } })
  // each stream in a write of its own, so that it is a request before it is reset
  const client = raw(wire)
  const reset = async (stream: number) => {
    client.request(stream, requestFields(HOST))
    await client.settled()
    client.send(frame(TYPE.reset, 0, stream, uint32(8)))
    return client.settled()
  }
  for (let at = 0; at < budget.burst; at++) t.equal(await reset(1 + at * 2), 'open')
  t.equal(await reset(1 + budget.burst * 2), 'closed')
  t.same(wire.abuses, ['resets'])
  t.equal(client.goawayCode(), ENHANCE_YOUR_CALM)
  t.equal(wire.upstream.stats().sockets, 0, 'nothing goes on for them')
})

t.test('resets in the same breath as their request count as well', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const client = raw(wire)
  await client.settled()
  const burst: Buffer[] = []
  for (let at = 0; at < 2000; at++)
    burst.push(
      frame(TYPE.headers, 5, 1 + at * 2, requestFields(HOST)),
      frame(TYPE.reset, 0, 1 + at * 2, uint32(8)),
    )
  client.send(...burst)
  await client.closed
  t.ok(origin.begun() < 50, `${origin.begun()} of 2000 reached the application`)
})

t.test('a client that has us reset its streams is no better (MadeYouReset)', async (t) => {
  const attacks: Record<string, (stream: number) => Buffer> = {
    'a window update of nothing': (stream) => frame(TYPE.windowUpdate, 0, stream, uint32(0)),
    'a window too large': (stream) => frame(TYPE.windowUpdate, 0, stream, uint32(0x7fffffff)),
    'data behind the end': (stream) => frame(TYPE.data, 0, stream, Buffer.from('x')),
    'headers behind the end': (stream) =>
      frame(TYPE.headers, END_HEADERS, stream, requestFields(HOST)),
    'a stream that depends on itself': (stream) =>
      frame(TYPE.priority, 0, stream, Buffer.concat([uint32(stream), Buffer.from([0])])),
  }
  for (const [name, attack] of Object.entries(attacks)) {
    const origin = await startRawOrigin(t, () => undefined)
    const wire = await startSecureWire(t, origin.url)
    const client = raw(wire)
    await client.settled()
    let streams = 0
    for (; streams < 1000 && !client.isClosed; streams++) {
      const stream = 1 + streams * 2
      client.request(stream, requestFields(HOST))
      client.send(attack(stream))
      if (streams % 20 === 0) await Promise.race([client.closed, tick()])
    }
    // Priorities are history (RFC 9113 section 5.3): ignored, so the limit of streams holds.
    if (name.includes('depends')) t.ok((await client.settled()) === 'open' || client.isClosed, name)
    else t.equal(await client.settled(), 'closed', `${name} after ${streams} streams`)
    client.socket.destroy()
    while (wire.http2.connections() > 0) await tick()
    t.equal(wire.upstream.stats().sockets, 0, `${name}: nothing goes on`)
  }
})

t.test('PING and SETTINGS floods end the connection; a budget of them does not', async (t) => {
  const clock = manualClock()
  const budget = { burst: 30, perSecond: 10 }
  for (const [type, payload] of [
    [TYPE.ping, Buffer.from('12345678')],
    [TYPE.settings, Buffer.alloc(0)],
  ] as const) {
    const origin = await startOrigin(t)
    const wire = await startSecureWire(t, origin.url, {
      clock,
      limits: { http2ControlFrames: budget },
    })
    const client = raw(wire)
    const some = (count: number) =>
      client.send(...Array.from({ length: count }, () => frame(type, 0, 0, payload)))
    // the first SETTINGS and the mark itself are of the same budget
    some(budget.burst - 2)
    t.equal(await client.settled(), 'open', 'N')
    clock.pass(1000)
    some(budget.perSecond - 1)
    t.equal(await client.settled(), 'open', 'what a second earns')
    some(1)
    await client.closed
    t.same(wire.abuses, ['control_frames'], 'N and one more')
    t.equal(client.goawayCode(), ENHANCE_YOUR_CALM)
  }
})

t.test('frames that bring nothing and are owed nothing have a budget, too', async (t) => {
  const { burst } = LIMITS.http2IdleFrames
  for (const idle of [
    frame(TYPE.priority, 0, 1, Buffer.alloc(5)),
    frame(TYPE.windowUpdate, 0, 0, uint32(1)),
    frame(32, 0, 0, Buffer.from('unknown')),
  ]) {
    const clock = manualClock()
    const origin = await startOrigin(t)
    const wire = await startSecureWire(t, origin.url, { clock })
    const client = raw(wire)
    client.send(...Array.from({ length: burst }, () => idle))
    t.equal(await client.settled(), 'open', 'N')
    client.send(idle)
    await client.closed
    t.same(wire.abuses, ['control_frames'], 'N and one more')
    t.equal(client.goawayCode(), ENHANCE_YOUR_CALM)
  }
})

t.test('a header block in endless pieces ends the connection', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const client = raw(wire)
  await client.settled()
  client.send(frame(TYPE.headers, 1, 1, requestFields(HOST)))
  for (let at = 0; at < 2000 && !client.isClosed; at++) {
    client.send(frame(TYPE.continuation, 0, 1, field(`x-${at}`, 'y'.repeat(100))))
    if (at % 50 === 0) await tick()
  }
  await client.closed
  t.equal(origin.begun(), 0)
})

t.test('headers too large are 431, and larger ones end their stream', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  t.match(await ask(client, { 'x-large': 'y'.repeat(15_000) }), { status: 200 })
  t.match(await ask(client, { 'x-large': 'y'.repeat(17_000) }), { status: 431 })
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'y']))
  t.match(await ask(client, many(99)), { status: 200 })
  t.match(await ask(client, many(100)), { status: 431 })
  const frames = raw(wire)
  await frames.settled()
  const pairs = Array.from({ length: 300 }, (_, at) => [`x-${at}`, 'y'] as const)
  frames.request(1, requestFields(HOST, '/', pairs))
  t.equal(await frames.settled(), 'open')
  t.equal(frames.resetCode(1), ENHANCE_YOUR_CALM)
  t.equal(origin.seen.length, 2)
})

t.test('empty frames and other nonsense end the connection beyond their limit', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url)
  const client = raw(wire)
  await client.settled()
  client.request(1, requestFields(HOST, '/', [['x-a', 'b']]), END_HEADERS)
  for (let at = 0; at < 5000 && !client.isClosed; at++) {
    client.send(frame(TYPE.data, 0, 1, Buffer.alloc(0)))
    if (at % 100 === 0) await tick()
  }
  await client.closed
  t.equal(origin.seen.length, 0)
})

t.test('a connection without requests is closed: before the first, and between two', async (t) => {
  const clock = manualClock()
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, {
    clock,
    timeouts: { headMs: 10_000, keepAliveMs: 75_000 },
  })
  const silent = raw(wire)
  await silent.settled()
  clock.pass(9_000)
  wire.deadlines.sweep()
  t.equal(await silent.settled(), 'open')
  clock.pass(1_001)
  wire.deadlines.sweep()
  await silent.closed
  t.equal(silent.goawayCode(), 0)

  const client = wire.http2Client()
  await ask(client, {})
  clock.pass(74_000)
  wire.deadlines.sweep()
  await ask(client, {})
  clock.pass(75_001)
  wire.deadlines.sweep()
  while (wire.addresses.of('127.0.0.1') > 0) await tick()
  t.ok(client.closed)
})

t.test('a body that stops is 408, an answer that nobody takes is cut', async (t) => {
  const clock = manualClock()
  const origin = await startOrigin(t, (_request, response) => response.end(Buffer.alloc(4_000_000)))
  const wire = await startSecureWire(t, origin.url, {
    clock,
    timeouts: { idleMs: 60_000 },
    limits: { http2StreamIdleMsMax: 300_000 },
  })
  const client = wire.http2Client()
  const pass = (ms: number) => {
    clock.pass(ms)
    wire.deadlines.sweep()
  }
  for (const length of [{}, { 'content-length': '100' }, { 'content-length': '100000' }]) {
    const stream = client.request(
      { ':method': 'POST', ':authority': HOST, ...length },
      { endStream: false },
    )
    const answer = answerOf(stream)
    stream.write('some')
    let inFlight = 0
    while (inFlight === 0) {
      wire.http2.eachInFlight(() => inFlight++)
      await tick()
    }
    for (let count = 0; count < 20; count++) await new Promise((next) => client.ping(next))
    pass(59_000)
    stream.write('more')
    for (let count = 0; count < 5; count++) await new Promise((next) => client.ping(next))
    pass(59_000)
    t.notOk(stream.closed, 'slow is not stopped')
    pass(2_000)
    t.match(await answer, { status: 408 })
  }
  const stalled = client.request({ ':authority': HOST })
  stalled.on('error', () => undefined)
  await once(stalled, 'response')
  const outcomes = wire.outcomes.length
  for (let count = 0; count < 50; count++) await new Promise((next) => client.ping(next))
  pass(59_000)
  t.equal(wire.outcomes.length, outcomes)
  // What it took at first is seen at one look, and that its connection moves nothing at another.
  for (let looks = 0; looks < 3; looks++) pass(60_001)
  while (wire.outcomes.length === outcomes) await tick()
  t.match(wire.outcomes.at(-1), { status: 200, isCut: true })
})

t.test('connections of both protocols and handshakes count together per address', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { connectionsMax: 3 })
  const client = wire.http2Client()
  await ask(client, {})
  // neither of them is idle: a body is under way, and half a head
  client.request({ ':authority': HOST, ':method': 'POST' }).on('error', () => undefined)
  const http1 = wire.tls()
  http1.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\nGET`)
  await once(http1, 'data')
  t.equal(wire.addresses.of('127.0.0.1'), 2)
  const { connect } = await import('node:net')
  const silent = connect(wire.port, '127.0.0.1')
  silent.on('error', () => undefined)
  t.teardown(() => silent.destroy())
  while (wire.addresses.of('127.0.0.1') < 3) await tick()
  const fourth = wire.tls()
  await new Promise((resolve) => fourth.once('close', resolve))
  t.notOk(fourth.authorized)
  silent.destroy()
  while (wire.front.handshakes() > 0) await tick()
  const next = wire.tls()
  await once(next, 'secureConnect')
  t.pass('there is room again')
})

t.test(
  'draining: the client is told, what is open is answered, then nothing is left',
  async (t) => {
    let finish: () => void = () => undefined
    const origin = await startOrigin(t, (request, response) => {
      if (request.url === '/slow') finish = () => response.end('done')
      else response.end('ok')
    })
    const wire = await startSecureWire(t, origin.url)
    const idle = wire.http2Client()
    await ask(idle, {})
    const busy = wire.http2Client()
    const slow = ask(busy, { ':path': '/slow' })
    while (origin.seen.length < 2) await tick()
    const told = Promise.all([once(idle, 'goaway'), once(busy, 'goaway')])
    const drained = wire.http2.drain()
    await told
    await once(idle, 'close')
    finish()
    t.match(await slow, { status: 200, body: Buffer.from('done') })
    await drained
    t.equal(wire.http2.connections(), 0)
    t.equal(wire.addresses.of('127.0.0.1'), 0)
  },
)

t.test(
  'what a draining connection does not serve is named, so that it can be sent again',
  async (t) => {
    let finish: () => void = () => undefined
    const origin = await startOrigin(t, (_request, response) => {
      finish = () => response.end('done')
    })
    const wire = await startSecureWire(t, origin.url)
    const client = raw(wire)
    client.request(1, requestFields(HOST))
    while (origin.seen.length < 1) await tick()
    const drained = wire.http2.drain()
    client.request(3, requestFields(HOST))
    t.equal(await client.settled(), 'open')
    const goaway = client.frames.find(({ type }) => type === TYPE.goaway)
    t.equal(goaway?.payload.readUInt32BE(0), 1, 'the last stream')
    finish()
    t.ok(await client.until(({ type, stream }) => type === TYPE.data && stream === 1))
    await drained
    await client.closed
    t.equal(origin.begun(), 1)

    const late = wire.http2Client()
    const answer = ask(late, {})
    while (origin.seen.length < 2) await tick()
    finish()
    t.match(await answer, { status: 200 }, 'who comes late has one request answered')
    if (!late.closed) await once(late, 'close')
  },
)

t.test('a connection serves as many requests as it may, and says so', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { limits: { requestsPerConnectionMax: 3 } })
  const client = wire.http2Client()
  for (let count = 0; count < 3; count++) t.match(await ask(client, {}), { status: 200 })
  if (!client.closed) await once(client, 'close')
  t.ok(client.closed)
})
