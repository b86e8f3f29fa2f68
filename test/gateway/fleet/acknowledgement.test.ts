import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPortPair } from '../../support/port-pair.ts'
import { openLastKnownGood } from '../../../gateway/last-known-good/last-known-good.ts'
import {
  createTestLog,
  FLEET_KEY,
  startControlPlane,
  startGateway,
  statusOf,
  until,
} from '../../support/fleet.ts'

const NOW = Math.floor(Date.now() / 1000)

t.test('nothing is acknowledged before the slowest worker has it', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)
  const slow = createPortPair()
  let isHolding = false
  let held = 0
  slow.primary.onMessage(() => {
    if (isHolding) held += 1
    else slow.primary.send({ channel: 'tenants', type: 'handled', changes: 1 })
  })
  gateway.link.attachWorker(slow.worker)
  t.teardown(() => slow.close())
  await new Promise((resolve) => setImmediate(resolve))

  isHolding = true
  control.revoke('ada', { all: NOW })
  const revision = control.put('ada')
  await until(() => held === 2)
  t.same((await control.hub.revocationsSettled(20)).pending, ['edge-1'])
  t.same((await control.hub.settled(revision, 20)).pending, ['edge-1'])
  t.equal(gateway.registry.byId('ada')?.revoked.all, NOW, 'the quick one has it')

  slow.primary.send({ channel: 'tenants', type: 'handled', changes: 2 })
  t.same((await control.hub.revocationsSettled(60_000)).applied, ['edge-1'])
  t.same((await control.hub.settled(revision, 60_000)).applied, ['edge-1'])
})

t.test('a revocation is acknowledged once a restart would remember it', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)
  control.revoke('ada', { sids: { s: NOW + 300 } })
  const receipt = await control.hub.revocationsSettled(60_000)
  const kept = openLastKnownGood({
    directory: gateway.folder,
    fleetKey: FLEET_KEY,
    log: createTestLog().log,
  })
  const [ada] = kept.load().tenants
  t.match(receipt, { applied: ['edge-1'], notDurable: [] })
  t.match(ada, { tenantId: 'ada', revoked: { sids: { s: NOW + 300 } } })
})

t.test('a gateway whose disk fails refuses what was revoked, and says what it is', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port, timing: { retryMs: 20 } })
  await control.settled(1)
  rmSync(join(gateway.folder, 'revoked'), { recursive: true })
  symlinkSync('revoked', join(gateway.folder, 'revoked'))
  control.revoke('ada', { sids: { s: NOW + 300 } })
  const receipt = await control.hub.revocationsSettled(60_000)
  t.same(receipt, {
    applied: ['edge-1'],
    pending: [],
    notDurable: ['edge-1'],
    unreachable: [],
  })
  t.equal(gateway.registry.byId('ada')?.revoked.sids.get('s'), NOW + 300)

  rmSync(join(gateway.folder, 'revoked'))
  await until(() => gateway.link.status().isDiskHealthy)
  control.revoke('ada', { sids: { t: NOW + 300 } })
  t.same((await control.hub.revocationsSettled(60_000)).notDurable, [])
})

t.test(
  'a sign-out here ends what a clock ahead has issued, in all workers and on disk',
  async (t) => {
    const control = await startControlPlane(t)
    control.put('ada')
    const gateway = startGateway(t, { port: control.port, workers: 2 })
    await control.settled(1)
    const [worker, other] = gateway.workers
    const ended = { tenant_id: 'ada', outcome: 'logout', sid: 's' }
    worker!.follower.reportEvent({ ...ended, issued_at: NOW + 300 })
    await until(() => other!.registry.byId('ada')?.revoked.sids.has('s') === true)
    t.equal(other!.registry.byId('ada')?.revoked.sids.get('s'), NOW + 301)
    await gateway.close()
    const log = createTestLog().log
    const kept = openLastKnownGood({ directory: gateway.folder, fleetKey: FLEET_KEY, log }).load()
    t.match(kept.tenants, [{ tenantId: 'ada', revoked: { sids: { s: NOW + 301 } } }])
  },
)

t.test('a gateway whose disk fails serves on, and says that a restart would lose it', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port, timing: { retryMs: 20 } })
  await control.settled(1)
  rmSync(join(gateway.folder, 'tenants'), { recursive: true })
  symlinkSync('tenants', join(gateway.folder, 'tenants'))
  control.put('bob')
  await control.settled(2)
  t.equal(statusOf(gateway.registry, 'bob.example'), 200)
  t.equal(control.hub.gateways()[0]?.durable, false)
  t.equal(gateway.link.status().isDiskHealthy, false)

  rmSync(join(gateway.folder, 'tenants'))
  await until(() => gateway.link.status().isDiskHealthy)
  control.put('cleo')
  await control.settled(3)
  t.equal(control.hub.gateways()[0]?.durable, true)
})
