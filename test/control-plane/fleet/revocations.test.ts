import { cpSync, existsSync, readFileSync, statSync } from 'node:fs'
import t from 'tap'
import { startControlPlane, startGateway, temporaryFolder, until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

/** Revocations older than any session are forgotten, so the times must be of today. */
const NOW = Math.floor(Date.now() / 1000)

t.test('a revocation reaches every worker of every gateway and is acknowledged', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateways = ['edge-1', 'edge-2'].map((id) =>
    startGateway(t, { id, port: control.port, workers: 2 }),
  )
  await until(() => control.hub.gateways().filter(({ revision }) => revision === 1).length === 2)
  control.revoke('ada', { sids: { 'session-1': NOW + 500 }, subjects: { constructor: NOW + 600 } })
  const receipt = await control.hub.revocationsSettled(60_000)
  const nobody = { pending: [], notDurable: [], unreachable: [] }
  t.same(receipt, { applied: ['edge-1', 'edge-2'], ...nobody })
  for (const { workers } of gateways)
    for (const { registry, revocations } of workers) {
      const revoked = registry.byId('ada')?.revoked
      t.equal(revoked?.sids.get('session-1'), NOW + 500)
      t.equal(revoked?.subjects.get('constructor'), NOW + 600)
      t.match(revocations, [{ tenantId: 'ada', revoked: { sids: { 'session-1': NOW + 500 } } }])
    }
})

t.test('the whole state of revocations comes first at every connect', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  control.revoke('ada', { all: NOW + 100 })
  control.revoke('not-served', { sids: { s: NOW + 5 } })
  for (const revision of [0, 1]) {
    const raw = await connectRaw(t, control.port, { epoch: 'epoch-1', revision })
    await raw.wait('synced')
    const types = raw.received.map(({ type }) => type)
    t.same(types.slice(0, 5), ['welcome', 'settings', 'revoked', 'revoked', 'revoked_synced'])
  }
})

t.test('revocations merge by maximum and are never rolled back', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)
  control.revoke('ada', { all: NOW + 100, sids: { s: NOW + 300 } })
  control.revoke('ada', { all: NOW + 50, sids: { s: NOW + 200 }, subjects: { u: NOW + 110 } })
  await control.hub.revocationsSettled(60_000)
  await control.settled(control.put('ada', { name: 'Again' }))
  const served = gateway.registry.byId('ada')
  t.match(served, { revoked: { all: NOW + 100 }, tenant: { revision: 2 } })
  t.equal(served?.revoked.sids.get('s'), NOW + 300)
  t.equal(served?.revoked.subjects.get('u'), NOW + 110)
})

t.test(
  'a tenant that comes back on the same connection has its revocations before it',
  async (t) => {
    const control = await startControlPlane(t)
    control.put('ada')
    control.revoke('ada', { sids: { s: NOW + 300 } })
    const gateway = startGateway(t, { port: control.port })
    await control.settled(1)
    await control.settled(control.remove('ada'))
    control.revoke('ada', { all: NOW + 200 })
    control.source.put('ada', { edge_urls: { 'ada.example': 'https://ada.example' } })
    control.hub.tenantChanged()
    await control.settled(3)
    const revoked = gateway.registry.byId('ada')?.revoked
    t.equal(revoked?.sids.get('s'), NOW + 300)
    t.equal(revoked?.all, NOW + 200)
  },
)

t.test('a receipt does not count a gateway that has not had the whole state yet', async (t) => {
  const control = await startControlPlane(t)
  for (let count = 0; count < 3; count += 1) control.source.revoke(`t${count}`, { all: NOW + 5 })
  const raw = await connectRaw(t, control.port, { id: 'lazy' })
  await raw.wait('revoked_synced')
  control.revoke('t1', { all: NOW + 6 })
  t.same((await control.hub.revocationsSettled(10)).pending, ['lazy'])
  const [synced] = raw.of('revoked_synced')
  raw.send({ type: 'revoked_applied', sequence: synced!.sequence, is_durable: true })
  t.same((await control.hub.revocationsSettled(10)).pending, ['lazy'])
  raw.send({
    type: 'revoked_applied',
    sequence: raw.of('revoked').at(-1)!.sequence,
    is_durable: true,
  })
  t.same((await control.hub.revocationsSettled(60_000)).applied, ['lazy'])
})

t.test(
  'what the gateways saw arrives, and events survive a control plane that fails',
  async (t) => {
    const events: unknown[] = []
    const sessions: unknown[] = []
    let failures = 1
    const control = await startControlPlane(t, {
      onEvents(gatewayId, batch) {
        if (failures-- > 0) throw new Error('the database is locked')
        events.push(...batch.map((event) => ({ gatewayId, ...event })))
      },
      onActivity: (_gatewayId, batch) => void sessions.push(...batch),
    })
    control.put('ada')
    const gateway = startGateway(t, { port: control.port })
    await control.settled(1)
    const event = { tenant_id: 'ada', outcome: 'terminate', sid: 's', subject: 'u' }
    const { follower } = gateway.workers[0]!
    follower.reportEvent({ tenant_id: 'ada', outcome: 'x'.repeat(51) })
    follower.reportEvent(event)
    follower.reportActivity({ tenant_id: 'ada', sid: 's', subject: 'u', at: 5 })
    follower.reportActivity({ tenant_id: 'ada', sid: 's', subject: 'u', at: 6 })
    await until(() => events.length > 0 && sessions.length > 0)
    t.same(events, [{ gatewayId: 'edge-1', ...event, revision: 1 }], 'of the state that was served')
    t.same(sessions, [{ tenant_id: 'ada', sid: 's', subject: 'u', at: 6 }])
  },
)

t.test(
  'a live revocation that is acknowledged does not vouch for the state before it',
  async (t) => {
    const control = await startControlPlane(t)
    const gate = Promise.withResolvers<void>()
    control.source.revoked = async function* () {
      await gate.promise
      yield { tenant_id: 'ada', revoked: { all: NOW, subjects: {}, sids: {} } }
    }
    const raw = await connectRaw(t, control.port, { id: 'lazy' })
    await raw.wait('welcome')
    control.revoke('bob', { all: NOW })
    await raw.wait('revoked')
    raw.send({
      type: 'revoked_applied',
      sequence: raw.of('revoked')[0]!.sequence,
      is_durable: true,
    })
    t.same((await control.hub.revocationsSettled(20)).pending, ['lazy'])
    gate.resolve()
    await raw.wait('revoked_synced')
    raw.send({
      type: 'revoked_applied',
      sequence: raw.of('revoked_synced')[0]!.sequence,
      is_durable: true,
    })
    t.same((await control.hub.revocationsSettled(60_000)).applied, ['lazy'])
  },
)

t.test('a sign-out during an outage is told by the next process, if this one dies', async (t) => {
  const told: unknown[] = []
  const control = await startControlPlane(t, {
    onEvents: (_id, events) => void told.push(...events),
  })
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)
  await control.kill()
  const event = { tenant_id: 'ada', outcome: 'logout', sid: 'sid-of-ada', subject: 'u' }
  gateway.workers[0]!.follower.reportEvent(event)
  const kept = `${gateway.folder}/endings.1`
  await until(() => existsSync(kept))
  const folder = temporaryFolder(t) // what lies there if it is killed now
  cpSync(gateway.folder, folder, { recursive: true })
  await gateway.close()
  t.equal(statSync(`${folder}/endings.1`).mode & 0o777, 0o600)
  t.notOk(readFileSync(`${folder}/endings.1`, 'latin1').includes('sid-of-ada'), 'sealed')

  await control.start()
  const next = startGateway(t, { port: control.port, folder })
  await until(() => told.length > 0)
  t.match(told, [{ ...event, revision: 1 }])
  await until(() => !existsSync(`${folder}/endings.1`))
  await next.close()
  const last = startGateway(t, { port: control.port, folder })
  last.workers[0]!.follower.reportEvent({ ...event, sid: 'another' })
  await until(() => told.length > 1)
  t.match(told.slice(1), [{ sid: 'another' }], 'told once is enough')
})

t.test('a sign-out in the last moment of a gateway is told before it ends', async (t) => {
  const told: unknown[] = []
  const control = await startControlPlane(t, {
    onEvents: (_id, events) => void told.push(...events),
  })
  control.put('ada')
  const gateway = startGateway(t, { port: control.port, timing: { gatherMs: 3_600_000 } })
  await control.settled(1)
  const event = { tenant_id: 'ada', outcome: 'logout', sid: 's', subject: 'u' }
  gateway.workers[0]!.follower.reportEvent(event)
  await new Promise((resolve) => setImmediate(resolve)) // across the border between processes
  await gateway.close()
  await until(() => told.length > 0)
  t.match(told, [event])
})
