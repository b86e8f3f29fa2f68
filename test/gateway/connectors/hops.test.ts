/** A gateway without a connector of a tenant reaches one over another gateway, and over no third. */
import type { Socket } from 'node:net'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import type { ResponseSink, UpstreamCall } from '../../../gateway/wire/upstream-call.ts'
import {
  ask,
  dialIn,
  fleetOf,
  keepSpares,
  newConnectorKeys,
  openFleet,
  startHops,
  TENANT,
  type Door,
} from '../../support/dialled-in.ts'
import { movableClock } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'
import { freePort } from '../../support/ports.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'

const tick = (ms = 5) => new Promise((next) => setTimeout(next, ms))

const served = ({ connectors }: Door) => connectors.counts().hopsServed

/** A request whose answer is looked at while it comes. */
function begin(
  upstream: Door['upstream'],
  wish: { method?: string; bodyLength?: number; onText?: (text: string) => void } = {},
) {
  const done = Promise.withResolvers<{ body: string; trailers: string; failure: string }>()
  let body = ''
  const add = (text: string) => {
    body += text
    wish.onText?.(body)
  }
  const sink: ResponseSink = {
    wantsRawChunks: false,
    onInformational: () => undefined,
    onHead: () => undefined,
    onData: (buffer, from, to) => add(buffer.toString('latin1', from, to)),
    onText: add,
    onReadEnd: () => undefined,
    onEnd: (trailers) => done.resolve({ body, trailers, failure: '' }),
    onError: ({ code }) => done.resolve({ body, trailers: '', failure: code }),
    onDrain: () => undefined,
  }
  const bodyLength = wish.bodyLength ?? 0
  const call: UpstreamCall = upstream.request(
    {
      method: wish.method ?? 'GET',
      target: '/',
      lines: 'Host: a\r\n',
      bodyLength,
      hasLength: bodyLength > 0,
      firstBody: '',
      isBodyWhole: bodyLength === 0,
      isRawChunked: false,
    },
    sink,
  )
  return { call, done: done.promise }
}

t.test('a request goes over the gateway that has the connector', async (t) => {
  const origin = await startOrigin(t)
  const { first, holder } = await startHops(t, origin.url)
  t.same(await ask(first.upstream), { status: 200, body: 'ok', failure: '' })
  const posted = await ask(first.upstream, { method: 'POST', body: 'hello' })
  t.equal(posted.status, 200)
  t.equal(origin.seen.at(-1)?.body.toString(), 'hello')
  t.match(first.upstream.stats(), { sockets: 1, connects: 1 }, 'one connection serves both')
  t.match(first.connectors.counts(), { hopsOpened: 1, hopsFailed: 0, hopsServed: 0 })
  t.equal(served(holder), 1)
  t.same(first.connectors.hopConnections(), { over: 1, served: 0 })
  t.same(holder.connectors.hopConnections(), { over: 0, served: 1 })
  const lines = first.logged.filter(({ msg }) => msg.includes('over another gateway'))
  t.match(lines, [{ over: holder.gatewayId, tenant_id: TENANT }], 'it is logged once')
})

t.test('what a connector answers over another gateway is counted as its own', async (t) => {
  const origin = await startOrigin(t)
  const { first, holder } = await startHops(t, origin.url)
  const requests = () => [...holder.connectors.present()][0]!.member.requests
  for (let at = 0; at < 5; at++) t.equal((await ask(first.upstream)).status, 200)
  t.match(first.upstream.stats(), { sockets: 1, connects: 1 }, 'over one connection')
  await first.upstream.close()
  await until(() => requests() === 5)
  await until(() => holder.connectors.hopConnections().served === 0)
  t.equal(requests(), 5, 'none of them twice')
})

t.test('ten megabytes up and down arrive as they are', async (t) => {
  const size = 10 * 1024 * 1024
  const bytes = Buffer.alloc(size, 'sixteen letters.')
  const origin = await startOrigin(t, (_request, response) => response.end(bytes))
  const { first } = await startHops(t, origin.url)
  const { call, done } = begin(first.upstream, { method: 'POST', bodyLength: size })
  for (let at = 0; at < size; at += 1024 * 1024) call.write(bytes.subarray(at, at + 1024 * 1024))
  call.end()
  const { body, failure } = await done
  t.equal(failure, '')
  t.ok(Buffer.from(body, 'latin1').equals(bytes), 'down')
  t.ok(origin.seen[0]?.body.equals(bytes), 'up')
})

t.test('an event is there before the next one is sent', async (t) => {
  let socketOf: Socket | undefined
  const origin = await startRawOrigin(t, (socket) => {
    socketOf = socket
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'),
    )
  })
  const { first } = await startHops(t, origin.url)
  const { done } = begin(first.upstream, {
    onText(text) {
      if (text === 'data: 1\n\n') socketOf?.write('data: 2\n\n')
      if (text === 'data: 1\n\ndata: 2\n\n') socketOf?.end()
    },
  })
  t.equal((await done).body, 'data: 1\n\ndata: 2\n\n')
})

t.test('an answer that ends with its connection, and one that ends with trailers', async (t) => {
  const answers = [
    'HTTP/1.1 200 OK\r\n\r\nuntil the end',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 4\r\n\r\n',
  ]
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => socket.end(answers.shift() ?? ''))
  })
  const { first } = await startHops(t, origin.url)
  t.match(await ask(first.upstream), { status: 200, body: 'until the end' })
  t.match(await begin(first.upstream).done, { body: 'body', trailers: 'X-Sum: 4\r\n' })
})

t.test('an answer that is cut off is no whole one', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write(answers.shift()!)
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
  })
  const answers = ['Content-Length: 100\r\n', ''].map(
    (line) => `HTTP/1.1 200 OK\r\n${line}\r\nbegun`,
  )
  const { first } = await startHops(t, origin.url)
  for (const framing of ['by its length', 'by its end'])
    t.match(await begin(first.upstream).done, { body: 'begun', failure: /^upstream_/ }, framing)
})

t.test('who answers an upload and hangs up while it is written is heard', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const answer = 'HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno'
    socket.once('data', () => socket.end(answer, () => socket.destroy()))
  })
  const { first } = await startHops(t, origin.url)
  const { call, done } = begin(first.upstream, { method: 'POST', bodyLength: 50_000_000 })
  for (let piece = 0; piece < 100; piece++) {
    call.write(Buffer.alloc(100_000))
    await tick(1)
  }
  t.match(await done, { body: 'no', failure: '' })
})

t.test('why the application is not reached is told through the other gateway', async (t) => {
  const { first } = await startHops(t, `http://127.0.0.1:${await freePort()}`)
  t.match(await ask(first.upstream), { status: 502, failure: 'upstream_refused' })
})

t.test('one gateway dies, and the next one is asked', async (t) => {
  const origin = await startOrigin(t)
  const { doors, first, holder, join, connector } = await startHops(t, origin.url, 3)
  await join(doors[1]!)
  first.connectors.holdersAre([[TENANT, ['gateway-2', 'gateway-3']]])
  for (let count = 0; count < 4; count++) t.match(await ask(first.upstream), { status: 200 })
  holder.connectors.close()
  connector.tunnel.close()
  for (let count = 0; count < 6; count++)
    t.match(await ask(first.upstream), { status: 200 }, 'the next request is served')
  t.ok(served(doors[1]!) > 0)
})

t.test('a gateway that says nothing, or is not there, keeps no request', async (t) => {
  const origin = await startOrigin(t)
  const { doors, first } = await startHops(t, origin.url, 3)
  const { port } = await startRawOrigin(t, () => undefined)
  const [one, two, three] = fleetOf(doors) as [Fleet, Fleet, Fleet]
  first.connectors.followGateways([
    one,
    { ...two, address: `127.0.0.1:${port}` },
    { ...three, gateway_id: 'gateway-0', address: `127.0.0.1:${await freePort()}` },
    three,
  ])
  first.connectors.holdersAre([
    [TENANT, ['gateway-2', 'gateway-0', 'gateway-unknown', 'gateway-3']],
  ])
  t.match(await ask(first.upstream), { status: 200 })
})

t.test('a request is never sent on a second time, and nobody sends it in a circle', async (t) => {
  const origin = await startOrigin(t)
  const { doors, first, holder } = await startHops(t, origin.url, 3)
  const middle = doors[1]!
  first.connectors.holdersAre([[TENANT, ['gateway-2']]])
  middle.connectors.holdersAre([[TENANT, ['gateway-1', 'gateway-3']]])
  t.match(await ask(first.upstream), { status: 503, failure: 'connector_absent' })
  t.match(await ask(middle.upstream), { status: 200 }, 'the middle one could have')
  t.match(first.connectors.counts(), { hopsOpened: 0, hopsServed: 0 })
  t.equal(served(middle), 0)
  t.equal(served(holder), 1)
})

t.test('who has said that none is there is not asked again at once', async (t) => {
  t.equal(LIMITS.hopAbsentMs, 1000)
  const clock = movableClock()
  const doors = await openFleet(t, 2, { clock })
  const keys = newConnectorKeys()
  for (const door of doors) {
    door.allow({ con_1: keys })
    door.connectors.holdersAre([[TENANT, ['gateway-2']]])
  }
  const [first, other] = doors as [Door, Door]
  for (let count = 0; count < 3; count++)
    t.match(await ask(first.upstream), { failure: 'connector_absent' })
  t.equal(first.connectors.counts().hopsFailed, 1)
  clock.advance(LIMITS.hopAbsentMs)
  t.match(await ask(first.upstream), { failure: 'connector_absent' })
  t.equal(first.connectors.counts().hopsFailed, 2, 'a second later it is')
  const origin = await startOrigin(t)
  await dialIn(t, other, keys, { origin: origin.url, gatewayId: 'gateway-2' }).until('connected')
  first.connectors.holdersAre([[TENANT, ['gateway-2']]])
  t.match(await ask(first.upstream), { status: 200 }, 'news are believed')
})

t.test(
  'as long as nobody has said where connectors are, it asks where they are to be',
  async (t) => {
    const origin = await startOrigin(t)
    const [first, holder] = (await openFleet(t, 2)) as [Door, Door]
    const keys = newConnectorKeys()
    for (const door of [first, holder]) door.allow({ con_1: keys })
    const options = { origin: origin.url, gatewayId: holder.gatewayId }
    await dialIn(t, holder, keys, options).until('connected')
    t.match(await ask(first.upstream), { status: 200 })
    const [other] = (await openFleet(t, 1)) as [Door]
    other.allow({ con_1: keys })
    other.connectors.followGateways(fleetOf([other, holder]))
    other.connectors.holdersAre([])
    t.match(await ask(other.upstream), { failure: 'connector_absent' }, 'nowhere, as it was told')
    t.equal(other.connectors.counts().hopsFailed, 0)
  },
)

t.test('its own connectors come first, also when they come later', async (t) => {
  const there = await startOrigin(t, (_request, response) => response.end('far'))
  const here = await startOrigin(t, (_request, response) => response.end('near'))
  const { first, holder, keys } = await startHops(t, there.url)
  t.match(await ask(first.upstream), { body: 'far' })
  const options = { origin: here.url, gatewayId: first.gatewayId }
  await dialIn(t, first, keys, options).until('connected')
  await keepSpares(first)
  t.match(await ask(first.upstream), { body: 'near' })
  await until(() => holder.connectors.hopConnections().served === 0)
  t.equal(first.connectors.hopConnections().over, 0)
})

t.test('a connector that drains behind another gateway fails no request', async (t) => {
  const origin = await startOrigin(t, (_request, response) =>
    setTimeout(() => response.end('late'), 30),
  )
  const { first, holder, keys, connector } = await startHops(t, origin.url)
  const second = newConnectorKeys()
  for (const door of [first, holder]) door.allow({ con_1: keys, con_2: second })
  const options = { origin: origin.url, connectorId: 'con_2', gatewayId: holder.gatewayId }
  const answers = Array.from({ length: 8 }, () => ask(first.upstream))
  await until(() => origin.begun() === 8)
  await dialIn(t, holder, second, options).until('connected')
  let isOver = false
  const drained = connector.tunnel.drain(60_000).then(() => (isOver = true))
  while (!isOver) {
    answers.push(ask(first.upstream), ask(first.upstream))
    await tick()
  }
  await drained
  for (const { body, failure } of await Promise.all(answers)) t.equal(body, 'late', failure)
})

t.test('a gateway that drains finishes what it has, and another one is asked', async (t) => {
  const origin = await startOrigin(t, (_request, response) =>
    setTimeout(() => response.end('late'), 30),
  )
  const { doors, first, holder, join } = await startHops(t, origin.url, 3)
  await join(doors[1]!)
  const answers = Array.from({ length: 8 }, () => ask(first.upstream))
  await until(() => origin.begun() === 8)
  first.connectors.holdersAre([[TENANT, ['gateway-2', 'gateway-3']]])
  let isOver = false
  const drained = holder.connectors.drain().then(() => (isOver = true))
  while (!isOver) {
    answers.push(ask(first.upstream))
    await tick()
  }
  await drained
  for (const { body, failure } of await Promise.all(answers)) t.equal(body, 'late', failure)
  t.match(await ask(first.upstream), { body: 'late' })
})

t.test('a connector that is revoked has no connection left behind another gateway', async (t) => {
  const origin = await startOrigin(t, () => undefined)
  const { first, holder } = await startHops(t, origin.url)
  const hanging = ask(first.upstream)
  await until(() => origin.begun() === 1)
  holder.allow({})
  t.match(await hanging, { status: 502 })
  t.match(await ask(first.upstream), { failure: 'connector_absent' })
})

t.test('a gateway that is sent away has no connection left', async (t) => {
  const origin = await startOrigin(t, () => undefined)
  const { doors, first, holder } = await startHops(t, origin.url)
  const hanging = ask(first.upstream)
  await until(() => origin.begun() === 1)
  holder.connectors.followGateways(fleetOf([holder]))
  t.match(await hanging, { status: 502 })
  t.match(await ask(first.upstream), { failure: 'connector_absent' }, 'nor gets a new one')
  t.same(holder.connectors.hopConnections(), { over: 0, served: 0 })
  holder.connectors.followGateways(fleetOf(doors))
  const again = ask(first.upstream)
  await until(() => origin.begun() === 2)
  first.connectors.followGateways(fleetOf([first]))
  t.match(await again, { status: 502 }, 'and nobody is reached over one')
})

type Fleet = ReturnType<typeof fleetOf>[number]
