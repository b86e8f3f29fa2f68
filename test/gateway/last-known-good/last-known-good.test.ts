import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLastKnownGood } from '../../../gateway/last-known-good/last-known-good.ts'
import { RevokedState } from '../../../shared/enforcement/revoked-state.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { createTestLog, FLEET_KEY, temporaryFolder, until } from '../../support/fleet.ts'
import { fillDisk, filesOf, storedOf } from '../../support/kept-files.ts'

const NOW = Math.floor(Date.now() / 1000)

function open(directory: string, options: { retryMs?: number } = {}) {
  const { log, lines } = createTestLog()
  const disk = openLastKnownGood({ directory, fleetKey: FLEET_KEY, log, ...options })
  return { disk, lines }
}

t.test('only the owner can read the files and the folders', async (t) => {
  const folder = join(temporaryFolder(t), 'gateway', 'edge-1')
  await fillDisk(folder, {
    tenants: [{ tenant_id: 'ada' }],
    revoked: { ada: { all: NOW, subjects: {}, sids: {} } },
  })
  t.same(filesOf(folder), [
    'guard/ada',
    'position',
    'revoked/ada.current',
    'revoked/ada.previous',
    'settings',
    'tenants/ada.current',
  ])
  for (const file of filesOf(folder))
    t.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
  for (const name of ['', 'guard', 'tenants', 'revoked', '..'])
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o700, name)
})

t.test('a folder that was open to others is closed', async (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'tenants'), { mode: 0o755 })
  const { disk } = open(folder)
  disk.load()
  t.equal(statSync(join(folder, 'tenants')).mode & 0o777, 0o700)
  await disk.close()
})

t.test('nothing of a snapshot is readable in its file', async (t) => {
  const folder = temporaryFolder(t)
  const client_secret = 'the client secret of ada'
  await fillDisk(folder, { tenants: [{ tenant_id: 'ada', client_secret }] })
  for (const file of filesOf(folder)) {
    const text = readFileSync(join(folder, file), 'latin1')
    for (const word of [client_secret, 'ada.example', 'protection', FLEET_KEY])
      t.notOk(text.includes(word), `${word} in ${file}`)
  }
})

t.test('two writes of the same content differ, so that equal tenants cannot be told', async (t) => {
  const [one, two] = [temporaryFolder(t), temporaryFolder(t)]
  for (const folder of [one, two]) await fillDisk(folder, { tenants: [{ tenant_id: 'ada' }] })
  const read = (folder: string) => readFileSync(join(folder, 'tenants/ada.current'))
  t.not(read(one).subarray(33).toString('hex'), read(two).subarray(33).toString('hex'))
})

t.test('a change writes the files of one tenant, whatever else is there', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, { tenants: [{ tenant_id: 'ada' }, { tenant_id: 'bob' }] })
  const before = new Map(
    filesOf(folder).map((file) => [file, statSync(join(folder, file)).mtimeMs]),
  )
  const { disk } = open(folder)
  disk.load()
  t.equal(await disk.saveTenant(storedOf(snapshotOf('ada', { revision: 2 }))), true)
  for (const [file, mtime] of before)
    if (!file.includes('ada')) t.equal(statSync(join(folder, file)).mtimeMs, mtime, file)
  t.ok(filesOf(folder).includes('tenants/ada.previous'))
  await disk.close()
})

t.test('a burst for one tenant is written as its newest', async (t) => {
  const folder = temporaryFolder(t)
  const { disk } = open(folder)
  disk.load()
  const saves = Array.from({ length: 200 }, (_, at) =>
    disk.saveTenant(storedOf(snapshotOf('ada', { revision: at + 1 }))),
  )
  t.ok((await Promise.all(saves)).every((isSaved) => isSaved))
  await disk.close()
  const again = open(folder).disk.load()
  t.match(again.tenants, [{ tenantId: 'ada', tenant: { synced: { revision: 200 } } }])
  const previous = readFileSync(join(folder, 'tenants/ada.previous'))
  t.ok(previous.length > 0)
})

t.test('a removed tenant leaves no file', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, {
    tenants: [
      { tenant_id: 'ada', revision: 1 },
      { tenant_id: 'ada', revision: 2 },
    ],
    revoked: { ada: { all: NOW, subjects: {}, sids: {} } },
  })
  const { disk } = open(folder)
  disk.load()
  t.equal(await disk.removeTenant('ada'), true)
  await disk.close()
  t.same(filesOf(folder), ['position', 'settings'])
})

t.test('a tenant that is removed and comes back at once is there', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, { tenants: [{ tenant_id: 'ada', revision: 1 }] })
  const { disk } = open(folder)
  disk.load()
  void disk.removeTenant('ada')
  t.equal(await disk.saveTenant(storedOf(snapshotOf('ada', { revision: 3 }))), true)
  await disk.close()
  t.match(open(folder).disk.load().tenants, [
    { tenant: { synced: { revision: 3 } }, isExact: true },
  ])
})

t.test('a damaged current file does not push out the good generation before it', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, {
    tenants: [
      { tenant_id: 'ada', revision: 1 },
      { tenant_id: 'ada', revision: 2 },
    ],
  })
  writeFileSync(join(folder, 'tenants/ada.current'), 'damaged')
  const { disk } = open(folder)
  disk.load()
  await disk.saveTenant(storedOf(snapshotOf('ada', { revision: 3 })))
  await disk.close()
  rmSync(join(folder, 'tenants/ada.current'))
  t.match(open(folder).disk.load().tenants, [{ tenant: { synced: { revision: 1 } } }])
})

t.test(
  'revocations of a tenant whose guard does not know of any are announced there first',
  async (t) => {
    const folder = temporaryFolder(t)
    await fillDisk(folder, { tenants: [{ tenant_id: 'ada' }] })
    const { disk } = open(folder)
    disk.load()
    const revoked = new RevokedState()
    revoked.merge({ all: NOW, subjects: {}, sids: {} }, NOW)
    t.equal(await disk.saveRevoked('ada', revoked), true)
    await disk.close()
    for (const copy of ['current', 'previous']) rmSync(join(folder, `revoked/ada.${copy}`))
    t.match(open(folder).disk.load().tenants, [{ isRevokedLost: true }])
  },
)

t.test(
  'a disk that cannot be written is said once, and written when it can be again',
  async (t) => {
    const folder = temporaryFolder(t)
    const { disk, lines } = open(folder, { retryMs: 10 })
    disk.load()
    // Where the folder was there is a loop: even root cannot write there.
    rmSync(join(folder, 'tenants'), { recursive: true })
    symlinkSync('tenants', join(folder, 'tenants'))
    const saved = await Promise.all(
      ['ada', 'bob', 'cleo'].map((id) => disk.saveTenant(storedOf(snapshotOf(id)))),
    )
    t.same(saved, [false, false, false])
    t.equal(disk.isHealthy(), false)
    t.match(lines, [{ level: 50, code: 'ELOOP', msg: 'cannot write the last known good state' }])
    t.equal(lines.length, 1)

    rmSync(join(folder, 'tenants'))
    mkdirSync(join(folder, 'tenants'))
    await until(() => disk.isHealthy())
    t.ok(lines.some(({ msg }) => msg === 'the last known good state can be written again'))
    await disk.close()
    t.equal(
      open(folder)
        .disk.load()
        .tenants.filter(({ isExact }) => isExact).length,
      3,
    )
  },
)

t.test('folders that somebody removes are made again', async (t) => {
  const folder = temporaryFolder(t)
  const { disk } = open(folder, { retryMs: 10 })
  disk.load()
  rmSync(folder, { recursive: true })
  await disk.saveTenant(storedOf(snapshotOf('ada')))
  await until(() => disk.isHealthy())
  t.ok(filesOf(folder).includes('tenants/ada.current'))
  await disk.close()
})

t.test('the event loop is not held up while hundreds of writes wait', async (t) => {
  const folder = temporaryFolder(t)
  const { disk } = open(folder)
  disk.load()
  for (let count = 0; count < 400; count += 1)
    void disk.saveTenant(storedOf(snapshotOf(`t${count}`)))
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  const revoked = new RevokedState()
  revoked.merge({ all: NOW, subjects: {}, sids: {} }, NOW)
  await disk.saveRevoked('t399', revoked)
  t.ok(filesOf(join(folder, 'tenants')).length < 400, 'a revocation does not wait for them all')
  await disk.close()
})
