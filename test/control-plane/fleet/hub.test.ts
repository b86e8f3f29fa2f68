import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { createMemorySource, snapshotOf } from '../../support/fleet-source.ts'
import { servedAt, startControlPlane, startGateway, statusOf, until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

t.test('a change reaches every worker of every gateway and is acknowledged', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateways = ['edge-1', 'edge-2', 'edge-3'].map((id) =>
    startGateway(t, { id, port: control.port, workers: 2 }),
  )
  await until(() => control.hub.gateways().filter((gateway) => gateway.connected).length === 3)

  const revision = control.put('ada', { sealed: ['/secret'] })
  const receipt = await control.hub.settled(revision, 60_000)
  t.same(receipt, { applied: ['edge-1', 'edge-2', 'edge-3'], pending: [] })
  for (const { workers } of gateways)
    for (const { registry } of workers)
      t.same(servedAt(registry, 'ada.example')?.sealed, ['/secret'])

  const [first] = control.hub.gateways()
  t.match(first, { gateway_id: 'edge-1', version: '1.0.0', connected: true, revision, lag: 0 })
  t.match(first, { durable: true, rejections: [] })
})

t.test('what a gateway asks for right behind its welcome is heard', async (t) => {
  const onDoor = () => new Promise<void>(() => {})
  const control = await startControlPlane(t, { onDoor, tenantsToldWholeMax: 0 })
  control.put('ada')
  const raw = await connectRaw(t, control.port)
  await raw.wait('welcome')
  raw.send({ type: 'want', tenant_ids: ['ada'] })
  await raw.wait('tenant')
  t.match(raw.of('tenant'), [{ tenant_id: 'ada' }], 'although its door is still being kept')
})

t.test('a tenant that is removed is unknown everywhere', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  control.put('bob')
  const gateway = startGateway(t, { port: control.port })
  await until(() => statusOf(gateway.registry, 'ada.example') === 200)
  await control.settled(control.remove('ada'))
  t.equal(statusOf(gateway.registry, 'ada.example'), 404)
  t.equal(statusOf(gateway.registry, 'bob.example'), 200)
})

t.test('a gateway that was away gets only what is newer', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const revision = control.put('bob')
  control.put('cleo')
  control.remove('ada')
  const raw = await connectRaw(t, control.port, { epoch: 'epoch-1', revision })
  await raw.wait('synced')
  t.match(raw.received[0], { type: 'welcome', is_full: false, epoch: 'epoch-1', revision: 4 })
  t.match(raw.of('tenant'), [{ tenant_id: 'cleo', revision: 3 }])
  t.match(raw.of('remove'), [{ tenant_id: 'ada', revision: 4 }])
  t.match(raw.of('synced'), [{ epoch: 'epoch-1', revision: 4 }])
})

t.test('a gateway that cannot be brought up to date in steps gets everything', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  control.put('bob')
  for (const [name, hello] of [
    ['new', { epoch: '', revision: 0 }],
    ['of another epoch', { epoch: 'epoch-0', revision: 1 }],
  ] as const) {
    const raw = await connectRaw(t, control.port, hello)
    await raw.wait('synced')
    t.match(raw.received[0], { type: 'welcome', is_full: true }, name)
    t.equal(raw.of('tenant').length, 2, name)
  }
})

t.test('the number of revisions that a gateway may be behind is limited', async (t) => {
  const source = createMemorySource()
  source.put('ada')
  source.replace('epoch-1', LIMITS.fleetBehindRevisionsMax + 1)
  const control = await startControlPlane(t, { source })
  const within = await connectRaw(t, control.port, { epoch: 'epoch-1', revision: 1 })
  await within.wait('synced')
  t.match(within.received[0], { type: 'welcome', is_full: false })
  control.put('bob')
  await until(() => within.of('tenant').length === 1)
  const beyond = await connectRaw(t, control.port, { epoch: 'epoch-1', revision: 1 })
  await beyond.wait('synced')
  t.match(beyond.received[0], { type: 'welcome', is_full: true })
})

t.test('tenants that one transaction changed together all arrive, however many', async (t) => {
  const count = LIMITS.fleetPageItemsMax * 2 + 1
  const source = createMemorySource()
  source.put('first')
  const changes = Array.from({ length: count }, (_, at) => ({
    tenant_id: `t${at}`,
    revision: 2,
    snapshot: snapshotOf(`t${at}`, { revision: 2 }),
  }))
  let isDone = false
  const control = await startControlPlane(t, {
    source: {
      ...source,
      position: async () => ({ epoch: 'epoch-1', revision: isDone ? 2 : 1 }),
      changedSince: async (revision, limit) =>
        (revision < 2 && isDone ? changes : []).slice(0, limit),
      snapshot: async (tenantId) => changes.find((change) => change.tenant_id === tenantId),
    },
  })
  const raw = await connectRaw(t, control.port, { epoch: 'epoch-1', revision: 1 })
  await raw.wait('synced')
  isDone = true
  control.hub.tenantChanged()
  await raw.wait('tenant', count)
  t.equal(new Set(raw.of('tenant').map((message) => message.tenant_id)).size, count)
  const late = await connectRaw(t, control.port, { epoch: 'epoch-1', revision: 1, id: 'late' })
  await late.wait('synced')
  t.equal(late.of('tenant').length, count)
})

t.test('a change that nobody announced is found by looking', async (t) => {
  const control = await startControlPlane(t, { timing: { pollMs: 5 } })
  const gateway = startGateway(t, { port: control.port })
  control.source.put('ada')
  await until(() => statusOf(gateway.registry, 'ada.example') === 200)
})

t.test('a snapshot that is too big is not sent, and is shown as rejected', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const sizeOf = (client_id: string) =>
    Buffer.byteLength(JSON.stringify({ ...snapshotOf('ada', { client_id }), revision: 2 }))
  const room = LIMITS.snapshotBytesMax - sizeOf('')
  const raw = await connectRaw(t, control.port)
  await raw.wait('tenant')
  control.put('ada', { client_id: 'x'.repeat(room) })
  await raw.wait('tenant', 2)
  t.same(raw.of('keep'), [])

  control.put('ada', { client_id: 'x'.repeat(room + 1) })
  await raw.wait('keep')
  t.match(raw.of('keep'), [{ tenant_id: 'ada', revision: 3 }])
  t.match(control.hub.gateways()[0]?.rejections, [
    { tenant_id: 'ada', revision: 3, reason: /1048577 bytes, at most 1048576/ },
  ])
  control.put('ada', { client_id: 'small again' })
  await raw.wait('tenant', 3)
  t.same(control.hub.gateways()[0]?.rejections, [])
})

t.test('a tenant that cannot be read or sent is kept through a full synchronisation', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  control.put('bob')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(2)
  control.source.spoil('ada', 'the client secret cannot be decrypted')
  await control.kill()
  control.source.put('bob')
  await control.start()
  const raw = await connectRaw(t, control.port)
  await raw.wait('synced')
  t.match(raw.of('keep'), [{ tenant_id: 'ada', revision: 3 }])
  await until(() => gateway.link.status().revision === 4)
  t.equal(statusOf(gateway.registry, 'ada.example'), 200)
  t.match(control.hub.gateways().at(0)?.rejections, [{ tenant_id: 'ada', reason: /decrypted/ }])
})

t.test(
  'one bad tenant is rejected alone, with its reason, and keeps its last good snapshot',
  async (t) => {
    const control = await startControlPlane(t)
    control.put('ada')
    control.put('bob')
    const gateway = startGateway(t, { port: control.port, workers: 2 })
    await control.settled(2)
    control.put('ada', { name: 'uncompilable' })
    const secret = 'must not be seen in a reason'
    control.put('cleo', { mode: secret as 'gateway' })
    const revision = control.put('bob', { name: 'Bob again' })
    const receipt = await control.hub.settled(revision, 60_000)

    t.same(receipt.pending, [])
    t.match(control.hub.gateways()[0]?.rejections, [
      { tenant_id: 'ada', revision: 3, reason: 'this snapshot cannot be compiled' },
      { tenant_id: 'cleo', revision: 4, reason: /^mode: expected / },
    ])
    t.notMatch(JSON.stringify([control.hub.gateways(), control.lines, gateway.lines]), secret)
    for (const { registry } of gateway.workers) {
      t.equal(servedAt(registry, 'ada.example')?.revision, 1)
      t.equal(servedAt(registry, 'bob.example')?.name, 'Bob again')
      t.equal(statusOf(registry, 'cleo.example'), 404)
    }
    await control.settled(control.put('ada', { name: 'Ada' }))
    t.equal(servedAt(gateway.registry, 'ada.example')?.name, 'Ada')
    t.match(control.hub.gateways()[0]?.rejections, [{ tenant_id: 'cleo' }])
  },
)

t.test('a gateway whose state differs is sent everything again, by itself', async (t) => {
  const control = await startControlPlane(t, { timing: { compareMs: 20 } })
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)
  // A configured address changed: the same revision, another snapshot.
  const { source } = control
  const all = source.all.bind(source)
  source.all = async function* () {
    for await (const change of all())
      yield { ...change, snapshot: change.snapshot && { ...change.snapshot, name: 'Renamed' } }
  }
  source.fingerprint = 'another'
  await control.kill()
  await control.start()
  await until(() => servedAt(gateway.registry, 'ada.example')?.name === 'Renamed')
  t.ok(control.lines.some(({ msg }) => msg === 'a gateway asks for everything'))
})

t.test('two ends that cannot agree do not synchronise without pause', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const raw = await connectRaw(t, control.port)
  await until(() => raw.of('synced').some(({ state_hash }) => state_hash !== undefined))
  raw.send({ type: 'resync', reason: 'the state hash differs' })
  await raw.wait('welcome', 2)
  await control.hub.settled(control.put('ada'), 100)
  await until(() => raw.of('synced').at(-1)?.revision === 2)
  t.equal(raw.of('synced').filter(({ state_hash }) => state_hash !== undefined).length, 1)
})

t.test('a restored database starts the gateways over', async (t) => {
  const control = await startControlPlane(t, { timing: { pollMs: 5 } })
  control.put('ada')
  control.put('bob')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(2)
  control.source.replace('epoch-1', 0)
  control.source.put('cleo')
  await until(() => statusOf(gateway.registry, 'cleo.example') === 200)
  await until(() => statusOf(gateway.registry, 'ada.example') === 404)
  await until(() => gateway.link.status().revision === 1 + LIMITS.fleetEpochRevisions)
})

t.test('a receipt names the gateways that are not there in time', async (t) => {
  const control = await startControlPlane(t)
  startGateway(t, { id: 'edge-1', port: control.port })
  const lazy = await connectRaw(t, control.port, { id: 'lazy' })
  await lazy.wait('synced')
  await until(() => control.hub.gateways().length === 2)
  const revision = control.put('ada')
  await until(() => control.hub.gateways()[0]?.revision === revision)
  t.same(await control.hub.settled(revision, 10), { applied: ['edge-1'], pending: ['lazy'] })
  const waiting = control.hub.settled(revision, 60_000)
  lazy.socket.terminate()
  t.same(
    await waiting,
    { applied: ['edge-1'], pending: [] },
    'a gateway that left is not waited for',
  )
})

t.test('closing answers everybody who waits', async (t) => {
  const control = await startControlPlane(t)
  const lazy = await connectRaw(t, control.port, { id: 'lazy' })
  await lazy.wait('synced')
  const waiting = control.hub.settled(99, 60_000)
  await control.hub.close()
  t.same((await waiting).applied, [])
})

t.test('a store that cannot be read closes the link, and the gateway tries again', async (t) => {
  const source = createMemorySource()
  source.put('ada')
  const all = source.all.bind(source)
  let failures = 2
  source.all = async function* () {
    if (failures-- > 0) throw new Error('the database is locked')
    yield* all()
  }
  const control = await startControlPlane(t, { source })
  const gateway = startGateway(t, { port: control.port })
  await until(() => statusOf(gateway.registry, 'ada.example') === 200)
  t.ok(control.lines.some(({ msg }) => msg.startsWith('cannot read what the gateway needs')))
})
