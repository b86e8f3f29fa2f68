/** Very many devices of one tenant: nobody else waits for whoever looks through them. */
import t from 'tap'
import {
  devicesListed,
  type DeviceFilter,
} from '../../../control-plane/store/queries/device-lists.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { insertRows } from '../../../control-plane/store/statements.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startDevices } from '../../support/devices.ts'

const DEVICES = '/tenants/acme/devices'
type World = Awaited<ReturnType<typeof startDevices>>

/** As many more as one that is there; only the oldest of them is looked for. */
async function copiesOf({ services }: World, many: number) {
  await services.store.change(async ({ queries }) => {
    const [row] = await queries.select().from(schema.enrolledDevices)
    const copies = Array.from({ length: many }, (_, at) => ({
      ...row!,
      deviceId: `dev_${String(at).padStart(16, '0')}`,
      hostname: at === 0 ? 'sought' : 'other',
    }))
    await insertRows(queries, schema.enrolledDevices, copies)
  })
}

void t.test('very many on one machine are no more to look at than some', async (t) => {
  const world = await startDevices(t)
  const { operator } = world
  const { deviceId } = await world.machine()
  await copiesOf(world, 3 * LIMITS.devicesOnMachineMax)
  const { items } = await operator('GET', `${DEVICES}?limit=20`)
  const { body } = await operator('GET', `${DEVICES}/${deviceId}`)
  const counts = [...items, body].map((one) => (one['same_machine'] as string[]).length)
  t.ok(Math.max(...counts) <= LIMITS.devicesOnMachineMax)
  t.ok(Math.min(...counts) >= LIMITS.devicesOnMachineMax - 1)
})

void t.test('of very many devices some are looked at, then others have their turn', async (t) => {
  const world = await startDevices(t)
  await world.machine()
  await copiesOf(world, 11_000)
  const { store } = world.services
  async function sought(filter: DeviceFilter) {
    let turns = 0
    const count = () => {
      turns += 1
      turn = setImmediate(count)
    }
    let turn = setImmediate(count)
    const found = await devicesListed(store.read, 'acme', { filter, behind: undefined, limit: 10 })
    clearImmediate(turn)
    return { ids: found.map(({ row }) => row.deviceId), turns }
  }
  const oldest = 'dev_0000000000000000'
  const byText = await sought({ text: 'sought' })
  t.same(byText.ids, [oldest])
  t.ok(byText.turns >= 2)
})
