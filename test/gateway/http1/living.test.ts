/** Time-outs, limits per connection and address, and the end of the process. */
import t from 'tap'
import { Deadlines } from '../../../gateway/wire/deadlines.ts'
import type { Exchange } from '../../../gateway/wire/exchange.ts'
import { until } from '../../support/fleet.ts'
import { RawClient, startOrigin, startRawOrigin, startWire, talk } from '../../support/wire.ts'
import type { WireOptions } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const own = (status: number) => (exchange: Exchange) =>
  exchange.respond({ status, headerLines: [], body: 'own' })

const SHORT = 150
const timeouts = (changed: Partial<NonNullable<WireOptions['timeouts']>>) => ({
  timeouts: { headMs: 60_000, idleMs: 60_000, keepAliveMs: 60_000, ...changed },
})

t.test('a head that trickles in is cut off, however busily it trickles', async (t) => {
  const { port } = await startWire(t, 'http://127.0.0.1:1', timeouts({ headMs: SHORT }))
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send('GET / HTTP/1.1\r\n')
  const trickle = setInterval(() => client.send('X: a\r\n'), 10)
  t.teardown(() => clearInterval(trickle))
  // Were its time to run from its last byte, this would not end.
  t.match(await client.answer(), { status: 408, head: /Connection: close/ })
})

t.test('a connection that never says a word is closed without one', async (t) => {
  const { port, server } = await startWire(t, 'http://127.0.0.1:1', timeouts({ headMs: SHORT }))
  const client = new RawClient(port)
  await client.closed
  t.equal(client.received, '')
  t.equal(server.connections(), 0)
})

t.test('an idle connection is closed after its time, not before', async (t) => {
  let nowMs = 0
  const deadlines = new Deadlines(
    clockOf(() => nowMs),
    5,
  )
  t.teardown(() => deadlines.close())
  const { port, server } = await startWire(t, 'http://127.0.0.1:1', {
    ...timeouts({ keepAliveMs: SHORT, headMs: SHORT - 10 }),
    deadlines,
    decide: own(200),
  })
  const [client, late] = [new RawClient(port), new RawClient(port)]
  client.send(GET)
  await client.answer()
  late.send('GET / HTTP/1.1\r\n')
  await until(() => server.connections() === 2)
  nowMs = SHORT - 5
  await late.closed // so deadlines have been looked at
  late.close()
  let isClosed = false
  void client.closed.then(() => (isClosed = true))
  await until(() => server.connections() === 1)
  t.notOk(isClosed)
  nowMs = SHORT + 5
  await client.closed
})

t.test('a body that stops arriving is answered with 408 and reaches no origin', async (t) => {
  const origin = await startOrigin(t)
  const { port } = await startWire(t, origin.url, timeouts({ idleMs: SHORT }))
  for (const framing of [
    'Content-Length: 10\r\n\r\nhell',
    'Transfer-Encoding: chunked\r\n\r\n5\r\nhel',
  ]) {
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(`POST / HTTP/1.1\r\nHost: a\r\n${framing}`)
    t.equal((await client.answer('POST'))?.status, 408)
    await client.closed
  }
  t.equal(origin.seen.length, 0)
})

t.test('a client that stops reading is cut off, with its upstream connection', async (t) => {
  const origin = await startOrigin(t, (_request, response) => {
    response.end(Buffer.alloc(64 << 20))
  })
  const { port, upstream, outcomes } = await startWire(t, origin.url, timeouts({ idleMs: SHORT }))
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.socket.pause()
  client.send(GET)
  while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(outcomes, [{ status: 200, isCut: true }])
  t.equal(upstream.stats().sockets, 0)
})

t.test('an origin that does not answer, or stops in the middle, is not waited for', async (t) => {
  for (const [raw, wish] of [
    ['', { status: 504, isWhole: true }],
    ['HTTP/1.1 200 OK\r\nContent-Le', { status: 504, isWhole: true }],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel', { status: 200, isWhole: false }],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel',
      { status: 200, isWhole: false },
    ],
  ] as const) {
    const origin = await startRawOrigin(t, (socket) => {
      socket.once('data', () => socket.write(raw))
    })
    const { port } = await startWire(t, origin.url, {
      upstreamOptions: { timeouts: { connectMs: 9999, firstByteMs: SHORT, idleMs: SHORT } },
    })
    t.match((await talk(t, port, GET))[0], wish, JSON.stringify(raw))
  }
})

t.test(
  'connections per address: N are served, the next is closed, a free place is used',
  async (t) => {
    const { port, server } = await startWire(t, 'http://127.0.0.1:1', {
      limits: { connectionsPerAddressMax: 2 },
      decide: own(200),
    })
    const clients = [new RawClient(port), new RawClient(port)]
    // each in the middle of its next request
    for (const client of clients) {
      client.send(GET + GET.slice(0, 10))
      t.equal((await client.answer())?.status, 200)
    }
    const third = new RawClient(port)
    third.send(GET)
    t.equal(await third.answer(), undefined)
    t.equal(server.connections(), 2)
    clients[0]?.close()
    while (server.connections() > 1) await new Promise((resolve) => setImmediate(resolve))
    t.equal((await talk(t, port, GET))[0]?.status, 200)
    clients[1]?.close()
  },
)

t.test('the longest idle connection gives way to a new one of its address', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const { port } = await startWire(t, origin.url, {
    limits: { connectionsPerAddressMax: 3 },
    decide(exchange, wire) {
      if (exchange.head.target === '/busy') exchange.forward(wire.plan(exchange))
      else exchange.respond({ status: 200, headerLines: [], body: 'ok' })
    },
  })
  const clients: RawClient[] = []
  const open = () => {
    const client = new RawClient(port)
    t.teardown(() => client.close())
    clients.push(client)
    return client
  }
  const isClosed = (client: RawClient) => client.socket.destroyed || client.socket.readableEnded
  open().send(GET.replace('/', '/busy'))
  for (let count = 0; count < 4; count++) {
    const client = open()
    client.send(GET)
    t.equal((await client.answer())?.status, 200, `connection ${count}`)
  }
  await clients[1]?.closed
  await clients[2]?.closed
  t.same(clients.map(isClosed), [false, true, true, false, false])
})

t.test('a balancer in front is not counted', async (t) => {
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    limits: { connectionsPerAddressMax: 1 },
    isExempt: (address) => address === '127.0.0.1',
    decide: own(200),
  })
  const first = new RawClient(port)
  t.teardown(() => first.close())
  first.send(GET)
  await first.answer()
  t.equal((await talk(t, port, GET))[0]?.status, 200)
})

t.test('requests per connection: the last one says so', async (t) => {
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    limits: { requestsPerConnectionMax: 2 },
    decide: own(200),
  })
  const [first, second, third] = await talk(t, port, GET.repeat(3), ['GET', 'GET', 'GET'])
  t.notMatch(first?.head, /Connection/)
  t.match(second?.head, /Connection: close/)
  t.equal(third, undefined)
})

t.test('draining: what runs is finished, what is idle is closed, what comes is told', async (t) => {
  const waiting: Exchange[] = []
  const { port, server } = await startWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => {
      if (exchange.head.target === '/slow') waiting.push(exchange)
      else own(200)(exchange)
    },
  })
  const [running, idle, late] = [new RawClient(port), new RawClient(port), new RawClient(port)]
  running.send(GET.replace('/', '/slow'))
  idle.send(GET)
  late.send(GET)
  await Promise.all([idle.answer(), late.answer()])
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const drained = server.drain(300)
  late.send(GET)
  t.match(await late.answer(), { status: 200, head: /Connection: close/ }, 'within the grace')
  await idle.closed
  t.equal(server.connections() >= 1, true)
  own(200)(waiting[0]!)
  t.match(await running.answer(), { status: 200, head: /Connection: close/ })
  await drained
  t.equal(server.connections(), 0)
  for (const client of [running, idle, late]) client.close()
})

t.test('a client that leaves takes its upstream request with it', async (t) => {
  const origin = await startOrigin(t, () => undefined)
  const { port, upstream, outcomes } = await startWire(t, origin.url)
  const client = new RawClient(port)
  client.send(GET)
  while (origin.seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
  client.socket.resetAndDestroy()
  while (upstream.stats().sockets > 0) await new Promise((resolve) => setImmediate(resolve))
  t.match(outcomes, [{ status: 0, isCut: true }])
})
