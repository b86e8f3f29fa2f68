/**
 * Somebody sets the clock on the wall by ten minutes, while connections of every kind are under way:
 * nobody ends for it, and who has fallen silent ends in its time all the same.
 */
import type { ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Handshake, type HandshakeCalls } from '../../gateway/upgrade/handshake.ts'
import { Deadlines } from '../../gateway/wire/deadlines.ts'
import type { UpstreamFailure } from '../../gateway/wire/upstream-call.ts'
import { MINUTE_MS } from '../../shared/clock.ts'
import { settableClock } from '../support/clocks.ts'
import { startEdge } from '../support/edge-world.ts'
import { END_HEADERS, fields, FrameClient, TYPE } from '../support/http2-frames.ts'
import { HOST, startSecureWire } from '../support/secure-wire.ts'
import { connect, startWebSocketApplication } from '../support/websockets.ts'
import { RawClient, startOrigin, startWire } from '../support/wire.ts'

const IDLE_MS = MINUTE_MS
const timeouts = { headMs: IDLE_MS, idleMs: IDLE_MS, keepAliveMs: IDLE_MS }
const NEVER_MS = 2 ** 30

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const HALF_UPLOAD = 'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello'

/** `/held` is answered when the test says so, `/events` has begun and goes on. */
async function startApplication(t: Test) {
  const held: ServerResponse[] = []
  const streams: ServerResponse[] = []
  const origin = await startOrigin(t, (_request, response, { target }) => {
    if (target === '/held') return void held.push(response)
    if (target !== '/events') return void response.end('ok')
    streams.push(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  })
  return { origin, held, streams }
}

async function startHttp1(t: Test) {
  const clock = settableClock()
  const { origin, held, streams } = await startApplication(t)
  const wire = await startWire(t, origin.url, {
    everyClock: clock,
    sweepMs: NEVER_MS,
    timeouts,
    upstreamOptions: { timeouts: { connectMs: IDLE_MS, firstByteMs: IDLE_MS, idleMs: IDLE_MS } },
  })
  const open = (text: string) => {
    const client = new RawClient(wire.port)
    t.teardown(() => client.close())
    return client.send(text)
  }
  const clients = {
    idle: open(GET('/')),
    head: open('GET / HTTP/1.1\r\nHo'),
    upload: open(HALF_UPLOAD),
    waiting: open(GET('/held')),
    stream: open(GET('/events')),
  }
  await clients.idle.answer()
  await clients.stream.until((text) => text.includes('data: 1'))
  while (held.length === 0 || origin.begun() < 3) await turn()
  return { clock, wire, clients, held, streams }
}

async function startHttp2(t: Test) {
  const clock = settableClock()
  const { origin, held, streams } = await startApplication(t)
  const wire = await startSecureWire(t, origin.url, { clock, timeouts, sweepMs: NEVER_MS })
  const connect = async () => {
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    await client.settled()
    return client
  }
  const request = (path: string, method = 'GET') =>
    fields([
      [':method', method],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', path],
    ])
  const clients = { idle: await connect(), waiting: await connect(), upload: await connect() }
  clients.waiting.request(1, request('/held'))
  clients.upload.request(1, request('/upload', 'POST'), END_HEADERS)
  while (held.length === 0 || origin.begun() < 2) await turn()
  return { clock, wire, clients, held, streams }
}

for (const byMs of [10 * MINUTE_MS, -10 * MINUTE_MS]) {
  const way = byMs > 0 ? 'forward' : 'back'

  t.test(`HTTP/1.1, a clock that is set ${way}: everybody goes on`, async (t) => {
    const { clock, wire, clients, held, streams } = await startHttp1(t)
    clock.set(byMs)
    clock.pass(IDLE_MS - 1)
    wire.deadlines.sweep()
    await turn()
    held[0]!.end('held')
    streams[0]!.end('data: 2\n\n')
    clients.idle.send(GET('/'))
    clients.head.send('st: a\r\n\r\n')
    clients.upload.send('hello')
    for (const [name, client] of Object.entries(clients))
      t.match(await client.answer(name === 'upload' ? 'POST' : 'GET'), { status: 200 }, name)
  })

  t.test(`HTTP/1.1, a clock that is set ${way}: who is silent ends in time`, async (t) => {
    const { clock, wire, clients } = await startHttp1(t)
    clock.set(byMs)
    clock.pass(IDLE_MS)
    wire.deadlines.sweep()
    t.match(await clients.head.answer(), { status: 408 })
    t.match(await clients.upload.answer('POST'), { status: 408 })
    t.match(await clients.waiting.answer(), { status: 504 })
    await clients.idle.closed
    await clients.stream.closed
  })

  t.test(`HTTP/2, a clock that is set ${way}: everybody goes on`, async (t) => {
    const { clock, wire, clients, held } = await startHttp2(t)
    clock.set(byMs)
    clock.pass(IDLE_MS - 1)
    wire.deadlines.sweep()
    for (const [name, client] of Object.entries(clients))
      t.same([await client.settled(), client.goawayCode()], ['open', undefined], name)
    t.equal(held[0]!.destroyed, false, 'the application is waited for')
    t.same(wire.abuses, [])
  })

  t.test(`HTTP/2, a clock that is set ${way}: who is silent ends in time`, async (t) => {
    const { clock, wire, clients } = await startHttp2(t)
    clock.set(byMs)
    clock.pass(IDLE_MS)
    wire.deadlines.sweep()
    for (const client of [clients.idle, clients.upload]) await client.settled()
    t.equal(clients.idle.goawayCode(), 0)
    t.match(
      clients.upload.frames.findLast(({ type }) => type === TYPE.headers),
      { stream: 1 },
      'is told that its body did not come',
    )
  })

  t.test(`a WebSocket that is opened, a clock that is set ${way}`, async (t) => {
    const clock = settableClock()
    const deadlines = new Deadlines(clock, NEVER_MS)
    t.teardown(() => deadlines.close())
    const failures: string[] = []
    const world = {
      deadlines,
      clock,
      timeouts: { connectMs: IDLE_MS, firstByteMs: IDLE_MS, idleMs: IDLE_MS },
      carry: (_request: unknown, _calls: HandshakeCalls) => undefined,
      open: () => undefined,
      onEnd: () => undefined,
    }
    const onError = ({ code }: UpstreamFailure) => void failures.push(code)
    new Handshake(world, { lines: '' } as never, { onError } as never)
    clock.set(byMs)
    clock.pass(IDLE_MS - 1)
    deadlines.sweep()
    t.same(failures, [])
    clock.pass(1)
    deadlines.sweep()
    t.same(failures, ['upstream_connect_timeout'])
  })
}

t.test(
  'a WebSocket whose client was heard just now is not idle by a clock that is set',
  async (t) => {
    const application = await startWebSocketApplication(t)
    const edge = await startEdge(t, application.url, { idle_seconds: 100 })
    const client = await connect(t, edge, '/live', { cookie: edge.session() })
    edge.setClock(600)
    // settles when everything that was open before has been judged once more
    const last = await connect(t, edge, '/last', { cookie: edge.session({ sid: 'last' }) })
    edge.revoke({ sids: { last: edge.nowSeconds() + 1 } })
    await last.closed
    client.socket.send('still here')
    const heard = await Promise.race([client.next(), client.closed])
    t.same(heard, Buffer.from('still here'))
    edge.pass(101)
    t.same(await client.closed, { code: 1008, reason: 'session ended' }, 'it is, in its time')
  },
)
