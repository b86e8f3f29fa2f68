/** Who comes to a gateway as if it were another one, or for a tenant that is not there. */
import { createPrivateKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import t, { type Test } from 'tap'
import { signHop, type HopHello, type UnsignedHop } from '../../../shared/connector/handshake.ts'
import {
  ask,
  dialIn,
  fleetOf,
  newConnectorKeys,
  openFleet,
  TENANT,
  type Door,
} from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { knock, type Stranger } from '../../support/knocking.ts'
import { startOrigin } from '../../support/wire.ts'

const tick = (ms = 5) => new Promise((next) => setTimeout(next, ms))

const newLink = () => randomBytes(16).toString('base64url')
const controlOf = (link: string, gateway_id = 'gateway-1') =>
  ({ kind: 'hop_control', gateway_id, link, version: 1 }) as const
const hopOf = (link: string, hop: number, tenant_id = TENANT) =>
  ({ kind: 'hop', gateway_id: 'gateway-1', link, version: 1, hop, tenant_id }) as const

function answer(
  { socket, hello }: Pick<Stranger, 'socket' | 'hello'>,
  hop: UnsignedHop,
  key: KeyObject,
  change: Partial<HopHello> = {},
): string {
  return `${JSON.stringify({ ...signHop(hello, hop, socket, key), ...change })}\n`
}

/** The second gateway has a connector; a test speaks for the first one. */
async function start(t: Test) {
  const origin = await startOrigin(t)
  const [first, holder] = (await openFleet(t, 2, { gatherMs: 0 })) as [Door, Door]
  const keys = newConnectorKeys()
  for (const door of [first, holder]) door.allow({ con_1: keys })
  first.connectors.holdersAre([[TENANT, [holder.gatewayId]]])
  const dialled = dialIn(t, holder, keys, { origin: origin.url, gatewayId: holder.gatewayId })
  await dialled.until('connected')
  const key = createPrivateKey(first.privateKeyPem)

  async function linked(link = newLink()) {
    const control = await knock(t, holder)
    control.socket.write(answer(control, controlOf(link), key))
    await until(() => control.said.length > 1)
    return { link, control }
  }

  async function hop(link: string, number: number, tenantId?: string) {
    const stranger = await knock(t, holder)
    stranger.socket.write(answer(stranger, hopOf(link, number, tenantId), key))
    return stranger
  }
  const isServed = async () => t.match(await ask(first.upstream), { status: 200, body: 'ok' })
  return { first, holder, key, keys, origin, linked, hop, isServed }
}

t.test('who signs with another key, or as nobody of the fleet', async (t) => {
  const { first, holder, key, isServed, keys } = await start(t)
  const other = generateKeyPairSync('ed25519').privateKey
  const cases: [string, UnsignedHop, KeyObject, string][] = [
    ['another key', controlOf(newLink()), other, 'signature'],
    ['a connector as a gateway', controlOf(newLink()), keys.privateKey, 'signature'],
    ['a gateway that is none', controlOf(newLink(), 'gateway-9'), key, 'unknown'],
    ['the gateway that is asked', controlOf(newLink(), holder.gatewayId), key, 'unknown'],
    ['a name of every object', controlOf(newLink(), 'constructor'), key, 'unknown'],
    ['another key, without a link', hopOf(newLink(), 1), other, 'signature'],
  ]
  const refusals = () => holder.logged.filter(({ msg }) => msg === 'a connector was refused')
  for (const [name, hop, signedBy] of cases) {
    const before = refusals().length
    const stranger = await knock(t, holder)
    stranger.socket.write(answer(stranger, hop, signedBy))
    await stranger.gone
    t.same(JSON.parse(stranger.said[1]!), { say: 'refused', reason: 'unknown' }, name)
    while (refusals().length === before) await tick(1)
  }
  t.same(first.connectors.hopConnections(), { over: 0, served: 0 })
  await isServed()
  holder.connectors.close()
  const logged = refusals().map(({ reason, refused }) => `${reason} ${refused}`)
  t.same(
    logged,
    cases.map(([, , , reason]) => `${reason} 1`),
    'each is logged once',
  )
})

t.test('what was signed for another connection, or for something else', async (t) => {
  const { key, holder, isServed, linked } = await start(t)
  const { link } = await linked()
  const [one, two] = [await knock(t, holder), await knock(t, holder)]
  const line = answer(one, hopOf(link, 1), key)
  two.socket.write(line)
  await two.gone
  t.match(two.said[1], /unknown/, 'replayed')
  const three = await knock(t, holder)
  three.socket.write(answer({ socket: one.socket, hello: three.hello }, hopOf(link, 1), key))
  await three.gone
  t.match(three.said[1], /unknown/, 'relayed')
  const four = await knock(t, holder)
  const elsewhere = { ...four.hello, gateway_id: 'gateway-3' }
  four.socket.write(answer({ socket: four.socket, hello: elsewhere }, hopOf(link, 1), key))
  await four.gone
  t.match(four.said[1], /unknown/, 'for another gateway')
  for (const change of [{ tenant_id: 'globex' }, { link: newLink() }, { hop: 2 }]) {
    const five = await knock(t, holder)
    five.socket.write(answer(five, hopOf(link, 1), key, change))
    await five.gone
    t.match(five.said[1], /unknown/, `with another ${Object.keys(change).join()}`)
  }
  await isServed()
})

t.test('a hop without its link, and one of a number that is taken', async (t) => {
  const { hop, linked, isServed } = await start(t)
  const lost = await hop(newLink(), 1)
  await lost.gone
  t.equal(lost.said.length, 1, 'without a word')
  const { link, control } = await linked()
  const good = await hop(link, 1)
  await until(() => good.said.length > 1)
  t.equal(good.said[1], 'OK')
  const second = await hop(link, 1)
  await second.gone
  t.equal(second.said.length, 1)
  control.socket.destroy()
  await good.gone
  t.pass('and all of them end with their link')
  await isServed()
})

t.test('a tenant that is not here, or none', async (t) => {
  const { hop, linked, isServed } = await start(t)
  const { link } = await linked()
  for (const [at, tenantId] of ['globex', 'constructor'].entries()) {
    const stranger = await hop(link, at + 1, tenantId)
    await stranger.gone
    t.equal(stranger.said[1], 'NO absent', tenantId)
  }
  await isServed()
})

t.test('whoever speaks before it is asked reaches no application', async (t) => {
  const { key, holder, linked, origin, isServed } = await start(t)
  const { link } = await linked()
  const stranger = await knock(t, holder)
  stranger.socket.write(
    `${answer(stranger, hopOf(link, 1), key)}GET /early HTTP/1.1\r\nHost: a\r\n\r\n`,
  )
  await stranger.gone
  t.notMatch(stranger.said, ['', 'OK'])
  await isServed()
  t.notOk(origin.seen.some(({ target }) => target === '/early'))
})

t.test('a gateway that is sent away is not let in any more', async (t) => {
  const { holder, key, linked } = await start(t)
  const { control } = await linked()
  holder.connectors.followGateways(fleetOf([holder]))
  await control.gone
  const stranger = await knock(t, holder)
  stranger.socket.write(answer(stranger, controlOf(newLink()), key))
  await stranger.gone
  t.match(stranger.said[1], /unknown/)
})

t.test('one that answers in another gateway’s place is not asked', async (t) => {
  const { first, holder } = await start(t)
  const [one, two] = fleetOf([first, holder]) as [FleetGateway, FleetGateway]
  // The right certificate, and another name: a proxy that has mixed them up.
  first.connectors.followGateways([one, { ...two, gateway_id: 'gateway-3' }])
  first.connectors.holdersAre([[TENANT, ['gateway-3']]])
  t.match(await ask(first.upstream), { status: 503, failure: 'connector_absent' })
  const other = await openFleet(t, 1)
  first.connectors.followGateways([one, { ...two, certificate: other[0]!.certificate }])
  first.connectors.holdersAre([[TENANT, ['gateway-2']]])
  t.match(await ask(first.upstream), { failure: 'connector_absent' }, 'another certificate')
  t.equal(holder.connectors.counts().hopsServed, 0)
})

type FleetGateway = ReturnType<typeof fleetOf>[number]
