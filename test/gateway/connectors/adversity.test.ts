/** A network that falls silent, readers that stand still, and connections on which nothing happens. */
import { createServer, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { Pings } from '../../../gateway/connectors/pings.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConnectedEdge } from '../../support/connected-edge.ts'
import { ask, dialIn, keepSpares, newConnectorKeys, openDoor } from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { startRelay } from '../../support/relay.ts'
import { connect, startWebSocketApplication } from '../../support/websockets.ts'
import { listening, RawClient, startOrigin, startWire } from '../../support/wire.ts'

const tick = (ms = 5) => new Promise((next) => setTimeout(next, ms))

/** Two connectors of which one comes by a relay, and has served the last request. */
async function startWithRelay(t: Test, tickMs: number = Pings.tickMs) {
  const held: ServerResponse[] = []
  const near = await startOrigin(t, (_request, response, { target }) =>
    target === '/held' ? void held.push(response) : response.end('ok'),
  )
  const far = await startOrigin(t)
  const door = await openDoor(t, { tickMs })
  const relay = await startRelay(t, door.port)
  const keys = [newConnectorKeys(), newConnectorKeys()] as const
  door.allow({ con_1: keys[0], con_2: keys[1] })
  const distant = dialIn(t, { ...door, address: relay.address }, keys[0], { origin: far.url })
  await distant.until('connected')
  while (far.seen.length === 0) await ask(door.upstream)
  const direct = dialIn(t, door, keys[1], { origin: near.url, connectorId: 'con_2' })
  await direct.until('connected')
  const here = () => [...door.connectors.present()].map(({ member }) => member.connectorId)
  await keepSpares(door)
  return { held, door, relay, distant, here }
}

t.test('a network that falls silent: another one is asked within a second', async (t) => {
  t.equal(LIMITS.connectorAnswerMsMax, 1000)
  const { held, door, relay } = await startWithRelay(t)
  relay.fallSilent()
  const post = (target: string) => ask(door.upstream, { method: 'POST', target, body: 'x' })
  void post('/') // on the connection that the last request was answered on
  const busy = post('/held')
  await until(() => held.length === 1)
  // The other one has no connection left at this moment: the silent one is asked first.
  const answers = await Promise.all([post('/'), post('/')])
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  held[0]!.end('ok')
  t.match(await busy, { status: 200 })
})

t.test(
  'a network that falls silent: dead by its pings, and what it had is asked again',
  async (t) => {
    const { connectorSilentMsMax: deadMs } = LIMITS
    t.equal(deadMs, 15_000)
    const real = globalThis.setTimeout
    t.teardown(() => (globalThis.setTimeout = real))
    globalThis.setTimeout = ((work: () => void, ms: number) =>
      real(work, ms === deadMs ? deadMs / 20 : ms)) as typeof setTimeout
    const { door, relay, here, distant } = await startWithRelay(t, Pings.tickMs / 20)
    t.same(here().sort(), ['con_1', 'con_2'])
    relay.fallSilent()
    // On a connection that the silent one has served before: nothing has come of an answer.
    t.match(await ask(door.upstream), { status: 200 })
    await until(() => here().length === 1)
    t.same(here(), ['con_2'])
    await until(() => distant.tunnel.status()[0]?.isConnected === false)
    // And its own end has let go, too.
    await until(() => distant.tunnel.status()[0]?.inUse === 0)
  },
)

t.test('where all are slow, each is waited for', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const relay = await startRelay(t, door.port)
  const keys = { con_1: newConnectorKeys(), con_2: newConnectorKeys() }
  door.allow(keys)
  for (const [connectorId, own] of Object.entries(keys))
    await dialIn(t, { ...door, address: relay.address }, own, {
      origin: origin.url,
      connectorId,
    }).until('connected')
  const members = () => [...door.connectors.present()].map(({ member }) => member)
  await keepSpares(door, 2)
  relay.holdBack()
  const answers = [ask(door.upstream), ask(door.upstream)]
  // Both have been silent for so long that either would be given up for the other one.
  await until(() => members().every((member) => !member.isWell(systemClock.steadyMs())))
  await tick(100)
  relay.letGo()
  for (const answer of answers) t.match(await answer, { status: 200 })
})

t.test('a clock that is set forward ends nobody', async (t) => {
  let aheadMs = 0
  const origin = await startOrigin(t)
  const door = await openDoor(t, {
    tickMs: 1,
    clock: { ...systemClock, nowMs: () => Date.now() + aheadMs },
  })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  await dialIn(t, door, keys, { origin: origin.url }).until('connected')
  const member = () => [...door.connectors.present()][0]?.member
  const before = member()
  aheadMs = 24 * 3600 * 1000
  await tick(100)
  t.ok(before)
  t.equal(member(), before)
  t.match(await ask(door.upstream), { status: 200 })
})

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const GIANT = 200 << 20

/** Pours on `/giant` as fast as it is taken, and gives `/events` out of its hands. */
async function startApplication(t: Test) {
  const events: ServerResponse[] = []
  let poured = 0
  const piece = Buffer.alloc(1 << 16, 'x')
  const server = createServer((request, response) => {
    if (request.url === '/events') {
      response.setHeader('content-type', 'text/event-stream')
      response.flushHeaders()
      return void events.push(response)
    }
    if (request.url !== '/giant') return void response.end('ok')
    response.setHeader('content-length', GIANT)
    const pour = () => {
      while (poured < GIANT) {
        poured += piece.length
        if (!response.write(piece)) return void response.once('drain', pour)
      }
      response.end()
    }
    pour()
  })
  const port = await listening(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, events, poured: () => poured }
}

async function startTunnelled(t: Test) {
  const application = await startApplication(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  await dialIn(t, door, keys, { origin: application.url }).until('connected')
  const way = door.connectors.wayTo('acme')
  const wire = await startWire(t, 'http://application.internal', {
    upstreamOptions: { way },
    timeouts: { headMs: 5000, idleMs: 60_000, keepAliveMs: 60_000 },
  })
  const client = () => {
    const one = new RawClient(wire.port)
    t.teardown(() => one.close())
    return one
  }
  return { application, client }
}

t.test('a reader that stands still holds up the application, and nobody else', async (t) => {
  const { application, client } = await startTunnelled(t)
  const stalled = client().send(GET('/giant'))
  await stalled.until((text) => text.includes('\r\n\r\n'))
  stalled.socket.pause()
  for (let before = -1; before !== application.poured(); await tick(50))
    before = application.poured()
  t.ok(application.poured() < 64 << 20, `${application.poured()} bytes, then it was held`)
  const other = client()
  for (let count = 0; count < 200; count++)
    t.match(await other.send(GET('/')).answer(), { status: 200 })
  const held = application.poured()
  stalled.socket.removeAllListeners('data')
  stalled.socket.resume()
  await until(() => application.poured() > held)
})

t.test('each event is there before the next one is sent', async (t) => {
  const { application, client } = await startTunnelled(t)
  const reader = client().send(GET('/events'))
  await reader.until((text) => text.includes('text/event-stream'))
  for (let number = 1; number <= 50; number++) {
    application.events[0]!.write(`data: event ${number}\n\n`)
    await reader.until((text) => text.includes(`data: event ${number}\n\n`))
  }
  t.pass('fifty of them')
})

t.test('a WebSocket on which nothing happens for a day is still one', async (t) => {
  const application = await startWebSocketApplication(t)
  const { edge, dialled } = await startConnectedEdge(t, {
    max_session_seconds: 200_000,
    idle_seconds: 200_000,
  })
  await dialled(application.url).until('connected')
  const cookie = edge.session({ lifeSeconds: 200_000 })
  const client = await connect(t, edge, '/socket', { cookie })
  for (let hour = 0; hour < 24; hour++) {
    edge.pass(3600)
    await tick(60) // the sweep of deadlines looks several times
  }
  client.socket.send('still here')
  t.equal(String(await client.next()), 'still here')
})
