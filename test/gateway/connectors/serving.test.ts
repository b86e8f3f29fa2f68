/** An application without an open port: its connector has dialled, and requests go the other way. */
import { connect } from 'node:net'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { freePort } from '../../support/ports.ts'
import {
  ask,
  dialIn,
  keepSpares,
  newConnectorKeys,
  openDoor,
  TENANT,
} from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'

t.test('a request goes to the application behind its connector', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const { until: event, tunnel } = dialIn(t, door, keys, { origin: origin.url })
  await event('connected')
  t.same(await ask(door.upstream), { status: 200, body: 'ok', failure: '' })
  const posted = await ask(door.upstream, { method: 'POST', body: 'hello' })
  t.equal(posted.status, 200)
  t.equal(origin.seen.at(-1)?.body.toString(), 'hello')
  t.match(door.upstream.stats(), { sockets: 1, connects: 1 }, 'one connection serves both')
  t.match(tunnel.status(), [{ gateway: 'gateway-1', worker: 1, isConnected: true, problem: '' }])
})

t.test('many at once, on connections that are kept ahead of them', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const { until: event } = dialIn(t, door, keys, { origin: origin.url })
  await event('connected')
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(door.upstream)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  for (const { member } of door.connectors.present()) {
    t.ok(member.wanted >= LIMITS.connectorSparesBusy)
    t.ok(member.wanted <= LIMITS.connectorSparesMax)
  }
})

t.test('without a connector, and with one that finds no application', async (t) => {
  const door = await openDoor(t)
  t.match(await ask(door.upstream), { status: 503, failure: 'connector_absent' })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const { until: event } = dialIn(t, door, keys, { origin: `http://127.0.0.1:${await freePort()}` })
  await event('connected')
  t.match(await ask(door.upstream), { status: 502, failure: 'upstream_refused' })
  t.match(await event('opened'), { isReached: false, reason: 'refused' })
})

t.test('requests wait for a connector that another worker has got already', async (t) => {
  const clock = movableClock()
  const door = await openDoor(t, { awaitedMs: LIMITS.connectorsAwaitedMsMax, clock })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  clock.advance(LIMITS.connectorsAwaitedMsMax)
  t.match(await ask(door.upstream), { status: 503, failure: 'connector_absent' }, 'it has begun')
  door.connectors.hereAre([[TENANT, true]])
  const waiting = ask(door.upstream)
  const origin = await startOrigin(t)
  const { tunnel, until: event } = dialIn(t, door, keys, { origin: origin.url })
  await event('connected')
  t.match(await waiting, { status: 200 })

  tunnel.close()
  await until(() => [...door.connectors.present()].length === 0)
  const again = ask(door.upstream)
  door.connectors.hereAre([[TENANT, false]])
  t.match(await again, { failure: 'connector_absent' }, 'no worker has it any more')
  door.connectors.hereAre([[TENANT, true]])
  clock.advance(LIMITS.connectorsAwaitedMsMax)
  t.match(await ask(door.upstream), { failure: 'connector_absent' }, 'it does not come')
})

t.test('and not for longer than that', async (t) => {
  const door = await openDoor(t, { awaitedMs: 20 })
  t.match(await ask(door.upstream), { failure: 'connector_absent' })
  door.connectors.hereAre([[TENANT, true]])
  t.match(await ask(door.upstream), { failure: 'connector_absent' })
})

t.test(
  'while a worker begins, requests wait for the connectors that are on their way',
  async (t) => {
    t.equal(LIMITS.connectorsAwaitedMsMax, 3000)
    const origin = await startOrigin(t)
    const keys = newConnectorKeys()
    const clock = movableClock() // it stands: a slow handshake is none that is late
    const door = await openDoor(t, { awaitedMs: LIMITS.connectorsAwaitedMsMax, clock })
    door.allow({ con_1: keys })
    const early = ask(door.upstream)
    dialIn(t, door, keys, { origin: origin.url })
    t.match(await early, { status: 200 })
    const lonely = await openDoor(t, { awaitedMs: 50 })
    t.match(await ask(lonely.upstream), { status: 503, failure: 'connector_absent' })
  },
)

t.test('the least busy of several, and only those that reach their application', async (t) => {
  const [one, two] = [await startOrigin(t), await startOrigin(t)]
  const door = await openDoor(t)
  const keys = [newConnectorKeys(), newConnectorKeys(), newConnectorKeys()] as const
  door.allow({ con_1: keys[0], con_2: keys[1], con_3: keys[2] })
  const dead = `http://127.0.0.1:${await freePort()}`
  for (const [at, url] of [one.url, two.url, dead].entries())
    await dialIn(t, door, keys[at]!, { origin: url, connectorId: `con_${at + 1}` }).until(
      'connected',
    )
  await keepSpares(door)
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(door.upstream)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.ok(one.seen.length > 0 && two.seen.length > 0, 'both have had some')
})

t.test('a connector that dies', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = [newConnectorKeys(), newConnectorKeys()] as const
  door.allow({ con_1: keys[0], con_2: keys[1] })
  const [first, second] = [1, 2].map((at) =>
    dialIn(t, door, keys[at - 1]!, { origin: origin.url, connectorId: `con_${at}` }),
  ) as [ReturnType<typeof dialIn>, ReturnType<typeof dialIn>]
  await Promise.all([first.until('connected'), second.until('connected')])
  for (let count = 0; count < 10; count++) await ask(door.upstream)
  first.tunnel.close()
  for (let count = 0; count < 20; count++)
    t.match(await ask(door.upstream), { status: 200 }, 'the next request is served')
  second.tunnel.close()
  await until(() => [...door.connectors.present()].length === 0)
  t.match(await ask(door.upstream), { status: 503, failure: 'connector_absent' })
})

t.test('a connector that goes in an orderly way fails no request', async (t) => {
  const origin = await startOrigin(t, (_request, response) =>
    setTimeout(() => response.end('late'), 100),
  )
  const door = await openDoor(t)
  const keys = [newConnectorKeys(), newConnectorKeys()] as const
  door.allow({ con_1: keys[0], con_2: keys[1] })
  const first = dialIn(t, door, keys[0], { origin: origin.url })
  await first.until('connected')
  const early = Array.from({ length: 8 }, () => ask(door.upstream))
  await until(() => origin.begun() === 8)
  const second = dialIn(t, door, keys[1], { origin: origin.url, connectorId: 'con_2' })
  await second.until('connected')
  const drained = first.tunnel.drain(60_000)
  const late = Array.from({ length: 8 }, () => ask(door.upstream))
  const answers = await Promise.all([...early, ...late])
  t.same(new Set(answers.map(({ body }) => body)), new Set(['late']))
  await drained
})

t.test('revoked, it has no connection left at once, and does not come back', async (t) => {
  const origin = await startOrigin(t, () => undefined)
  const door = await openDoor(t, { gatherMs: 0 })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const connector = dialIn(t, door, keys, { origin: origin.url })
  await connector.until('connected')
  const hanging = ask(door.upstream)
  await until(() => origin.begun() === 1)
  door.allow({})
  t.match(await hanging, { status: 502 })
  await until(() => connector.events.some(({ type }) => type === 'refused'))
  t.match(await ask(door.upstream), { failure: 'connector_absent' })
  await until(() => door.logged.some(({ reason }) => reason === 'unknown'))
  t.same([...door.connectors.present()], [], 'it has come again, and was refused')
})

t.test('what an application says on its own account never becomes an answer', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const answer = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n${text}`
    socket.on('data', () => {
      socket.write(answer('good'))
      setTimeout(() => socket.write(answer('evil')), 20)
    })
  })
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const connector = dialIn(t, door, keys, { origin: origin.url })
  await connector.until('connected')
  t.match(await ask(door.upstream), { body: 'good' })
  await until(() => door.upstream.stats().sockets === 0)
  t.match(await ask(door.upstream), { body: 'good' })
})

t.test('an upload and its answer end when both have ended', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'))
  })
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const connector = dialIn(t, door, keys, { origin: origin.url })
  await connector.until('connected')
  t.match(await ask(door.upstream), { status: 200, body: 'until the end' })
})

t.test(
  'an unauthenticated flood is cut off within its time, and nobody else notices',
  async (t) => {
    const origin = await startOrigin(t)
    const door = await openDoor(t)
    const keys = newConnectorKeys()
    door.allow({ con_1: keys })
    const connector = dialIn(t, door, keys, { origin: origin.url })
    await connector.until('connected')
    const flood = Array.from({ length: 50 }, () => connect(door.port, '127.0.0.1'))
    t.teardown(() => flood.forEach((socket) => socket.destroy()))
    for (const socket of flood) socket.on('error', () => undefined).write('not TLS at all')
    t.match(await ask(door.upstream), { status: 200 })
  },
)
