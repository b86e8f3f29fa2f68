/** What WebSockets are among the streams of a connection: not counted with them, and no way to fill it without end. */
import t, { type Test } from 'tap'
import type { TakenSocket } from '../../../gateway/wire/exchange.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ERROR } from '../../../gateway/http2/protocol/frames.ts'
import { fields, requestFields, TYPE } from '../../support/http2-frames.ts'
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
import { HOST, type SecureWireOptions } from '../../support/secure-wire.ts'

const WEB_SOCKET = fields([
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  [':scheme', 'https'],
  [':authority', HOST],
  [':path', '/live'],
  ['sec-websocket-version', '13'],
])
const OPEN = 4 // END_HEADERS, and no end

/** Every WebSocket is opened at once, and nobody is behind it. */
async function startTaking(t: Test, options: SecureWireOptions = {}) {
  const taken: TakenSocket[] = []
  const started = await startSpringWire(t, {
    decide(exchange, wire) {
      if (!exchange.head.isUpgrade) return exchange.forward(wire.plan(exchange))
      const one = exchange.takeSocket!()
      one.socket.on('error', () => undefined)
      one.open('')
      taken.push(one)
    },
    ...options,
  })
  return { ...started, taken }
}

t.test('they are none of the streams that an address may have', async (t) => {
  const { wire, taken } = await startTaking(t, { limits: { http2StreamsPerAddressMax: 3 } })
  const client = connect(wire, 65_535)
  for (let at = 0; at < 9; at++) client.request(1 + 2 * at, WEB_SOCKET, OPEN)
  while (taken.length < 9) await tick()
  await settle(client)
  const use = wire.addresses.useOf('127.0.0.1')
  t.same([use.streams, use.headBytes, use.site.held.streams], [0, 0, 0])
  client.request(101, requestFields(HOST, '/page'))
  t.ok(await client.until(({ stream, type }) => stream === 101 && type === TYPE.data))
  for (const { socket } of taken) socket.destroy()
  client.send(widen(0, 2 ** 20), widen(101, 2 ** 20))
  t.ok(await client.until(({ stream, flags }) => stream === 101 && (flags & 1) === 1))
  await settle(client)
  t.same([use.streams, use.headBytes, use.site.held.streams], [0, 0, 0], 'given back once')
})

t.test('what they hold together fills no connection without end', async (t) => {
  const { wire, taken, origin, pass } = await startTaking(t)
  const client = connect(wire, 0)
  const count = 20
  for (let at = 0; at < count; at++) client.request(1 + 2 * at, WEB_SOCKET, OPEN)
  while (taken.length < count) await tick()
  taken[0]!.socket.write(Buffer.alloc(5000))
  pass(IDLE_MS)
  pass(IDLE_MS)
  await settle(client)
  t.equal(client.resetCode(1), undefined, 'a little is waited for')
  for (const { socket } of taken) socket.write(Buffer.alloc(10_000))
  client.request(101, requestFields(HOST, '/page'))
  await settle(client)
  t.same([origin.asked, inFlight(wire)], [[], 1], 'nothing new is begun')
  pass(IDLE_MS - 1)
  await settle(client)
  t.equal(client.resetCode(1), undefined)
  pass(1)
  await settle(client)
  t.equal(client.resetCode(1), ERROR.cancel)
  t.ok(taken[0]!.socket.destroyed)
  t.same(origin.asked, ['/page'], 'and goes on when they are gone')
})

t.test('who takes of what fills it keeps them', async (t) => {
  const { wire, taken, pass } = await startTaking(t)
  const client = connect(wire, 0).send(widen(0, 2 ** 30))
  const streams = Array.from({ length: 40 }, (_, at) => 1 + 2 * at)
  for (const stream of streams) client.request(stream, WEB_SOCKET, OPEN)
  while (taken.length < 40) await tick()
  for (const { socket } of taken) socket.write(Buffer.alloc(15_000))
  await settle(client)
  const rounds = LIMITS.http2StreamIdleMsMax / IDLE_MS + 2
  for (let round = 0; round < rounds; round++) {
    client.send(...streams.map((stream) => widen(stream, 1000)))
    await settle(client)
    for (const { socket } of taken) socket.write(Buffer.alloc(1000))
    pass(IDLE_MS)
    await settle(client)
  }
  t.notOk(client.frames.some(({ type }) => type === TYPE.reset))
  t.same(new Set(streams.map((stream) => bytesOf(client, stream))), new Set([1000 * rounds]))
  client.send(...streams.slice(1).map((stream) => widen(stream, 2 ** 20)))
  await settle(client)
  for (let round = 0; round < rounds; round++) pass(IDLE_MS)
  await settle(client)
  t.equal(client.resetCode(1), undefined, 'and who has little left when there is room again')
})

t.test('what one holds says nothing about how an answer beside it moves', async (t) => {
  const { wire, taken, pass } = await startTaking(t)
  const client = connect(wire, 0)
  client.send(widen(0, 2 ** 30)).request(1, WEB_SOCKET, OPEN)
  while (taken.length < 1) await tick()
  taken[0]!.socket.write(Buffer.alloc(5000))
  for (let hour = 0; hour < 60; hour++) pass(60 * IDLE_MS)
  client.request(3, requestFields(HOST, '/page')).send(widen(3, 60_000))
  await client.until(({ stream, type }) => stream === 3 && type === TYPE.data)
  for (let round = 0; round < 2; round++) {
    client.send(widen(3, 30_000))
    await settle(client)
    pass(IDLE_MS)
    await settle(client)
  }
  t.equal(client.resetCode(3), undefined)
})
