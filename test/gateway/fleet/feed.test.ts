import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { WebSocketServer, type WebSocket } from 'ws'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'
import { backoffMs } from '../../../gateway/fleet/feed.ts'
import { canonicalJson, snapshotHash } from '../../../shared/fleet/digest.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { DownMessage, UpMessage } from '../../../shared/fleet/snapshot.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { servedAt, startControlPlane, startGateway, statusOf, until } from '../../support/fleet.ts'
import { freePort } from '../../support/ports.ts'

/** A control plane that says exactly what a test wants. */
async function startRawControlPlane(t: Test, again?: number) {
  // not an ephemeral one: between a stop and a start it could be anybody's
  const port = again ?? (await freePort())
  const server = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ server, maxPayload: LIMITS.fleetMessageBytesMax * 2 })
  const connections: WebSocket[] = []
  const heard: UpMessage[] = []
  sockets.on('connection', (socket) => {
    connections.push(socket)
    socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as UpMessage))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = async () => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(stop)
  return {
    port,
    connections,
    heard,
    newest: () => connections.at(-1)!,
    say: (message: DownMessage) => connections.at(-1)!.send(JSON.stringify(message)),
    hellos: () => heard.filter((message) => message.type === 'hello'),
    stop,
  }
}

function tenantMessage(tenantId: string, revision: number, name = 'App') {
  const snapshot = snapshotOf(tenantId, { revision, name })
  const hash = snapshotHash(canonicalJson(snapshot))
  return { type: 'tenant', tenant_id: tenantId, revision, hash, snapshot } as const
}
const WELCOME = {
  type: 'welcome',
  format: 1,
  epoch: 'epoch-1',
  revision: 1,
  is_full: true,
} as const
const SYNCED = { type: 'synced', epoch: 'epoch-1', revision: 1 } as const

/** A gateway that serves ada, revision 1, from a control plane of the test. */
async function startServing(t: Test) {
  const control = await startRawControlPlane(t)
  const gateway = startGateway(t, { port: control.port })
  await until(() => control.hellos().length === 1)
  control.say(WELCOME)
  control.say(tenantMessage('ada', 1))
  control.say(SYNCED)
  await until(() => control.heard.some(({ type }) => type === 'applied'))
  return { control, gateway }
}

t.test('hostile messages neither end the gateway nor change what it serves', async (t) => {
  const { control, gateway } = await startServing(t)
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const hash = 'h'
  for (const text of [
    'null',
    '[]',
    '7',
    '{"type":null}',
    '{"type":"__proto__"}',
    deep,
    '{"type":"tenant"}',
    `{"type":"tenant","tenant_id":"ada","revision":2,"hash":"h","snapshot":${deep}}`,
    `{"type":"tenant","tenant_id":"__proto__","revision":2,"hash":"h","snapshot":{}}`,
    `{"type":"tenant","tenant_id":"ada","revision":2,"hash":"h","snapshot":{"__proto__":{"protection":"pass-through"}}}`,
    `{"type":"tenant","tenant_id":"ada","revision":-1,"hash":"h","snapshot":{}}`,
    `{"type":"tenant","tenant_id":"ada","revision":1e999,"hash":"h","snapshot":{}}`,
    `{"type":"tenant","tenant_id":"../../etc/passwd","revision":2,"hash":"h","snapshot":{}}`,
    '{"type":"remove","tenant_id":"ada"}',
    '{"type":"remove","tenant_id":"ada","revision":0}',
    '{"type":"revoked","tenant_id":"ada","revoked":{"all":"1","subjects":{},"sids":{}},"sequence":1}',
    '{"type":"revoked","tenant_id":"ada","revoked":{"all":1,"subjects":[1],"sids":{}},"sequence":1}',
    '{"type":"revoked","tenant_id":"ada","revoked":{"all":1,"subjects":{"u":-1},"sids":{}},"sequence":1}',
    '{"type":"settings","settings":{"base_url":"not an address"}}',
    '{"type":"events_received","batch":99}',
    '{"type":"refused","reason":"no"}',
    '{"type":"synced","epoch":"epoch-1"}',
  ])
    control.newest().send(text)
  control.say({ ...tenantMessage('ada', 2), hash })
  control.say({ ...tenantMessage('ada', 2), tenant_id: 'bob' })
  control.say({ ...tenantMessage('ada', 2), revision: 3 })
  control.say(tenantMessage('ada', 2, 'uncompilable'))
  const rejected = () => control.heard.filter((message) => message.type === 'rejected')
  await until(() => rejected().some(({ reason }) => reason.includes('cannot be compiled')))
  t.match(servedAt(gateway.registry, 'ada.example'), { revision: 1, protection: 'on' })
  t.ok(rejected().some(({ reason }) => reason === 'the hash does not match'))
  t.ok(rejected().some(({ reason }) => reason === 'tenant_id: another tenant'))
  t.ok(rejected().some(({ reason }) => reason.startsWith('revision')))
  t.equal(({} as Record<string, unknown>)['protection'], undefined)

  t.equal(statusOf(gateway.registry, 'eve.example'), 404)
  control.say(tenantMessage('eve', 1, 'uncompilable'))
  await until(() => statusOf(gateway.registry, 'eve.example') === 503)
  control.say(tenantMessage('eve', 2))
  await until(() => statusOf(gateway.registry, 'eve.example') === 200)

  control.say(tenantMessage('ada', 9, 'Good again'))
  await until(() => servedAt(gateway.registry, 'ada.example')?.name === 'Good again')
})

t.test('a control plane that sends garbage is left and tried again', async (t) => {
  const { control, gateway } = await startServing(t)
  const tooBig = `"${'x'.repeat(LIMITS.fleetMessageBytesMax)}"`
  for (const [count, garbage] of ['{"type":', Buffer.from([0, 1, 2]), tooBig].entries()) {
    control.newest().send(garbage)
    await until(() => control.hellos().length === count + 2)
  }
  t.equal(statusOf(gateway.registry, 'ada.example'), 200)
})

t.test('an older or equal revision is ignored, and counted as dealt with', async (t) => {
  const { control, gateway } = await startServing(t)
  control.say(tenantMessage('ada', 5, 'five'))
  control.say(tenantMessage('ada', 4, 'four'))
  control.say(tenantMessage('ada', 5, 'another five'))
  control.say({ type: 'remove', tenant_id: 'ada', revision: 5 })
  const consumed = () =>
    control.heard
      .filter((message) => message.type === 'consumed')
      .reduce((sum, { messages }) => sum + messages, 0)
  await until(() => consumed() === 5)
  t.equal(servedAt(gateway.registry, 'ada.example')?.name, 'five')
})

t.test('a removed tenant does not come back by an older snapshot', async (t) => {
  const { control, gateway } = await startServing(t)
  control.say({ type: 'remove', tenant_id: 'ada', revision: 7 })
  control.say(tenantMessage('ada', 6))
  control.say(tenantMessage('bob', 8))
  await until(() => statusOf(gateway.registry, 'bob.example') === 200)
  t.equal(statusOf(gateway.registry, 'ada.example'), 404)
})

t.test('a full synchronisation removes what it does not mention, at its end', async (t) => {
  const { control, gateway } = await startServing(t)
  control.say({ ...WELCOME, epoch: 'epoch-2' })
  control.say({ ...tenantMessage('bob', 1) })
  await until(() => statusOf(gateway.registry, 'bob.example') === 200)
  t.equal(statusOf(gateway.registry, 'ada.example'), 200, 'not before its end')
  control.say({ ...SYNCED, epoch: 'epoch-2' })
  await until(() => statusOf(gateway.registry, 'ada.example') === 404)
})

t.test('a full synchronisation of another epoch may count from lower revisions', async (t) => {
  const { control, gateway } = await startServing(t)
  control.say(tenantMessage('ada', 500, 'old'))
  control.say({ ...WELCOME, epoch: 'epoch-2' })
  control.say(tenantMessage('ada', 3, 'restored'))
  control.say({ ...SYNCED, epoch: 'epoch-2', revision: 3 })
  await until(() => servedAt(gateway.registry, 'ada.example')?.name === 'restored')
  await until(() => gateway.link.status().epoch === 'epoch-2')
})

t.test(
  'a full synchronisation that breaks off removes nothing and is asked for again',
  async (t) => {
    const { control, gateway } = await startServing(t)
    control.say({ ...WELCOME, epoch: 'epoch-2' })
    control.say(tenantMessage('bob', 1))
    await until(() => statusOf(gateway.registry, 'bob.example') === 200)
    control.newest().terminate()
    await until(() => control.hellos().length === 2)
    t.equal(statusOf(gateway.registry, 'ada.example'), 200)
    t.match(control.hellos().at(-1), { epoch: '', revision: 0 })
  },
)

t.test('a gateway that comes back says how far it has come', async (t) => {
  const { control } = await startServing(t)
  control.newest().terminate()
  await until(() => control.hellos().length === 2)
  t.match(control.hellos().at(-1), { id: 'edge-1', format: 1, epoch: 'epoch-1', revision: 1 })
})

t.test('a state hash that differs is answered by asking for everything', async (t) => {
  const { control } = await startServing(t)
  control.say({ ...SYNCED, revision: 2, state_hash: 'another' })
  await until(() => control.heard.some(({ type }) => type === 'resync'))
  control.say({ ...SYNCED, revision: 3 })
  control.newest().terminate()
  await until(() => control.hellos().length === 2)
  t.match(control.hellos().at(-1), { epoch: '', revision: 0 })
})

t.test('a control plane that falls silent is left', async (t) => {
  const control = await startRawControlPlane(t)
  startGateway(t, { port: control.port, timing: { heartbeatMs: 10, silenceMsMax: 50 } })
  await until(() => control.connections.length === 1)
  control.newest().pause()
  await until(() => control.connections.length >= 2)
})

t.test('a control plane that is not there is tried with growing, scattered pauses', async (t) => {
  const timing = { backoffMsMin: 100, backoffMsMax: 5_000 }
  const longest = [0, 1, 2, 3, 4, 5, 6, 30].map((failures) => backoffMs(failures, timing, () => 1))
  t.same(longest, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  t.equal(
    backoffMs(6, timing, () => 0),
    50,
  )
  t.equal(
    backoffMs(6, timing, () => 0.5),
    2_525,
  )
})

t.test('a gateway starts without a control plane and finds it when it comes', async (t) => {
  const first = await startControlPlane(t)
  await first.kill()
  first.source.put('ada')
  const gateway = startGateway(t, { port: first.port })
  await until(() => gateway.lines.some(({ msg }) => msg.startsWith('cannot reach')))
  t.same(gateway.registry.byHost('ada.example'), { kind: 'held', reason: 'not_ready' })
  await first.start()
  await until(() => statusOf(gateway.registry, 'ada.example') === 200)
  t.equal(statusOf(gateway.registry, 'unknown.example'), 404)
  t.equal(
    gateway.lines.filter(({ msg }) => msg.startsWith('cannot reach')).length,
    1,
    'said once per problem, not once per try',
  )
})

t.test('a wrong fleet key is named as the cause, without the key', async (t) => {
  const control = await startControlPlane(t)
  const gateway = startGateway(t, { port: control.port, fleetKey: 'a wrong key, not to be logged' })
  await until(() => gateway.lines.some(({ msg }) => msg.includes('SERVICE_FLEET_KEY')))
  t.notMatch(JSON.stringify([gateway.lines, control.lines]), 'not to be logged')
})

t.test(
  'a key is replaced while the link is open, and where it is refused the one before serves',
  async (t) => {
    const key = createLiveKey('the first fleet key')
    const control = await startControlPlane(t, { fleetKey: key })
    const gateway = startGateway(t, { port: control.port, fleetKey: 'the first fleet key' })
    const isHere = () => control.hub.gateways()[0]?.connected === true
    const isRefused = () =>
      gateway.lines.some(({ msg }) => msg.includes('so it came in with the one before'))
    await until(isHere)

    gateway.link.turnTo('the next fleet key', undefined)
    await until(isRefused)
    await until(isHere)
    t.same(key.previousUses(), 0)

    key.replace('the next fleet key', 'the first fleet key')
    gateway.link.turnTo('the next fleet key', undefined)
    await until(() => isHere() && key.previousUses() === 0)
    key.replace('the next fleet key', null)
    const revision = control.put('ada')
    await control.settled(revision)
    t.equal(servedAt(gateway.registry, 'ada.example')?.revision, revision, 'it is not cut off')

    key.replace('a third fleet key', null)
    await until(() => !isHere())
    key.replace('a third fleet key', 'the first fleet key')
    await until(isHere)
    t.notMatch(JSON.stringify([gateway.lines, control.lines]), /the (?:first|next) fleet key/)
  },
)

t.test('a fleet key that no header can carry is refused at the start', async (t) => {
  for (const fleetKey of ['', 'line\nbreak in a fleet key', 'schlüssel of the fleet'])
    t.throws(() => startGateway({ teardown() {} }, { port: 1, fleetKey, folder: t.testdir() }), {
      message: /printable ASCII/,
    })
})

t.test('a gateway goes on to the next control plane where one is gone', async (t) => {
  const both = [await startRawControlPlane(t), await startRawControlPlane(t)] as const
  const [port, other] = both.map((control) => control.port) as [number, number]
  startGateway(t, { port, otherPorts: [other] })
  const at = () => both.findIndex((control) => control.hellos().length > 0)
  await until(() => at() >= 0)
  const [first, second] = at() === 0 ? both : [both[1], both[0]]
  t.equal(second.hellos().length, 0, 'it is at one of them')
  await first.stop()
  await until(() => second.hellos().length > 0)
})

void t.test('settings that somebody waits for are confirmed, known ones as well', async (t) => {
  const control = await startRawControlPlane(t)
  startGateway(t, { port: control.port })
  await until(() => control.hellos().length > 0)
  const settings = { base_url: 'https://control.example', ticket_secret: 'a'.repeat(43) }
  control.say(WELCOME)
  control.say({ type: 'settings', settings })
  control.say({ type: 'settings', settings: { ...settings, gateways: [] }, sequence: 7 })
  control.say({ type: 'settings', settings: { ...settings, gateways: [] }, sequence: 8 })
  const confirmed = () => control.heard.filter(({ type }) => type === 'revoked_applied')
  await until(() => confirmed().length === 2)
  t.match(confirmed(), [
    { sequence: 7, is_durable: true },
    { sequence: 8, is_durable: true },
  ])
})
