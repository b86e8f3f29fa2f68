// long: storms of changes to 5,000 tenants
import t from 'tap'
import { servedAt, startControlPlane, startGateway, statusOf, until } from '../support/fleet.ts'

const NOW = Math.floor(Date.now() / 1000)
const TENANTS = 5_000

t.test('a revocation overtakes a full synchronisation of 5,000 tenants', async (t) => {
  const control = await startControlPlane(t)
  for (let count = 0; count < TENANTS; count += 1) control.source.put(`t${count}`)
  control.hub.tenantChanged()
  const gateways = ['edge-1', 'edge-2'].map((id) =>
    startGateway(t, { id, port: control.port, workers: 2 }),
  )
  const workers = gateways.flatMap((gateway) => gateway.workers)
  await until(() => workers.every(({ registry }) => registry.size() > 100))

  const startMs = performance.now()
  control.revoke('t0', { sids: { s: NOW + 1 } })
  await until(() =>
    workers.every(({ registry }) => registry.byId('t0')?.revoked.sids.get('s') === NOW + 1),
  )
  const tookMs = performance.now() - startMs
  const sizes = workers.map(({ registry }) => registry.size())
  t.ok(Math.max(...sizes) < TENANTS, `at ${sizes.join(', ')} tenants`)
  t.comment(`${tookMs.toFixed(0)} ms, with ${sizes.join(', ')} of ${TENANTS} tenants there`)
  t.same((await control.hub.revocationsSettled(60_000)).pending, [])
  t.ok(
    workers.some(({ registry }) => registry.size() < TENANTS),
    'acknowledged meanwhile',
  )
})

t.test('a storm of changes ends with everybody at the newest, and no step back', async (t) => {
  const control = await startControlPlane(t)
  const gateways = ['edge-1', 'edge-2', 'edge-3'].map((id) =>
    startGateway(t, { id, port: control.port, workers: 2 }),
  )
  const workers = gateways.flatMap((gateway) => gateway.workers)
  await until(() => control.hub.gateways().length === 3)
  const seen = new Map<object, number>()
  let newest = 0
  for (let round = 0; round < 400; round += 1) {
    for (let count = 0; count < 5; count += 1)
      newest = control.put(`t${count}`, { name: `${round}` })
    if (round % 7 === 0) newest = control.remove('flicker')
    if (round % 7 === 3) newest = control.put('flicker')
    if (round % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    for (const { registry } of workers) {
      const revision = servedAt(registry, 't0.example')?.revision ?? 0
      if (revision < (seen.get(registry) ?? 0)) t.fail('a step back')
      seen.set(registry, revision)
    }
  }
  await control.settled(newest, 3)
  for (const { registry } of workers)
    for (let count = 0; count < 5; count += 1)
      t.equal(servedAt(registry, `t${count}.example`)?.name, '399')
  t.same(new Set(workers.map(({ registry }) => statusOf(registry, 'flicker.example'))).size, 1)
})

t.test('gateways that come and go in the middle of everything end up right', async (t) => {
  const control = await startControlPlane(t)
  for (let count = 0; count < 300; count += 1) control.put(`t${count}`)
  const gateways = ['edge-1', 'edge-2'].map((id) => startGateway(t, { id, port: control.port }))
  for (let round = 0; round < 6; round += 1) {
    control.put(`t${round}`, { name: `Round ${round}` })
    control.remove(`t${299 - round}`)
    await control.kill()
    control.source.put(`new${round}`)
    await control.start()
    const workers = gateways.map((gateway) => gateway.addWorker())
    await until(() => workers.some(({ registry }) => registry.size() > 10))
  }
  await control.settled(control.put('last'), 2)
  for (const { registry } of gateways.flatMap(({ workers }) => workers)) {
    await until(() => registry.size() === 300 - 6 + 6 + 1)
    for (let round = 0; round < 6; round += 1) {
      t.equal(servedAt(registry, `t${round}.example`)?.name, `Round ${round}`)
      t.equal(statusOf(registry, `t${299 - round}.example`), 404)
      t.equal(statusOf(registry, `new${round}.example`), 200)
    }
  }
})
