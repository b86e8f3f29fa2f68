import t from 'tap'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

t.test('a tenant goes from draft to served, and its snapshot follows', async (t) => {
  const { tenants, fleetSource, store } = await startServices(t)
  const created = await tenants.create(tenantNamed('acme'), ACTOR)
  t.equal(created.clientId, 'acme-user')
  t.equal((await fleetSource.snapshot('acme'))?.snapshot, null)

  const published = await tenants.publish('acme', ACTOR)
  t.equal(published.status, 'published')
  const change = await fleetSource.snapshot('acme')
  t.match(change?.snapshot, {
    tenant_id: 'acme',
    revision: await store.revision(),
    protection: 'pass-through',
    client_secret: created.clientSecret,
    edge_urls: { 'acme.localhost': 'http://acme.localhost:8000' },
    issuer: 'http://localhost:8080/auth/realms/acme',
  })
  t.equal(change?.snapshot?.keys.length, 1)
  t.equal((await tenants.byAnalyzerKey(created.analyzerKey))?.tenantId, 'acme')
  t.strictSame(tenants.redirectUris(published), ['http://acme.localhost:8000/service/callback'])

  await tenants.remove('acme', ACTOR)
  t.match(await fleetSource.changedSince(0, 10), [{ tenant_id: 'acme', snapshot: null }])
})

t.test('a user signs in by name or address, and not after being disabled', async (t) => {
  const { tenants, users, revocations } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  const ada = await users.create(
    'acme',
    { username: 'Ada', email: 'ada@example.test', name: 'Ada', password: 'correct horse' },
    ACTOR,
  )
  t.match(await users.authenticate('acme', 'ada', 'correct horse'), { kind: 'ok' })
  t.match(await users.authenticate('acme', 'ADA@example.test', 'correct horse'), { kind: 'ok' })
  t.match(await users.authenticate('acme', 'ada', 'wrong'), { reason: 'wrong_password' })
  t.match(await users.authenticate('acme', 'eve', 'wrong'), { reason: 'unknown_user' })
  t.match(await users.authenticate('other', 'ada', 'correct horse'), { reason: 'unknown_user' })
  await users.patch('acme', ada.userId, { isDisabled: true }, ACTOR)
  t.match(await users.authenticate('acme', 'ada', 'correct horse'), { reason: 'disabled' })
  t.ok((await revocations.notBefore('acme', ada.userId)) > 0)
})

t.test('a revocation ends sessions and merges by maximum', async (t) => {
  const clock = movableClock()
  const { tenants, users, sessions, revocations, store } = await startServices(t, { clock })
  await tenants.create(tenantNamed('acme'), ACTOR)
  const person = { email: 'a@b.test', name: 'a', password: 'correct horse' }
  const ada = await users.create('acme', { username: 'ada', ...person }, ACTOR)
  const issue = (sid: string) =>
    sessions.record({
      tenantId: 'acme',
      sid,
      userId: ada.userId,
      ip: '127.0.0.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 3_600_000,
    })
  await issue('one')
  await issue('two')
  const told: unknown[] = []
  store.onCommit(({ revoked }) => told.push(...revoked))
  const { enforced, ...result } = await revocations.revoke('acme', { sid: 'one' }, ACTOR)
  t.strictSame((await enforced).pending, [], 'no gateway is connected')
  t.strictSame(result, { notBefore: Math.floor(clock.nowMs() / 1000) + 1, sessions: 1 })
  t.strictSame(told, [['acme', { all: 0, subjects: {}, sids: { one: result.notBefore } }]])
  await t.rejects(revocations.revoke('acme', { sid: 'none' }, ACTOR), { code: 'session_not_found' })
  await revocations.revoke('acme', { subject: ada.userId }, ACTOR)
  const { items } = await sessions.list('acme', { limit: 10 })
  t.ok(items.every((session) => session.endedAt !== null))
  await t.rejects(issue('three'), { name: 'SessionRevoked' }, 'issued in the revoked second')
  t.equal(await sessions.find('acme', 'three'), undefined)
})
