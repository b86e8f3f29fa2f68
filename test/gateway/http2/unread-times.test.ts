/** How long an answer waits for a client that does not take it. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { END_HEADERS, requestFields, TYPE } from '../../support/http2-frames.ts'
import {
  bytesOf,
  connect,
  IDLE_MS,
  inFlight,
  settle,
  startSpringWire,
  tick,
  widen,
} from '../../support/http2-spring.ts'
import { HOST } from '../../support/secure-wire.ts'

t.test('nothing taken for the idle time: the streams end, with their upstream calls', async (t) => {
  const { wire, pass, origin } = await startSpringWire(t)
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

t.test('a byte of each now and then is nothing taken', async (t) => {
  const { wire, pass, origin } = await startSpringWire(t)
  const client = connect(wire, 0)
  const streams = [1, 3, 5, 7, 9]
  for (const stream of streams) client.request(stream, requestFields(HOST, '/giant'))
  while (origin.asked.length < streams.length) await tick()
  await settle(client)
  for (let round = 0; round < 3 && inFlight(wire) > 0; round++) {
    client.send(...streams.map((stream) => widen(stream, 1)))
    await settle(client)
    pass(IDLE_MS + 1)
    await settle(client)
  }
  t.equal(inFlight(wire), 0)
  t.ok(wire.outcomes.every(({ isCut }) => isCut))
})

t.test('so do events that nobody reads, however small they are', async (t) => {
  const { wire, pass, origin } = await startSpringWire(t)
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
  const { wire, pass } = await startSpringWire(t, {
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
  const { wire, pass, origin } = await startSpringWire(t)
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
  const { wire, pass } = await startSpringWire(t)
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
  const { wire, pass, origin } = await startSpringWire(t)
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
  const { wire, pass, origin } = await startSpringWire(t)
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
