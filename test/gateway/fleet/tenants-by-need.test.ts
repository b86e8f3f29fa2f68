import t, { type Test } from 'tap'
import { IndexBuckets } from '../../../gateway/last-known-good/index-buckets.ts'
import { openLastKnownGood } from '../../../gateway/last-known-good/last-known-good.ts'
import { canonicalJson, snapshotHash } from '../../../shared/fleet/digest.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { damage, DAMAGES, filesOf, fillDisk, restart } from '../../support/kept-files.ts'
import {
  createTestLog,
  FLEET_KEY,
  servedAt,
  startControlPlane,
  startGateway,
  statusOf,
  temporaryFolder,
  until,
  type TestGatewayOptions,
} from '../../support/fleet.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import { createPortPair } from '../../support/port-pair.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

const NAMES = ['ada', 'bob', 'cleo', 'dora'] as const
const BY_NEED = { tenantsToldWholeMax: 3 }

/** Four tenants, which are more than gateways are told whole. */
async function startFleet(t: Test, options: Partial<TestGatewayOptions> = {}) {
  const control = await startControlPlane(t, BY_NEED)
  for (const name of NAMES) control.put(name)
  const gateway = startGateway(t, { port: control.port, ...options })
  await control.settled(NAMES.length)
  return { control, gateway }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

type Fleet = Awaited<ReturnType<typeof startFleet>>

const kindAt = ({ gateway }: Pick<Fleet, 'gateway'>, name: string) =>
  gateway.registry.byHost(`${name}.example`).kind

const load = ({ gateway }: Pick<Fleet, 'gateway'>, name: string) =>
  gateway.workers[0]!.load(name, '192.0.2.1')

t.test('a gateway knows all tenants by name, and has those that were asked for', async (t) => {
  const fleet = await startFleet(t)
  t.same(
    NAMES.map((name) => kindAt(fleet, name)),
    Array(4).fill('indexed'),
  )
  t.equal(kindAt(fleet, 'nobody'), 'unknown', 'and whom there is not, it knows by itself')
  await load(fleet, 'ada')
  t.equal(servedAt(fleet.gateway.registry, 'ada.example')?.name, 'Application ada')
  t.equal(kindAt(fleet, 'bob'), 'indexed')
})

t.test('what is served follows each change, and of the others only hosts are told', async (t) => {
  const fleet = await startFleet(t)
  await load(fleet, 'ada')
  const { control, gateway } = fleet
  await control.settled(control.put('ada', { name: 'Renamed' }))
  t.equal(servedAt(gateway.registry, 'ada.example')?.name, 'Renamed')
  const elsewhere = { 'bob.elsewhere.example': 'https://bob.elsewhere.example' }
  await control.settled(control.put('bob', { edge_urls: elsewhere }))
  t.equal(kindAt(fleet, 'bob'), 'unknown')
  t.equal(gateway.registry.byHost('bob.elsewhere.example').kind, 'indexed')
  await control.settled(control.remove('cleo'))
  t.equal(kindAt(fleet, 'cleo'), 'unknown')
  t.notOk(
    gateway.lines.some(({ msg }) => String(msg).includes('differs')),
    'both ends agree',
  )
})

t.test(
  'on the wire: entries for all, one snapshot for who asks, no more when it is let go',
  async (t) => {
    const control = await startControlPlane(t, BY_NEED)
    for (const name of NAMES) control.put(name)
    control.put('dials', { mode: 'connector', connectors: [] })
    const raw = await connectRaw(t, control.port)
    await until(() => raw.of('synced').some(({ revision }) => revision === 5))
    t.match(raw.of('welcome'), [{ is_full: true, by_need: true }])
    t.same(
      raw.of('index').flatMap(({ tenants }) => tenants.map(([id]) => id)),
      NAMES,
    )
    t.same(
      raw.of('tenant').map(({ tenant_id }) => tenant_id),
      ['dials'],
      'its connectors come by themselves',
    )
    raw.send({ type: 'want', tenant_ids: ['ada', 'nobody'] })
    await raw.wait('tenant', 2)
    t.match(raw.of('tenant').at(-1), { tenant_id: 'ada', revision: 1 })
    control.put('ada')
    await raw.wait('tenant', 3)
    raw.send({ type: 'unwant', tenant_ids: ['ada'] })
    raw.send({ type: 'want', tenant_ids: ['bob'], has: true })
    raw.send({ type: 'want', tenant_ids: ['cleo'] })
    await raw.wait('tenant', 4)
    t.match(raw.of('tenant').at(-1), { tenant_id: 'cleo' }, 'not bob, whom it has')
    control.put('ada')
    control.put('bob')
    await raw.wait('tenant', 5)
    t.match(raw.of('tenant').at(-1), { tenant_id: 'bob', revision: 8 })
    t.match(raw.of('index').at(-1)?.tenants, [['ada', 7]])
  },
)

t.test('very many certificates are as much as very many tenants', async (t) => {
  const authority = createTestAuthority(t)
  const certificates = ['a.test', 'b.test'].map((hostname) => authority.issue(hostname))
  for (const [certificatesToldWholeMax, isByNeed] of [
    [2, false],
    [1, true],
  ] as const) {
    const control = await startControlPlane(t, { certificatesToldWholeMax })
    control.put('ada', { certificates })
    const raw = await connectRaw(t, control.port)
    await raw.wait('synced')
    t.equal(raw.of('welcome')[0]?.by_need ?? false, isByNeed)
    t.equal(raw.of('tenant').length, isByNeed ? 0 : 1)
  }
})

t.test('one of an older version is sent all of them, as ever', async (t) => {
  const control = await startControlPlane(t, BY_NEED)
  for (const name of NAMES) control.put(name)
  const raw = await connectRaw(t, control.port, { by_need: false })
  await until(() => raw.of('synced').some(({ revision }) => revision === 4))
  t.same(
    raw.of('tenant').map(({ tenant_id }) => tenant_id),
    NAMES,
  )
  t.same(raw.of('index'), [])
  t.notOk(raw.of('synced').some(({ state_hash }) => state_hash !== undefined))
})

t.test('who asks for one that has gone, or with nobody to ask, knows at once', async (t) => {
  const fleet = await startFleet(t)
  const { control, gateway } = fleet
  await control.kill()
  await until(() => !gateway.link.status().isConnected)
  await load(fleet, 'ada')
  t.equal(kindAt(fleet, 'ada'), 'indexed')
  await control.start()
  await until(() => gateway.link.status().isConnected)
})

t.test(
  'what one worker has asked for, the others know by name and have when they ask',
  async (t) => {
    const folder = temporaryFolder(t)
    const { control, gateway } = await startFleet(t, { folder, workers: 2 })
    const [first, second] = gateway.workers
    const kinds = (worker = first) =>
      NAMES.map((name) => worker!.registry.byHost(`${name}.example`).kind)
    await first!.load('ada', '192.0.2.1')
    t.same(kinds(), ['served', 'indexed', 'indexed', 'indexed'])
    t.same(kinds(second), Array(4).fill('indexed'))
    await control.kill()
    await until(() => !gateway.link.status().isConnected)
    await second!.load('ada', '192.0.2.1')
    t.same(kinds(second), ['served', 'indexed', 'indexed', 'indexed'], 'nobody else is asked')
    const third = gateway.addWorker()
    await third.follower.ready
    t.same(kinds(third), Array(4).fill('indexed'), 'one that comes later has as little')
    await third.load('ada', '192.0.2.1')
    t.equal(servedAt(third.registry, 'ada.example')?.name, 'Application ada')

    await control.start()
    await control.settled(control.put('ada', { name: 'Renamed' }))
    for (const { registry } of gateway.workers)
      t.equal(
        servedAt(registry, 'ada.example')?.name,
        'Renamed',
        'a change comes to all who have it',
      )
  },
)

t.test('many who wait for one ask once', async (t) => {
  const fleet = await startFleet(t)
  await Promise.all(Array.from({ length: 100 }, () => load(fleet, 'ada')))
  t.equal(statusOf(fleet.gateway.registry, 'ada.example'), 200)
})

t.test('a snapshot that cannot be served is 503 for its own visitors, and soon', async (t) => {
  const fleet = await startFleet(t)
  const { control, gateway } = fleet
  await control.settled(control.put('ada', { name: 'uncompilable' }))
  await load(fleet, 'ada')
  t.equal(statusOf(gateway.registry, 'ada.example'), 503)
  await load(fleet, 'bob')
  t.equal(statusOf(gateway.registry, 'bob.example'), 200)
})

t.test('a sign-out of a tenant that was let go of ends the session here, too', async (t) => {
  const fleet = await startFleet(t)
  const { gateway } = fleet
  const now = Math.floor(Date.now() / 1000)
  gateway.workers[0]!.follower.reportEvent({
    tenant_id: 'ada',
    outcome: 'logout',
    sid: 's1',
    issued_at: now,
  })
  await until(() => gateway.workers[0]!.revocations.length > 0)
  await load(fleet, 'ada')
  t.ok(gateway.registry.byId('ada')?.revoked.sids.has('s1'))
})

t.test('from its disk it has what it served and knows the rest', async (t) => {
  const folder = temporaryFolder(t)
  const fleet = await startFleet(t, { folder })
  const { control } = fleet
  await load(fleet, 'ada')
  control.revoke('bob', { sids: { s1: Math.floor(Date.now() / 1000) } })
  control.put('eve')
  await control.settled(control.remove('cleo'))
  await fleet.gateway.close()
  await control.kill()

  const gateway = startGateway(t, { port: control.port, folder })
  await gateway.workers[0]!.follower.ready
  await load({ gateway }, 'ada')
  t.equal(servedAt(gateway.registry, 'ada.example')?.name, 'Application ada')
  t.equal(kindAt({ gateway }, 'bob'), 'indexed')
  t.equal(kindAt({ gateway }, 'cleo'), 'unknown')
  t.equal(kindAt({ gateway }, 'nobody'), 'unknown')
  await control.start()
  await control.settled(6)
  t.notOk(
    gateway.lines.some(({ is_full }) => is_full === true),
    'nothing is sent again',
  )
  await load({ gateway }, 'bob')
  t.ok(gateway.registry.byId('bob')?.revoked.sids.has('s1'))
})

t.test(
  'a damaged part of the index on the disk makes unknown hosts 503, until it is whole',
  async (t) => {
    for (const how of ['is gone', 'is empty', 'has its last byte flipped']) {
      const folder = temporaryFolder(t)
      const fleet = await startFleet(t, { folder })
      const { control } = fleet
      await fleet.gateway.close()
      await control.kill()
      const [bucket = ''] = filesOf(folder).filter((name) => name.startsWith('index/'))
      damage(folder, bucket, DAMAGES[how]!)
      const gateway = startGateway(t, { port: control.port, folder })
      await gateway.workers[0]!.follower.ready
      t.equal(kindAt({ gateway }, 'nobody'), 'held', how)
      await control.start()
      await until(() => kindAt({ gateway }, 'nobody') === 'unknown')
      t.same(
        NAMES.map((name) => kindAt({ gateway }, name)),
        Array(4).fill('indexed'),
        how,
      )
      await gateway.close()
    }
  },
)

/** Ada had made room and is newer by name; what is kept of bob is the newest. */
async function startHalfKept(t: Test) {
  const folder = temporaryFolder(t)
  const tenants = ['ada', 'bob'].map((tenant_id) => ({ tenant_id, revision: 1 }))
  await fillDisk(folder, { tenants })
  const buckets = new IndexBuckets()
  const entry = { version: 'v', hostnames: ['ada.example'] }
  buckets.set('ada', { ...entry, synced: { sync: 1, revision: 2 } })
  buckets.set('bob', { ...entry, hostnames: ['bob.example'], synced: { sync: 1, revision: 1 } })
  const { log } = createTestLog()
  const disk = openLastKnownGood({ directory: folder, fleetKey: FLEET_KEY, log })
  disk.load()
  for (const bucket of buckets.takeChanged())
    await disk.saveIndex(bucket, () => buckets.record(bucket))
  await disk.close()
  const gateway = await restart(folder)
  t.teardown(gateway.close)
  return gateway
}

t.test('files of one that had made room are not served once the index is newer', async (t) => {
  const { registry, replica, port, sent } = await startHalfKept(t)
  const kindOf = (name: string) => registry.byHost(`${name}.example`).kind
  t.same([kindOf('ada'), kindOf('bob')], ['indexed', 'indexed'])
  replica.want('ada', port)
  replica.want('bob', port)
  await until(() => kindOf('bob') === 'served')
  t.same(sent, [{ type: 'want', tenant_ids: ['ada'] }])
  t.equal(kindOf('ada'), 'indexed')
})

t.test('hosts that came with what another worker has asked for are known', async (t) => {
  const { registry, replica } = await startHalfKept(t)
  replica.want('ada', createPortPair().worker)
  const edge_urls = { 'ada.elsewhere.example': 'https://ada.elsewhere.example' }
  const snapshot = snapshotOf('ada', { revision: 3, edge_urls })
  const hash = snapshotHash(canonicalJson(snapshot))
  replica.receive({ type: 'tenant', tenant_id: 'ada', revision: 3, hash, version: '3.f', snapshot })
  await until(() => registry.byHost('ada.elsewhere.example').kind === 'indexed')
  t.equal(registry.byHost('ada.example').kind, 'unknown')
})

t.test('what changed while it was away is not called served before it is', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, { tenants: [{ tenant_id: 'ada', revision: 1 }] })
  const { replica, registry, sent, close } = await restart(folder)
  t.teardown(close)
  const epoch = 'epoch-1'
  replica.receive({ type: 'welcome', format: 1, epoch, revision: 2, is_full: false, by_need: true })
  t.same(sent, [{ type: 'want', has: true, tenant_ids: ['ada'] }])
  replica.receive({ type: 'index', tenants: [['ada', 2, '2.f', ['ada.example']]] })
  t.same(sent.at(-1), { type: 'want', tenant_ids: ['ada'] }, 'told of it before it was heard')
  replica.receive({ type: 'synced', epoch, revision: 2 })
  await replica.settled()
  await turn()
  t.notOk(sent.some(({ type }) => type === 'applied'))
  const snapshot = snapshotOf('ada', { revision: 2, name: 'Renamed' })
  const hash = snapshotHash(canonicalJson(snapshot))
  replica.receive({ type: 'tenant', tenant_id: 'ada', revision: 2, hash, version: '2.f', snapshot })
  replica.receive({ type: 'synced', epoch, revision: 2 })
  await until(() => sent.some(({ type }) => type === 'applied'))
  t.equal(servedAt(registry, 'ada.example')?.name, 'Renamed')
})

t.test(
  'a database that was replaced counts from one again: nothing kept is taken for its',
  async (t) => {
    const fleet = await startFleet(t)
    const { control, gateway } = fleet
    await load(fleet, 'ada')
    await control.kill()
    control.source.replace('epoch-2', 0)
    for (const name of NAMES) control.source.put(name, { name: `Another ${name}` })
    await control.start()
    await until(() => servedAt(gateway.registry, 'ada.example')?.name === 'Another ada')
    await until(() => gateway.link.status().revision >= 4)
    t.equal(kindAt(fleet, 'bob'), 'indexed')
  },
)

t.test('with few enough tenants all are sent again', async (t) => {
  const fleet = await startFleet(t)
  const { control, gateway } = fleet
  await control.kill()
  control.source.remove('dora')
  await control.start()
  await until(() => kindAt(fleet, 'bob') === 'served')
  t.equal(kindAt(fleet, 'dora'), 'unknown')
  await until(() => gateway.link.status().revision === 5)
})

t.test('very many long hostnames are told of in messages that a gateway takes', async (t) => {
  const label = 'a'.repeat(60)
  const hosts = (id: string) =>
    Array.from({ length: 100 }, (_, at) => `${at}.${id}.${label}.${label}.${label}.example`)
  const names = Array.from({ length: 250 }, (_, at) => `tenant-${at}`)
  const control = await startControlPlane(t, BY_NEED)
  for (const name of names)
    control.put(name, {
      edge_urls: Object.fromEntries(hosts(name).map((host) => [host, `https://${host}`])),
    })
  // as the store gives them: so many in a page, however large they are
  const { index } = control.source
  control.source.index = async function* () {
    yield (await Array.fromAsync(index())).flat()
  }
  const sent: number[] = []
  const raw = await connectRaw(t, control.port)
  raw.socket.on('message', (data: Buffer) => sent.push(data.length))
  await until(() => raw.of('index').flatMap(({ tenants }) => tenants).length === names.length)
  t.same(
    raw.of('index').flatMap(({ tenants }) => tenants.map(([id]) => id)),
    names,
  )
  t.ok(Math.max(...sent) <= LIMITS.fleetMessageBytesMax / 2, `${Math.max(...sent)} bytes`)
  const gateway = startGateway(t, { port: control.port })
  await control.settled(names.length)
  t.equal(gateway.registry.byHost(hosts('tenant-249').at(-1)!).kind, 'indexed')
})
