/** A gateway that gets another key keeps what it has on its disk. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isPlainToElsewhere, ownAddresses } from '../../../gateway/fleet/fleet-address.ts'
import { openLastKnownGood } from '../../../gateway/last-known-good/last-known-good.ts'
import { createSealedFiles } from '../../../gateway/last-known-good/sealed-file.ts'
import { createTestLog, FLEET_KEY, temporaryFolder, until } from '../../support/fleet.ts'
import { fillDisk } from '../../support/kept-files.ts'

const NEW_KEY = 'another fleet key for tests'
const KEPT = {
  tenants: [
    { tenant_id: 'ada', revision: 1 },
    { tenant_id: 'ada', revision: 2 },
    { tenant_id: 'bob', revision: 3 },
  ],
  revoked: { ada: { all: 5, subjects: {}, sids: { s: 9 } } },
}

function start(directory: string, fleetKey: string, previousKey: string | null) {
  const { log, lines } = createTestLog()
  const disk = openLastKnownGood({ directory, fleetKey, previousKey, log })
  return { disk, lines, state: disk.load() }
}

void t.test('with the key before, everything is there, and is sealed anew', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, KEPT)
  const first = start(folder, NEW_KEY, FLEET_KEY)
  t.match(first.state, { isConfigured: true, isDamaged: false, position: { revision: 3 } })
  await until(() => first.lines.some(({ msg }) => /SERVICE_FLEET_KEY_PREVIOUS can go/.test(msg)))
  await first.disk.close()

  const second = start(folder, NEW_KEY, null)
  t.match(second.state, {
    isDamaged: false,
    position: { revision: 3 },
    settings: { base_url: String },
  })
  t.match(second.state.tenants, [
    {
      tenantId: 'ada',
      tenant: { synced: { revision: 2 } },
      revoked: { sids: { s: 9 } },
      problems: [],
    },
    { tenantId: 'bob', tenant: { synced: { revision: 3 } }, problems: [] },
  ])
  await second.disk.close()
  const old = createSealedFiles(FLEET_KEY, null)
  for (const file of globSync('{guard,tenants,revoked}/*', { cwd: folder })) {
    const [kind, owner] = /(\w+)\/(\w+)/.exec(file)!.slice(1) as ['guard' | 'tenants', string]
    const read = old.read(join(folder, file), kind === 'tenants' ? 'tenant' : kind, owner)
    t.equal(read.kind, 'damaged', `${file}: the key before opens nothing any more`)
  }
})

void t.test('what changes meanwhile is not undone by sealing anew', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, KEPT)
  const first = start(folder, NEW_KEY, FLEET_KEY)
  const removed = first.disk.removeTenant('bob')
  t.equal(await removed, true)
  await first.disk.close()
  const second = start(folder, NEW_KEY, FLEET_KEY)
  t.match(
    second.state.tenants.map(({ tenantId }) => tenantId),
    ['ada'],
  )
  await second.disk.close()
})

void t.test('without the key before nothing opens, and the way out is said', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, KEPT)
  const { state, lines, disk } = start(folder, NEW_KEY, null)
  t.match(state, { isDamaged: true, position: null })
  t.ok(lines.some(({ msg }) => /SERVICE_FLEET_KEY_PREVIOUS/.test(msg)))
  await disk.close()
  const again = start(folder, FLEET_KEY, null)
  t.match(again.state, { isDamaged: false }, 'and nothing was touched')
  await again.disk.close()
})

void t.test(
  'plain http to another machine is told apart from plain http to this one',
  async (t) => {
    const [own = ''] = ownAddresses().filter((address) => !/^127\.|:/.test(address))
    for (const [url, isPlain] of [
      ['http://127.0.0.1:8081', false],
      ['http://127.9.9.9:8081', false],
      ['http://[::1]:8081', false],
      ['http://[::ffff:127.0.0.1]:8081', false],
      ['http://localhost:8081', false],
      ['http://0.0.0.0:8081', false],
      ['https://control.example.com', false],
      ['http://control.example.com', true],
      ['http://10.0.0.5:8081', true],
      ['http://[2001:db8::5]:8081', true],
      ['http://localhost.example.com', true],
      ['http://127.0.0.1.example.com', true],
    ] as const)
      t.equal(isPlainToElsewhere(url, ['192.0.2.7']), isPlain, url)
    t.equal(isPlainToElsewhere('http://192.0.2.7:8081', ['192.0.2.7']), false, 'an own address')
    if (own !== '') t.equal(isPlainToElsewhere(`http://${own}:8081`, ownAddresses()), false)
  },
)

void t.test('a key that is replaced while the gateway runs opens all that is there', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, KEPT)
  const first = start(folder, FLEET_KEY, null)
  const turned = first.disk.turnTo(NEW_KEY)
  t.equal(await first.disk.removeTenant('bob'), true, 'what changes meanwhile is not undone')
  await turned
  t.ok(first.lines.some(({ msg }) => /SERVICE_FLEET_KEY_PREVIOUS can go/.test(msg)))
  await first.disk.close()
  const second = start(folder, NEW_KEY, null)
  t.match(second.state, { isConfigured: true, settings: { base_url: String } })
  t.same(
    second.state.tenants.map(({ tenantId, problems }) => [tenantId, problems]),
    [['ada', []]],
  )
  t.match(second.state.tenants[0]?.revoked, { sids: { s: 9 } })
  await second.disk.close()
  t.match(start(folder, FLEET_KEY, null).state.isDamaged, true, 'the key before opens nothing')
})
