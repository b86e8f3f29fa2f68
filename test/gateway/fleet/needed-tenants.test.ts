import t from 'tap'
import { createNeededTenants } from '../../../gateway/fleet/needed-tenants.ts'
import { ReplicatedTenants } from '../../../gateway/fleet/replicated-tenants.ts'
import type { UpMessage } from '../../../shared/fleet/snapshot.ts'
import { movableClock } from '../../support/control-plane.ts'
import { createPortPair } from '../../support/port-pair.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Of a gateway that has three, each of ten bytes; some of them behind connectors. */
function startRoom(keptBytesMax: number, pushed: readonly string[] = []) {
  const clock = movableClock()
  const tenants = new ReplicatedTenants()
  for (const name of ['ada', 'bob', 'cleo'])
    tenants.keep(
      name,
      {
        synced: { sync: 1, revision: 1 },
        hash: '',
        version: '1.f',
        hostnames: [],
        isPushed: pushed.includes(name),
        bytes: 10,
        text: '0123456789',
      },
      1,
    )
  const relayed: string[] = []
  const sent: UpMessage[] = []
  const written: string[] = []
  const needed = createNeededTenants({
    clock,
    tenants,
    keptBytesMax,
    relay: async (change) =>
      void relayed.push(`${change.type} ${'tenantId' in change ? change.tenantId : ''}`),
    send: (message) => sent.push(message) > 0,
    onDamaged: () => {},
    disk: {
      saveIndex: async (_bucket, record) =>
        written.push(...record().map(([id]) => `index ${id}`)) > 0,
      unloadTenant: async (tenantId) => written.push(`unload ${tenantId}`) > 0,
    },
  })
  needed.follow(true)
  sent.length = 0
  return { clock, tenants, relayed, sent, written, needed }
}

t.test('beyond the limit those make room that were asked for longest ago', async (t) => {
  const { clock, tenants, relayed, sent, written, needed } = startRoom(15)
  needed.asked(['bob'])
  clock.advance(1000)
  needed.asked(['ada'])
  clock.advance(61_000)
  needed.asked(['bob'])
  needed.makeRoom()
  t.same([...tenants.kept.keys()], ['bob'])
  t.same(relayed, ['unload cleo', 'unload ada'])
  t.same(sent, [{ type: 'unwant', tenant_ids: ['cleo', 'ada'] }])
  await turn()
  t.same(written.slice(-2), ['unload cleo', 'unload ada'], 'behind the index, in which they are')
  t.same([...written.slice(0, -2)].sort(), ['index ada', 'index cleo'])
})

t.test('what came from the disk is in use until all workers have had time to say so', async (t) => {
  const { clock, relayed, needed } = startRoom(15)
  needed.asked(['ada'])
  needed.makeRoom()
  t.same(relayed, [])
  clock.advance(61_000)
  needed.asked(['ada'])
  needed.makeRoom()
  t.same(relayed, ['unload bob', 'unload cleo'])
})

t.test('what is in use stays, even beyond the limit; so does all that fits', async (t) => {
  const inUse = startRoom(5)
  inUse.needed.asked(['ada', 'bob', 'cleo'])
  inUse.needed.makeRoom()
  t.same(inUse.relayed, [])
  const fits = startRoom(30)
  fits.needed.makeRoom()
  t.same(fits.relayed, [])
})

t.test('one that is behind connectors stays: they come without a visitor', async (t) => {
  const { clock, tenants, relayed, sent, needed } = startRoom(5, ['ada', 'cleo'])
  clock.advance(61_000)
  needed.makeRoom()
  t.same([...tenants.kept.keys()], ['ada', 'cleo'])
  t.same(relayed, ['unload bob'])
  t.same(sent, [{ type: 'unwant', tenant_ids: ['bob'] }])
})

t.test('one that is wanted again before its files are gone keeps them', async (t) => {
  const { clock, tenants, written, needed } = startRoom(25)
  clock.advance(61_000)
  needed.makeRoom()
  const [gone = ''] = [...tenants.indexed.keys()]
  const { synced } = tenants.indexed.get(gone)!
  const kept = {
    synced,
    hash: '',
    version: '1.f',
    hostnames: [],
    isPushed: false,
    bytes: 0,
    text: '',
  }
  tenants.keep(gone, kept, 1)
  await turn()
  t.notOk(written.some((line) => line.startsWith('unload')))
})

t.test(
  'where all are sent nothing has to make room, nor while there is nobody to ask',
  async (t) => {
    const { relayed, needed } = startRoom(1)
    needed.follow(false)
    needed.makeRoom()
    needed.follow(true)
    needed.cutOff()
    needed.makeRoom()
    t.same(relayed, [])
  },
)

t.test('one that nobody has answered for is asked for again by whoever wants it', async (t) => {
  const { relayed, sent, needed } = startRoom(30)
  const [first, second] = [createPortPair().worker, createPortPair().worker]
  needed.want('dora', first)
  needed.want('dora', second)
  t.same(sent, Array(2).fill({ type: 'want', tenant_ids: ['dora'] }))
  t.same(needed.wanting('dora'), new Set([first, second]))
  needed.want('ada', first)
  t.equal(sent.length, 2, 'what is here is asked of nobody')
  t.same(relayed, ['tenant ada'])
})
