/** With very many tenants, files of those that are kept are read once somebody asks for them. */
import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { IndexBuckets } from '../../../gateway/last-known-good/index-buckets.ts'
import { readKeptState } from '../../../gateway/last-known-good/kept-state.ts'
import { openLastKnownGood } from '../../../gateway/last-known-good/last-known-good.ts'
import { createSealedFiles } from '../../../gateway/last-known-good/sealed-file.ts'
import type { TenantSnapshot } from '../../../shared/fleet/snapshot.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import {
  createTestLog,
  FLEET_KEY,
  servedAt,
  statusOf,
  temporaryFolder,
  until,
} from '../../support/fleet.ts'
import {
  damage,
  DAMAGES,
  fillDisk,
  restart,
  storedOf,
  type KeptState,
} from '../../support/kept-files.ts'

function openDisk(directory: string) {
  const { log } = createTestLog()
  const disk = openLastKnownGood({ directory, fleetKey: FLEET_KEY, log })
  return { disk, state: disk.load() }
}

/** As a gateway leaves it that is told of tenants by name: of Zoe it has no more than that. */
async function fillByNeed(folder: string, kept: KeptState) {
  await fillDisk(folder, kept)
  const buckets = new IndexBuckets()
  const synced = { sync: 1, revision: 1 }
  buckets.set('zoe', { synced, version: '1.f', hostnames: ['zoe.example'] })
  const { disk } = openDisk(folder)
  for (const bucket of buckets.takeChanged())
    await disk.saveIndex(bucket, () => buckets.record(bucket))
  await disk.close()
}

const EPOCH = { epoch: 'epoch-1', format: 1, revision: 2 } as const
const ADA = [
  { tenant_id: 'ada', revision: 1, name: 'First' },
  { tenant_id: 'ada', revision: 2, name: 'Second' },
] as const

async function startByNeed(t: Test, tenants: readonly Partial<TenantSnapshot>[]) {
  const folder = temporaryFolder(t)
  await fillByNeed(folder, { tenants })
  return { folder, start: () => startFrom(t, folder) }
}

async function startFrom(t: Test, folder: string) {
  const gateway = await restart(folder)
  t.teardown(gateway.close)
  return { ...gateway, want: () => gateway.replica.want('ada', gateway.port) }
}

t.test('a start reads no tenant; the first visitor has it read', async (t) => {
  const { folder, start } = await startByNeed(t, ADA)
  const { disk, state } = openDisk(folder)
  t.match(state.tenants, [{ tenantId: 'ada', tenant: null, isExact: true }])
  t.equal(state.position?.revision, 2)
  await disk.close()
  const { registry, replica, sent, want } = await start()
  t.equal(registry.byHost('ada.example').kind, 'indexed')
  replica.receive({ ...EPOCH, type: 'welcome', is_full: false, by_need: true })
  t.same(sent, [{ type: 'want', has: true, tenant_ids: ['ada'] }])
  want()
  await until(() => registry.byHost('ada.example').kind === 'served')
  t.equal(servedAt(registry, 'ada.example')?.name, 'Second')
  t.equal(sent.length, 1, 'and nobody is asked')
})

t.test('of what is as its guard says, two files are opened', async (t) => {
  const folder = temporaryFolder(t)
  await fillByNeed(folder, { tenants: ADA, revoked: { ada: { all: 5, subjects: {}, sids: {} } } })
  const opened: string[] = []
  const files = createSealedFiles(FLEET_KEY, null)
  const { state } = readKeptState(
    folder,
    {
      ...files,
      read(path, kind, name) {
        opened.push(relative(folder, path))
        return files.read(path, kind, name)
      },
    },
    createTestLog().log,
  )
  opened.length = 0
  t.match(state.readTenant('ada'), { tenant: { snapshot: { name: 'Second' } }, problems: [] })
  t.same(opened.toSorted(), ['guard/ada', 'tenants/ada.current'])
})

t.test('what is damaged is found out by its visitor: the one before serves', async (t) => {
  for (const [how, damageIt] of Object.entries(DAMAGES)) {
    const { folder, start } = await startByNeed(t, ADA)
    if (how === 'is gone') continue // that is seen in the folder
    damage(folder, 'tenants/ada.current', damageIt)
    const { registry, replica, sent, want } = await start()
    want()
    await until(() => registry.byHost('ada.example').kind === 'served')
    t.equal(servedAt(registry, 'ada.example')?.name, 'First', how)
    t.match(sent, [{ type: 'resync' }])
    t.same(replica.hello(), { epoch: '', revision: 0 }, 'the next link asks for everything')
  }
})

t.test('protection stays on whatever is left of it', async (t) => {
  const { folder, start } = await startByNeed(t, [
    { tenant_id: 'ada', revision: 1, protection: 'pass-through' },
    { tenant_id: 'ada', revision: 2, protection: 'on' },
  ])
  damage(folder, 'tenants/ada.current', DAMAGES['is cut in half']!)
  const { registry, want } = await start()
  want()
  await until(() => registry.byHost('ada.example').kind === 'served')
  t.equal(servedAt(registry, 'ada.example')?.protection, 'on')
})

t.test('where nothing is left of it, its hosts are 503 until it has come again', async (t) => {
  const { folder, start } = await startByNeed(t, ADA)
  const { registry, replica, sent, want } = await start()
  for (const generation of ['current', 'previous'])
    rmSync(join(folder, 'tenants', `ada.${generation}`))
  want()
  await until(() => registry.byHost('ada.example').kind === 'held')
  t.equal(statusOf(registry, 'ada.example'), 503)
  t.ok(sent.some(({ type }) => type === 'resync'))
  replica.receive({ ...EPOCH, type: 'welcome', is_full: true, by_need: true })
  replica.receive({ type: 'index', tenants: [['ada', 2, '2.f', ['ada.example']]] })
  await until(() => registry.byHost('ada.example').kind === 'indexed')
})

t.test('what may be newer than all that was written is read at the start', async (t) => {
  const { folder, start } = await startByNeed(t, ADA)
  const { disk } = openDisk(folder)
  await disk.saveTenant(storedOf(snapshotOf('ada', { revision: 3, name: 'Third' })))
  await disk.close()
  damage(folder, 'tenants/ada.current', DAMAGES['is empty']!)
  const { replica } = await start()
  t.same(replica.hello(), { epoch: '', revision: 0 })
})

t.test('a change does not put what is damaged in the place of what is good', async (t) => {
  const { folder } = await startByNeed(t, ADA)
  damage(folder, 'tenants/ada.current', DAMAGES['is empty']!)
  const { disk } = openDisk(folder)
  await disk.saveTenant(storedOf(snapshotOf('ada', { revision: 3, name: 'Third' })))
  await disk.close()
  damage(folder, 'tenants/ada.current', DAMAGES['is empty']!)
  const { registry, want } = await startFrom(t, folder)
  want()
  await until(() => registry.byHost('ada.example').kind !== 'indexed')
  t.equal(servedAt(registry, 'ada.example')?.name, 'First')
})

t.test('a guard of before tells of it from the first start on', async (t) => {
  const folder = temporaryFolder(t)
  const revoked = { ada: { all: 0, subjects: { eve: Math.floor(Date.now() / 1000) }, sids: {} } }
  await fillByNeed(folder, { tenants: ADA.map((of) => ({ ...of, mode: 'gateway' })), revoked })
  const before = openDisk(folder)
  await before.disk.saveTenant({
    ...storedOf(snapshotOf('ada', { revision: 2, name: 'Second' })),
    atStart: null,
  })
  await before.disk.close()
  const first = openDisk(folder)
  t.match(first.state.tenants, [{ tenant: { snapshot: { name: 'Second' } } }])
  await first.disk.close()
  const second = openDisk(folder)
  t.match(second.state.tenants, [{ tenant: null, unread: { hostnames: ['ada.example'] } }])
  t.equal(second.state.tenants[0]?.guard?.has_revoked, true)
  await second.disk.close()
  const { registry, want } = await startFrom(t, folder)
  want()
  await until(() => registry.byHost('ada.example').kind === 'served')
  t.ok(registry.byId('ada')?.revoked.subjects.has('eve'))
})
