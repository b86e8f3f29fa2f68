/** How much gateways have of each other, and for how long. */
import { createPrivateKey } from 'node:crypto'
import { createServer } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { pino } from 'pino'
import t from 'tap'
import { createHopGuests } from '../../../gateway/connectors/hop-guests.ts'
import { HopLink } from '../../../gateway/connectors/hop-link.ts'
import { createHops } from '../../../gateway/connectors/hops.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ask,
  dialIn,
  fleetOf,
  keepSpares,
  newConnectorKeys,
  openDoor,
  openFleet,
  TENANT,
  type Door,
} from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { listening, startOrigin } from '../../support/wire.ts'

const tick = (ms = 5) => new Promise((next) => setTimeout(next, ms))

/** As much of a TLS socket as is used of it. */
const asSocket = (stream: Duplex) => stream as unknown as TLSSocket

t.test('so many connections for one worker of another gateway, and no more', async (t) => {
  const { hopConnectionsMax: most } = LIMITS
  const guests = createHopGuests({
    gatewayId: 'gateway-2',
    nowMs: Date.now,
    // they wait for ever
    wayHere: () => ({
      open: () => undefined,
      isCrowded: () => false,
      hasRoomFor: () => true,
      roomNow: () => () => true,
    }),
  })
  const { certificate, gatewayId } = await openDoor(t, { gatewayId: 'gateway-1' })
  guests.follow([{ gateway_id: gatewayId, address: 'a:1', certificate }])
  const who = { gateway_id: gatewayId, link: 'a'.repeat(22), version: 1, signature: '' }
  const [control] = duplexPair()
  guests.enter(asSocket(control), { kind: 'hop_control', ...who })
  const ends = Array.from({ length: most + 1 }, (_one, at) => {
    const [end] = duplexPair()
    guests.enter(asSocket(end), { kind: 'hop', hop: at + 1, tenant_id: TENANT, ...who })
    return end
  })
  t.equal(guests.connections(), most)
  t.same([ends[most - 1]!.destroyed, ends[most]!.destroyed], [false, true])
  guests.close()
  await tick()
  t.equal(guests.connections(), 0)
})

t.test('and none is asked for that would be one too many', async (t) => {
  const silent = createServer(() => undefined)
  const port = await listening(silent)
  t.teardown(() => silent.close())
  const { certificate, privateKeyPem } = await openDoor(t)
  const to = { gateway_id: 'gateway-2', address: `127.0.0.1:${port}`, certificate }
  const key = createPrivateKey(privateKeyPem)
  const link = new HopLink(to, {
    gatewayId: 'gateway-1',
    key,
    nowMs: Date.now,
    onLeft: () => undefined,
  })
  const answers: string[] = []
  const open = (tenantId: string) =>
    link.open({ tenantId, client: undefined, withinMs: 60_000 }, (answer) => {
      answers.push(answer)
      return undefined
    })
  const most = LIMITS.hopConnectionsMax
  const opened = (tenantId: string) => {
    let count = 0
    while (open(tenantId)) count++
    return count
  }
  t.equal(opened('first'), most / 2, 'no tenant has all')
  t.equal(opened('second'), most / 4)
  t.equal(opened('third'), most / 8)
  t.ok(open('fourth'))
  let tenants = 0
  while (opened(`other-${tenants}`) > 0) tenants++
  t.ok(tenants > 4)
  link.end()
  t.equal(answers.length, most)
  t.same(new Set(answers), new Set(['lost']))
})

t.test('one client has half of what its tenant may have there', async (t) => {
  const silent = createServer(() => undefined)
  const port = await listening(silent)
  t.teardown(() => silent.close())
  const { certificate, privateKeyPem } = await openDoor(t)
  const hops = createHops({
    gatewayId: 'gateway-1',
    key: createPrivateKey(privateKeyPem),
    connectMs: 60_000,
    nowMs: () => 0,
    log: pino({ level: 'silent' }),
    expectedAt: () => [],
  })
  t.teardown(() => hops.close())
  const gatewayId = 'gateway-2'
  hops.follow([{ gateway_id: gatewayId, address: `127.0.0.1:${port}`, certificate }])
  hops.hold(TENANT, [gatewayId])
  const client = '192.0.2.1'
  let held = 0
  for (; hops.hasRoomFor(TENANT, client) && held < LIMITS.hopConnectionsMax; held++) {
    const opening = {
      client,
      isWanted: () => true,
      onOpened: () => ({ served: 0, isPooled: false, client, retire: () => undefined }),
      onFailed: () => undefined,
    }
    hops.open(TENANT, opening, () => undefined)
    await Promise.resolve()
    await new Promise((next) => process.nextTick(next))
  }
  t.equal(held, LIMITS.hopConnectionsMax / 4)
  t.ok(hops.hasRoomFor(TENANT, '192.0.2.2'))
  t.ok(hops.hasRoomFor('another', client))
})

t.test('so many gateways are asked for one request', async (t) => {
  let connections = 0
  const absent = createServer((socket) => {
    connections++
    socket.destroy()
  })
  const address = `127.0.0.1:${await listening(absent)}`
  t.teardown(() => absent.close())
  const [first] = (await openFleet(t, 1)) as [Door]
  const gateways = Array.from({ length: LIMITS.hopTriesMax + 2 }, (_one, at) => ({
    gateway_id: `gateway-${at + 2}`,
    address,
    certificate: first.certificate,
  }))
  first.connectors.followGateways(gateways)
  first.connectors.holdersAre([[TENANT, gateways.map(({ gateway_id }) => gateway_id)]])
  t.match(await ask(first.upstream), { status: 503, failure: 'connector_absent' })
  t.equal(connections, LIMITS.hopTriesMax)
})

t.test('what nobody has needed for a while is given back', async (t) => {
  const origin = await startOrigin(t)
  const doors = (await openFleet(t, 2)) as [Door, Door]
  const [first, holder] = doors
  const keys = newConnectorKeys()
  holder.allow({ con_1: keys })
  await dialIn(t, holder, keys, { origin: origin.url, gatewayId: holder.gatewayId }).until(
    'connected',
  )
  await keepSpares(holder)
  let nowMs = 0
  const hops = createHops({
    gatewayId: 'gateway-1',
    key: createPrivateKey(first.privateKeyPem),
    connectMs: 60_000,
    nowMs: () => nowMs,
    log: pino({ level: 'silent' }),
    expectedAt: () => [],
  })
  t.teardown(() => hops.close())
  hops.follow(fleetOf(doors))
  hops.hold(TENANT, [holder.gatewayId])
  const before = new Set(holder.sockets)
  const opened = await new Promise<TLSSocket>((resolve) =>
    hops.open(
      TENANT,
      {
        isWanted: () => true,
        onOpened(socket) {
          resolve(socket as TLSSocket)
          return { served: 0, isPooled: true, client: undefined, retire: () => undefined }
        },
        onFailed: () => undefined,
      },
      () => undefined,
    ),
  )
  // The connector's further ones come behind it.
  const control = [...holder.sockets].find((socket) => !before.has(socket))!
  nowMs = LIMITS.hopLinkKeptMs + 1
  hops.look()
  t.equal(hops.connections(), 1, 'it is in use')
  opened.destroy()
  await until(() => hops.connections() === 0)
  nowMs = LIMITS.hopLinkKeptMs
  hops.look()
  await tick(50)
  t.notOk(control.destroyed)
  nowMs++
  hops.look()
  await until(() => control.destroyed)
  t.pass('a moment more, and the link has ended')
})
