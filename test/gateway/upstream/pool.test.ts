/** The pool of connections to one origin: reuse, staleness, limits, names, TLS, the end. */
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import t from 'tap'
import { createUpstreamRuntime } from '../../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import { movableClock } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'
import { certificateFor } from '../../support/certificate.ts'
import {
  RawClient,
  listening,
  startOrigin,
  startRawOrigin,
  startWire,
  talk,
} from '../../support/wire.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi'
const times = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 }

t.test('one connection serves one request after another', async (t) => {
  const origin = await startOrigin(t)
  const { port, upstream } = await startWire(t, origin.url)
  await talk(
    t,
    port,
    GET.repeat(20),
    Array.from({ length: 20 }, () => 'GET'),
  )
  t.match(upstream.stats(), { connects: 1, sockets: 1, idle: 1 })
})

/** Answers the first request on each connection and resets on the second. */
async function startForgetful(t: Parameters<typeof startRawOrigin>[0]) {
  const requests: string[] = []
  const origin = await startRawOrigin(t, (socket) => {
    let served = 0
    socket.on('data', (chunk: Buffer) => {
      requests.push(chunk.toString('latin1').split(' ')[0]!)
      if (served++ === 0) socket.write(OK)
      else socket.resetAndDestroy()
    })
  })
  return { ...origin, requests }
}

t.test(
  'a request that may be repeated is sent once more when the pooled connection is dead',
  async (t) => {
    const origin = await startForgetful(t)
    const { port, upstream } = await startWire(t, origin.url)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) {
      const text = GET.replace('GET', method)
      const answers = await talk(t, port, text + text, [method, method])
      t.strictSame(
        answers.map((answer) => answer?.status),
        [200, 200],
        method,
      )
    }
    t.ok(upstream.stats().retries >= 5)
  },
)

t.test('a request that may not be repeated is not', async (t) => {
  for (const second of [
    POST,
    GET.replace('GET', 'POST'),
    POST.replace('POST', 'PUT'),
    GET.replace('GET', 'PATCH'),
  ]) {
    const origin = await startForgetful(t)
    const { port, upstream } = await startWire(t, origin.url)
    const answers = await talk(t, port, GET + second, ['GET', 'POST'])
    t.strictSame(
      answers.map((answer) => answer?.status),
      [200, 502],
    )
    t.equal(upstream.stats().retries, 0)
    t.equal(origin.requests.length, 2)
  }
})

t.test('it is sent again only once, and never after a byte of an answer', async (t) => {
  const half = await startRawOrigin(t, (socket) => {
    let served = 0
    socket.on('data', () => {
      if (served++ === 0) socket.write(OK)
      else socket.end('HTTP/1.1 20')
    })
  })
  const wire = await startWire(t, half.url)
  const answers = await talk(t, wire.port, GET + GET, ['GET', 'GET'])
  t.equal(answers[1]?.status, 502)
  t.equal(wire.upstream.stats().retries, 0)

  let accepted = 0
  const dead = await startRawOrigin(t, (socket) => {
    const isFirst = accepted++ === 0
    let served = 0
    socket.on('data', () => {
      if (isFirst && served++ === 0) socket.write(OK)
      else socket.resetAndDestroy()
    })
  })
  const second = await startWire(t, dead.url)
  t.equal((await talk(t, second.port, GET + GET, ['GET', 'GET']))[1]?.status, 502)
  t.equal(second.upstream.stats().retries, 1)
})

t.test(
  'an upstream reset at any byte of a response is a 502 or a cut, never a whole answer',
  async (t) => {
    const responses = [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: a\r\n\r\n',
      'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    ]
    for (const raw of responses)
      for (const ending of ['end', 'reset'] as const) {
        let cut = 0
        const origin = await startRawOrigin(t, (socket: Socket) => {
          socket.once('data', () => {
            socket.write(raw.slice(0, cut), () => {
              if (ending === 'end') socket.end()
              else setImmediate(() => socket.resetAndDestroy())
            })
          })
        })
        const { port, upstream } = await startWire(t, origin.url)
        const wrong: number[] = []
        for (cut = 0; cut < raw.length; cut++) {
          const [answer] = await talk(t, port, GET)
          const isRight =
            answer?.status === 502 ? answer.isWhole : answer === undefined || !answer.isWhole
          if (!isRight || upstream.stats().sockets > 0) wrong.push(cut)
        }
        t.strictSame(wrong, [], `${ending}: ${raw.split('\r\n')[1]}`)
      }
  },
)

t.test(
  'connections are limited; the next request waits for a free one, or gives up in time',
  async (t) => {
    const waiting: (() => void)[] = []
    const origin = await startOrigin(t, (_request, response) => {
      waiting.push(() => response.end('ok'))
    })
    const clock = movableClock()
    const runtime = createUpstreamRuntime({ clock, sweepMs: 5 })
    t.teardown(() => runtime.close())
    const { port, upstream } = await startWire(t, origin.url, {
      upstreamOptions: {
        runtime,
        limits: { upstreamSocketsMax: 2, upstreamWaitingMax: 2 },
        timeouts: { ...times, connectMs: 300 },
      },
    })
    const clients = Array.from({ length: 5 }, () => new RawClient(port))
    t.teardown(() => clients.forEach((client) => client.close()))
    for (const [at, client] of clients.entries()) {
      client.send(GET)
      await until(() => origin.begun() + upstream.stats().waiting === Math.min(at + 1, 4))
    }
    t.match(upstream.stats(), { sockets: 2, waiting: 2 })
    t.match(
      await clients[4]!.answer(),
      { status: 503, body: /upstream_busy/ },
      'no place left to wait',
    )
    waiting.shift()!()
    t.equal((await clients[0]!.answer())?.status, 200)
    clock.advance(300)
    t.match(await clients[3]!.answer(), { status: 504 }, 'the last one has waited long enough')
    while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve))
    for (const answer of waiting) answer()
    t.equal((await clients[1]!.answer())?.status, 200)
    t.equal((await clients[2]!.answer())?.status, 200)
    t.match(upstream.stats(), { connects: 2, waiting: 0 })
  },
)

t.test('no more idle connections are kept than the limit says', async (t) => {
  const waiting: (() => void)[] = []
  const origin = await startOrigin(t, (_request, response) => {
    waiting.push(() => response.end('ok'))
  })
  const { port, upstream } = await startWire(t, origin.url, {
    upstreamOptions: { limits: { upstreamIdleSocketsMax: 1 } },
  })
  const both = [talk(t, port, GET), talk(t, port, GET)]
  while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve))
  for (const answer of waiting) answer()
  await Promise.all(both)
  t.match(upstream.stats(), { sockets: 1, idle: 1 })
})

t.test('connections too old for a POST make room for the new ones', async (t) => {
  const clock = { now: 1, nowMs: () => clock.now, steadyMs: () => clock.now }
  const runtime = createUpstreamRuntime({ clock, sweepMs: 5 })
  t.teardown(() => runtime.close())
  const origin = await startOrigin(t)
  const { port, upstream } = await startWire(t, origin.url, {
    upstreamOptions: { runtime, limits: { upstreamIdleSocketsMax: 1 } },
  })
  await talk(t, port, GET)
  clock.now += 1500
  runtime.deadlines.sweep()
  await talk(t, port, POST + POST + POST, ['POST', 'POST', 'POST'])
  t.match(upstream.stats(), { connects: 2, sockets: 1, idle: 1 })
})

t.test('an idle connection is left before the origin would leave it', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () =>
      socket.write(OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=1\r\n\r\n')),
    )
  })
  const { port, upstream } = await startWire(t, origin.url, {
    upstreamOptions: { timeouts: { ...times, idleMs: 100 } },
  })
  await talk(t, port, GET)
  t.equal(upstream.stats().idle, 1)
  while (upstream.stats().idle > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(upstream.stats().sockets, 0)
})

t.test('closing lets what runs be answered and closes what is idle', async (t) => {
  let answer = (): void => undefined
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/slow') answer = () => response.end('slow')
    else response.end('ok')
  })
  const { port, upstream } = await startWire(t, origin.url)
  await talk(t, port, GET)
  const slow = talk(t, port, GET.replace('/', '/slow'))
  while (origin.seen.length < 2) await new Promise((resolve) => setImmediate(resolve))
  let isClosed = false
  const closing = upstream.close().then(() => (isClosed = true))
  t.equal((await talk(t, port, GET))[0]?.status, 503)
  t.equal(isClosed, false)
  answer()
  t.equal((await slow)[0]?.body.toString(), 'slow')
  await closing
  t.equal(upstream.stats().sockets, 0)
})

t.test('a silent name server costs only those who need it', async (t) => {
  const origin = await startOrigin(t)
  const silence = Promise.withResolvers<never>()
  const runtime = createUpstreamRuntime({
    sweepMs: 20,
    resolve: (name) =>
      name === 'slow.test'
        ? silence.promise
        : Promise.resolve([{ address: '127.0.0.1', family: 4 as const }]),
  })
  t.teardown(() => runtime.close())
  const slow = await startWire(t, `http://slow.test:${origin.port}`, {
    upstreamOptions: { runtime, timeouts: { ...times, connectMs: 60_000 } },
  })
  const quick = await startWire(t, `http://quick.test:${origin.port}`, {
    upstreamOptions: { runtime },
  })
  const stuck = Promise.all(Array.from({ length: 20 }, () => talk(t, slow.port, GET)))
  for (let count = 0; count < 20; count++) t.equal((await talk(t, quick.port, GET))[0]?.status, 200)
  const impatient = await startWire(t, `http://slow.test:${origin.port}`, {
    upstreamOptions: { runtime, timeouts: { ...times, connectMs: 50 } },
  })
  t.equal((await talk(t, impatient.port, GET))[0]?.status, 504)
  silence.reject(new Error('it says something after all'))
  for (const [answer] of await stuck) t.equal(answer?.status, 502)
})

t.test('a name without an address is a 502', async (t) => {
  const runtime = createUpstreamRuntime({ resolve: () => Promise.reject(new Error('none')) })
  t.teardown(() => runtime.close())
  const { port } = await startWire(t, 'http://nowhere.test', { upstreamOptions: { runtime } })
  t.match((await talk(t, port, GET))[0], { status: 502, body: /upstream_unresolved/ })
})

t.test('an https origin is verified', async (t) => {
  const { key, cert } = certificateFor('app.test')
  const server = createTlsServer({ key, cert }, (_request, response) => response.end('secure'))
  const originPort = await listening(server)
  t.teardown(() => server.close())
  const runtime = createUpstreamRuntime({
    resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  })
  t.teardown(() => runtime.close())
  const ask = async (name: string, ca?: string) => {
    const { port } = await startWire(t, `https://${name}:${originPort}`, {
      upstreamOptions: { runtime, timeouts: times, ...(ca !== undefined && { ca }) },
    })
    return (await talk(t, port, GET + GET, ['GET', 'GET']))[1]
  }
  t.match(await ask('app.test', cert), { status: 200, body: Buffer.from('secure') })
  t.match(
    await ask('other.test', cert),
    { status: 502, body: /upstream_tls_failed/ },
    'another name',
  )
  t.match(
    await ask('app.test'),
    { status: 502, body: /upstream_tls_failed/ },
    'an unknown authority',
  )
})

t.test('an origin must be one', (t) => {
  for (const origin of ['ftp://a', 'nonsense', 'http://'])
    t.throws(() => createUpstream({ origin, timeouts: times }), origin)
  t.end()
})
