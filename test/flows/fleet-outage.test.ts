import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  servedAt,
  startControlPlane,
  startGateway,
  statusOf,
  temporaryFolder,
  until,
} from '../support/fleet.ts'

const NOW = Math.floor(Date.now() / 1000)

t.test(
  'gateways serve on while the control plane is away, and catch up when it is back',
  async (t) => {
    const control = await startControlPlane(t)
    for (let count = 0; count < 20; count += 1) control.put(`t${count}`)
    const gateways = Array.from({ length: 5 }, (_, at) =>
      startGateway(t, { id: `edge-${at}`, port: control.port, workers: 2 }),
    )
    await control.settled(20, 5)

    await control.kill()
    for (const { workers } of gateways)
      for (const { registry } of workers) t.equal(statusOf(registry, 't7.example'), 200)

    // Changed while nobody was listening, and announced to nobody.
    control.source.put('t7', { name: 'Changed' })
    control.source.remove('t8')
    control.source.revoke('t9', { subjects: { eve: NOW + 1 } })
    await control.start()
    await control.settled(22, 5)
    for (const { workers } of gateways)
      for (const { registry } of workers) {
        t.equal(servedAt(registry, 't7.example')?.name, 'Changed')
        t.equal(statusOf(registry, 't8.example'), 404)
        t.equal(registry.byId('t9')?.revoked.subjects.get('eve'), NOW + 1)
      }
  },
)

t.test(
  'a gateway that starts without a control plane serves what it knew, revocations too',
  async (t) => {
    const control = await startControlPlane(t)
    control.put('ada')
    control.put('gone')
    const folder = temporaryFolder(t)
    const before = startGateway(t, { port: control.port, folder })
    await control.settled(2)
    control.revoke('ada', { sids: { s: NOW + 5 } })
    control.remove('gone')
    control.put('ada', { name: 'Newest' })
    await control.settled(4)
    await before.close()
    await control.kill()

    const after = startGateway(t, { port: control.port, folder, workers: 2 })
    await Promise.all(after.workers.map(({ follower }) => follower.ready))
    for (const { registry, follower } of after.workers) {
      t.equal(servedAt(registry, 'ada.example')?.name, 'Newest')
      t.equal(registry.byId('ada')?.revoked.sids.get('s'), NOW + 5)
      t.equal(statusOf(registry, 'gone.example'), 404)
      t.same(follower.settings(), { base_url: 'http://localhost:8080' })
    }

    const { source } = control
    source.reads = 0
    source.put('ada', { name: 'Newer still' })
    await control.start()
    await control.settled(5)
    t.equal(servedAt(after.registry, 'ada.example')?.name, 'Newer still')
    t.equal(after.link.status().revision, 5)
  },
)

t.test('what the disk has lost comes back with the control plane', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada', { protection: 'pass-through' })
  control.put('bob')
  control.revoke('bob', { all: NOW })
  const folder = temporaryFolder(t)
  const before = startGateway(t, { port: control.port, folder })
  await control.settled(2)
  await control.hub.revocationsSettled(60_000)
  control.put('ada', { protection: 'on' })
  await control.settled(3)
  await before.close()
  await control.kill()
  for (const file of ['tenants/ada.current', 'revoked/bob.current', 'revoked/bob.previous'])
    writeFileSync(join(folder, file), 'damaged')

  const after = startGateway(t, { port: control.port, folder })
  await after.workers[0]!.follower.ready
  t.match(servedAt(after.registry, 'ada.example'), { revision: 1, protection: 'on' })
  t.equal(statusOf(after.registry, 'bob.example'), 503)
  await control.start()
  await until(() => servedAt(after.registry, 'ada.example')?.revision === 3)
  await until(() => statusOf(after.registry, 'bob.example') === 200)
  t.equal(after.registry.byId('bob')?.revoked.all, NOW)
  await control.settled(3)
  await after.close()

  await control.kill()
  const healed = startGateway(t, { port: control.port, folder })
  await healed.workers[0]!.follower.ready
  t.same(
    healed.lines.filter(({ level, msg }) => level >= 40 && !msg.startsWith('cannot reach')),
    [],
  )
  t.equal(servedAt(healed.registry, 'ada.example')?.revision, 3)
})

t.test(
  'a revocation that cannot be confirmed is not forgotten: the disk has it at once',
  async (t) => {
    const control = await startControlPlane(t)
    control.put('ada')
    const folder = temporaryFolder(t)
    const before = startGateway(t, { port: control.port, folder })
    await control.settled(1)
    control.revoke('ada', { subjects: { eve: NOW + 1 } })
    await until(() => before.registry.byId('ada')?.revoked.subjects.size === 1)
    await control.kill()
    await before.close()
    const after = startGateway(t, { port: control.port, folder })
    await after.workers[0]!.follower.ready
    t.equal(after.registry.byId('ada')?.revoked.subjects.get('eve'), NOW + 1)
  },
)

t.test(
  'a gateway moves to another control plane’s tenants and keeps none of the old',
  async (t) => {
    const old = await startControlPlane(t)
    old.put('ada', { edge_urls: { 'h.example': 'https://h.example' } })
    for (let count = 0; count < 50; count += 1) old.put(`t${count}`)
    const gateway = startGateway(t, { port: old.port })
    await old.settled(51)
    await old.kill()

    old.source.replace('epoch-2', 0)
    old.source.put('bob', { edge_urls: { 'h.example': 'https://h.example' } })
    await old.start()
    await until(() => servedAt(gateway.registry, 'h.example')?.tenant_id === 'bob')
    await until(() => statusOf(gateway.registry, 't7.example') === 404)
    t.equal(gateway.registry.size(), 1)
  },
)
