/** Gateways say where they are dialled, connectors are told, and gateways are told of connectors. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { startFleetLink } from '../../../gateway/fleet/fleet-link.ts'
import { makeSafe } from '../../../control-plane/recovery/make-safe.ts'
import { eq } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { MINUTE_MS, systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { readDocument, startConnectors } from '../../support/connectors.ts'
import { FLEET_KEY, temporaryFolder } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'

const DOOR = { address: 'edge-1.example:443', certificate: 'Y2VydGlmaWNhdGU' }
const OTHER = { address: 'edge-2.example:443', certificate: 'b3RoZXI' }

type World = Awaited<ReturnType<typeof startConnectors>>

async function listOf(world: Pick<World, 'signed'>, who: Awaited<ReturnType<World['joined']>>) {
  const { body } = await world.signed('state', who)
  return (await readDocument(String(body['document']), who.authority)).list
}

void t.test('the list changes with the gateways, and its number rises then alone', async (t) => {
  const world = await startConnectors(t)
  const { services, joined, clock } = world
  const { gatewayDoors } = services
  const who = await joined()
  const none = await listOf(world, who)
  t.strictSame(none.gateways, [])

  await gatewayDoors.connected('edge-2', OTHER)
  await gatewayDoors.connected('edge-1', DOOR)
  const both = await listOf(world, who)
  const [first, second] = [
    { gateway_id: 'edge-1', ...DOOR },
    { gateway_id: 'edge-2', ...OTHER },
  ]
  t.strictSame(both.gateways, [first, second])
  t.ok(both.sequence > none.sequence)
  await gatewayDoors.connected('edge-1', DOOR)
  t.strictSame(await listOf(world, who), both)

  clock.advance(LIMITS.connectorGatewayKeptMs / 2)
  await gatewayDoors.refresh(['edge-1'])
  clock.advance(LIMITS.connectorGatewayKeptMs / 2)
  const one = await listOf(world, who)
  t.strictSame(one.gateways, [first], 'the other one has been away for an hour')
  t.ok(one.sequence > both.sequence)
  clock.advance(-2 * LIMITS.connectorGatewayKeptMs)
  await gatewayDoors.connected('edge-1', undefined)
  const left = await listOf(world, who)
  t.notOk(left.gateways.some(({ gateway_id }) => gateway_id === 'edge-1'))
  t.ok(left.sequence > one.sequence, 'whatever our clock says')
})

void t.test(
  'a database from a backup has no list that connectors take for an older one',
  async (t) => {
    const world = await startConnectors(t)
    const { services, joined, clock } = world
    const { gatewayDoors, store } = services
    const who = await joined()
    await gatewayDoors.connected('edge-1', DOOR)
    const before = await listOf(world, who)
    const isNumber = eq(schema.facts.name, 'connector_gateways')
    const [row] = await store.read.select().from(schema.facts).where(isNumber)
    clock.advance(MINUTE_MS)
    await gatewayDoors.connected('edge-2', OTHER)
    const newest = await listOf(world, who)
    t.ok(newest.sequence > before.sequence)

    clock.advance(MINUTE_MS)
    await store.change(async ({ queries }) => {
      await queries.update(schema.facts).set(row!).where(isNumber)
      await queries.delete(schema.gatewayDoors).where(eq(schema.gatewayDoors.gatewayId, 'edge-2'))
    })
    await makeSafe(store, clock)
    const restored = await listOf(world, who)
    t.strictSame(restored.gateways, before.gateways)
    t.ok(restored.sequence > newest.sequence, `${restored.sequence} after ${newest.sequence}`)
  },
)

void t.test('a gateway that is removed is named to nobody from then on', async (t) => {
  const world = await startConnectors(t)
  const { services, operator, joined } = world
  const who = await joined()
  await operator('POST', '/gateways', { gateway_id: 'edge-1' })
  await services.gatewayDoors.connected('edge-1', DOOR)
  t.equal((await listOf(world, who)).gateways.length, 1)
  t.equal((await operator('DELETE', '/gateways/edge-1')).status, 204)
  t.strictSame((await listOf(world, who)).gateways, [])
})

void t.test('so many gateways are named, and forgotten after an hour', async (t) => {
  const world = await startConnectors(t)
  const { services, joined, clock } = world
  const { gatewayDoors } = services
  for (let index = 0; index <= LIMITS.connectorDoorsMax; index++)
    await gatewayDoors.connected(`edge-${index}`, DOOR)
  t.equal((await gatewayDoors.all()).length, LIMITS.connectorDoorsMax)
  const list = await listOf(world, await joined())
  t.equal(list.gateways.length, LIMITS.connectorGatewaysMax)
  t.equal(await gatewayDoors.prune(1000), 0)
  clock.advance(LIMITS.connectorGatewayKeptMs + 1)
  t.equal(await gatewayDoors.prune(1000), LIMITS.connectorDoorsMax + 1)
})

void t.test(
  'each connector is told a few gateways: not the same ones, and these for good',
  async (t) => {
    const { services, clock } = await startConnectors(t)
    const { gatewayDoors } = services
    const most = LIMITS.connectorGatewaysMax
    t.ok(most >= 2)
    const name = (index: number) => `edge-${String(index).padStart(2, '0')}`
    for (let index = 0; index < 20; index++) await gatewayDoors.connected(name(index), DOOR)
    const ids = Array.from({ length: 100 }, (_one, at) => `con_${at}`)
    const namesFor = async () => {
      const lists = await Promise.all(ids.map((id) => gatewayDoors.list(id)))
      return lists.map(({ gateways }) => gateways.map(({ gateway_id }) => gateway_id))
    }
    const before = await namesFor()
    t.ok(before.every((names) => new Set(names).size === most))
    const uses = Array.from(
      { length: 20 },
      (_one, at) => before.filter((names) => names.includes(name(at))).length,
    )
    t.ok(Math.min(...uses) > 5 && Math.max(...uses) < 45, `each has its share: ${uses.join()}`)
    await gatewayDoors.connected('edge-new', DOOR)
    for (const [at, names] of (await namesFor()).entries()) {
      const gone = before[at]!.filter((one) => !names.includes(one))
      t.ok(gone.length <= 1, 'one gateway more moves one at most')
      t.equal(names.includes('edge-new'), gone.length === 1)
    }
    clock.advance(LIMITS.connectorGatewayRecentMs)
    for (const gatewayId of ['fresh-1', 'fresh-2']) await gatewayDoors.connected(gatewayId, DOOR)
    for (const names of await namesFor()) {
      t.ok(names.includes('fresh-1') && names.includes('fresh-2'), 'who is there comes first')
      t.equal(names.length, most, 'and others that were lately')
    }
  },
)

void t.test('over the real link: doors go up, connectors and their ends come down', async (t) => {
  const world = await startConnectors(t)
  const { services, joined, signed, operator } = world
  const server = createServer()
  services.fleet.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo

  function gateway(gatewayId: string, connect?: typeof DOOR) {
    const served = new Map<string, readonly string[] | undefined>()
    const link = startFleetLink({
      controlPlaneUrls: [`http://127.0.0.1:${port}`],
      fleetKey: FLEET_KEY,
      gatewayId,
      version: 'test',
      connect,
      directory: temporaryFolder(t),
      validate: ({ tenant_id, connectors }) =>
        void served.set(
          tenant_id,
          connectors?.map(({ connector_id }) => connector_id),
        ),
      clock: systemClock,
      log: pino({ level: 'silent' }),
      random: Math.random,
    })
    t.teardown(() => link.close())
    return served
  }

  const served = gateway('edge-1', DOOR)
  gateway('edge-old') // of a version that says nothing of it
  await world.tenant('plain')
  await operator('POST', '/tenants/plain/publish')
  await until(() => services.gateways().length === 2 && served.has('acme') && served.has('plain'))
  t.strictSame(served.get('acme'), [], 'nobody yet')
  t.equal(served.get('plain'), undefined, 'left out of others')

  const who = await joined()
  await until(() => served.get('acme')?.includes(who.connector_id) === true)
  const { gateways } = await listOf(world, who)
  t.strictSame(gateways, [{ gateway_id: 'edge-1', ...DOOR }])
  world.clock.advance(LIMITS.connectorGatewayKeptMs + 1)
  await services.jobs.run()
  t.strictSame((await listOf(world, who)).gateways, gateways, 'it is connected still')
  const other = await joined()
  await until(() => served.get('acme')?.length === 2)
  await operator('DELETE', `/tenants/acme/connectors/${who.connector_id}`)
  await until(() => served.get('acme')?.length === 1)
  t.strictSame(served.get('acme'), [other.connector_id])
  t.equal((await signed('leave', other)).status, 204)
  await until(() => served.get('acme')?.length === 0)
  t.pass('each within the time that a change takes')
})
