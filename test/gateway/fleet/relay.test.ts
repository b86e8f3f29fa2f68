import t, { type Test } from 'tap'
import { createTenantRegistry } from '../../../gateway/tenants/registry.ts'
import { createPortPair } from '../../support/port-pair.ts'
import { createRelay, type RelayOptions } from '../../../gateway/fleet/relay.ts'
import { followRelay } from '../../../gateway/fleet/relay-follower.ts'
import type { RelayChange, Report } from '../../../gateway/fleet/relay-messages.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { snapshotOf } from '../../support/fleet-source.ts'
import { compileForTest, createTestLog, servedAt, statusOf, until } from '../../support/fleet.ts'

const tenant = (tenantId: string, revision: number, name = 'App'): RelayChange => ({
  type: 'tenant',
  tenantId,
  sync: 0,
  text: JSON.stringify(snapshotOf(tenantId, { revision, name })),
})

function startRelay(t: Test, options: Partial<RelayOptions> = {}) {
  const { log, lines } = createTestLog()
  const failed: string[] = []
  const reports: Report[] = []
  const relay = createRelay({
    log,
    state: () => [],
    onFailed: (tenantId, reason) => void failed.push(`${tenantId}: ${reason}`),
    onReport: (report) => void reports.push(report),
    ...options,
  })
  t.teardown(() => relay.close())
  return { relay, lines, failed, reports, log }
}

function startWorker(
  t: Test,
  { relay, log }: Pick<ReturnType<typeof startRelay>, 'relay' | 'log'>,
) {
  const ports = createPortPair()
  const registry = createTenantRegistry({ clock: systemClock, compile: compileForTest })
  const follower = followRelay({ port: ports.primary, registry, log })
  relay.attach(ports.worker)
  t.teardown(() => {
    follower.close()
    ports.close()
  })
  return { registry, follower, die: () => ports.close() }
}

/** A worker that takes messages and answers only when it is told to. */
function startSilentWorker(relay: ReturnType<typeof createRelay>) {
  const ports = createPortPair()
  const { worker, primary } = ports
  const taken: RelayChange[] = []
  let isKilled = false
  primary.onMessage(({ change }) => void taken.push(change))
  worker.onClose(() => (isKilled = true))
  relay.attach(worker)
  return {
    taken,
    isKilled: () => isKilled,
    answer: (changes: number) => primary.send({ channel: 'tenants', type: 'handled', changes }),
    close: () => ports.close(),
  }
}

t.test('a new worker has the whole state before it is ready', async (t) => {
  const state: RelayChange[] = [
    { type: 'status', status: { isConfigured: true, isDamaged: false } },
    { type: 'settings', settings: { base_url: 'http://localhost:8080' } },
    { type: 'hold', tenantId: 'held' },
    {
      type: 'reserve',
      tenantId: 'lost',
      hostnames: ['lost.example'],
      synced: { sync: 0, revision: 1 },
    },
    ...Array.from({ length: 500 }, (_, at) => tenant(`t${at}`, at + 1)),
    tenant('held', 900),
  ]
  const world = startRelay(t, { state: () => state })
  const worker = startWorker(t, world)
  await worker.follower.ready
  t.equal(statusOf(worker.registry, 't0.example'), 200)
  t.equal(statusOf(worker.registry, 't499.example'), 200)
  t.equal(statusOf(worker.registry, 'held.example'), 503)
  t.equal(statusOf(worker.registry, 'lost.example'), 503)
  t.equal(statusOf(worker.registry, 'other.example'), 404)
  t.equal(worker.follower.settings()?.base_url, 'http://localhost:8080')
  await until(() => world.relay.workersReady() === 1)
})

t.test('a change counts as served when every worker has it', async (t) => {
  const world = startRelay(t)
  const workers = [startWorker(t, world), startWorker(t, world)]
  await Promise.all(workers.map(({ follower }) => follower.ready))
  await world.relay.send(tenant('ada', 1))
  for (const { registry } of workers) t.equal(statusOf(registry, 'ada.example'), 200)
})

t.test('a worker that does not answer is waited for, one that dies is not', async (t) => {
  const world = startRelay(t)
  const silent = startSilentWorker(world.relay)
  await until(() => silent.taken.length === 1)
  silent.answer(1)
  await new Promise((resolve) => setImmediate(resolve))
  let isServed = false
  const served = world.relay.send(tenant('ada', 1)).then(() => (isServed = true))
  await until(() => silent.taken.length === 2)
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(isServed, false)
  silent.close()
  await served
})

t.test('a worker that hangs is ended', async (t) => {
  const world = startRelay(t, { handlingMsMax: 20 })
  const silent = startSilentWorker(world.relay)
  await until(() => silent.taken.length === 1)
  silent.answer(1)
  void world.relay.send(tenant('bob', 1))
  await until(() => silent.isKilled())
  t.ok(world.lines.some(({ msg }) => msg.startsWith('a worker does not take changes')))
  await world.relay.send(tenant('ada', 1))
})

t.test('a worker that takes its time to start is not ended', async (t) => {
  const world = startRelay(t, { handlingMsMax: 10 })
  const silent = startSilentWorker(world.relay)
  await until(() => silent.taken.length === 1)
  await world.relay.send(tenant('ada', 1)) // and is not waited for
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(silent.isKilled(), false)
  silent.close()
})

t.test('a worker that answers in time is left alone, however long it lives', async (t) => {
  const world = startRelay(t, { handlingMsMax: 40 })
  const worker = startWorker(t, world)
  await worker.follower.ready
  const endMs = Date.now() + 150
  for (let revision = 1; Date.now() < endMs; revision += 1) {
    await world.relay.send(tenant('ada', revision))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.equal(world.relay.workersReady(), 1)
})

t.test('changes pass the state that is being handed over', async (t) => {
  const state = Array.from({ length: 1_000 }, (_, at) => tenant(`t${at}`, at + 1))
  const world = startRelay(t, { state: () => state })
  const silent = startSilentWorker(world.relay)
  await until(() => silent.taken.length === LIMITS.fleetWindowMessagesMax)
  const revoked = { all: 5, subjects: {}, sids: {} }
  await world.relay.send({ type: 'revoked', tenantId: 't999', revoked })
  await until(() => silent.taken.some(({ type }) => type === 'revoked'))
  t.equal(silent.taken.length, LIMITS.fleetWindowMessagesMax + 1)
  silent.close()
})

t.test('a change during the handing over is not undone by what follows', async (t) => {
  const kept = new Map(Array.from({ length: 300 }, (_, at) => [`t${at}`, tenant(`t${at}`, at + 1)]))
  const world = startRelay(t, { state: () => kept.values() })
  const worker = startWorker(t, world)
  const newer = tenant('t299', 900, 'New')
  kept.set('t299', newer)
  kept.delete('t298')
  await Promise.all([
    world.relay.send(newer),
    world.relay.send({ type: 'remove', tenantId: 't298' }),
  ])
  await worker.follower.ready
  t.equal(servedAt(worker.registry, 't299.example')?.name, 'New')
  t.equal(worker.registry.byId('t298'), undefined)
})

t.test(
  'a tenant that only a worker cannot compile keeps its last state, and is reported',
  async (t) => {
    const world = startRelay(t)
    const worker = startWorker(t, world)
    await worker.follower.ready
    await world.relay.send({ type: 'status', status: { isConfigured: true, isDamaged: false } })
    await world.relay.send(tenant('ada', 1))
    await world.relay.send(tenant('ada', 2, 'uncompilable'))
    await world.relay.send(tenant('bob', 3, 'uncompilable'))
    t.equal(servedAt(worker.registry, 'ada.example')?.revision, 1)
    t.equal(statusOf(worker.registry, 'bob.example'), 503, 'it exists, so it is not unknown')
    t.same(world.failed, [
      'ada: this snapshot cannot be compiled',
      'bob: this snapshot cannot be compiled',
    ])
  },
)

t.test('reports go together across the border', async (t) => {
  const world = startRelay(t)
  const worker = startWorker(t, world)
  await worker.follower.ready
  for (let count = 0; count < 50; count += 1)
    worker.follower.reportEvent({ tenant_id: 'ada', outcome: 'sealed' })
  worker.follower.reportActivity({ tenant_id: 'ada', sid: 's', subject: 'u', at: 1 })
  worker.follower.close()
  await until(() => world.reports.length === 2)
  t.match(world.reports, [{ type: 'activity' }, { type: 'events' }])
  t.equal(world.reports[1]?.type === 'events' && world.reports[1].events.length, 50)
})
