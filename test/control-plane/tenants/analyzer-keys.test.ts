/** The analyzer key: shown again to who may see it, and replaced with time to put the new one in. */
import t from 'tap'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'

void t.test(
  'the key before it counts until its time is over, and not a moment longer',
  async (t) => {
    const clock = movableClock()
    const { call, operator, tenant } = await startApi(t, { clock })
    const { analyzer_key: first } = await tenant('acme')
    const isGood = async (key: unknown) =>
      (await call('GET', '/api/v1/integration', undefined, { key: String(key) })).status === 200
    const rotate = async (body?: unknown) =>
      (await operator('POST', '/tenants/acme/analyzer-key/rotate', body)).body

    const second = await rotate({ overlap_seconds: 600 })
    const until = new Date(clock.nowMs() + 600_000).toISOString()
    t.equal(second['previous_valid_until'], until)
    clock.advance(599_999)
    t.ok(await isGood(first), 'until then')
    t.ok(await isGood(second['analyzer_key']), 'beside the new one')
    clock.advance(1)
    t.notOk(await isGood(first), 'and then no more')
    t.ok(await isGood(second['analyzer_key']))

    const third = await rotate({ overlap_seconds: 600 })
    const fourth = await rotate({ overlap_seconds: 600 })
    t.notOk(await isGood(second['analyzer_key']), 'there are never three')
    t.ok(await isGood(third['analyzer_key']))
    const fifth = await rotate()
    t.equal(fifth['previous_valid_until'], null, 'at once, unless it is said otherwise')
    for (const key of [third, fourth]) t.notOk(await isGood(key['analyzer_key']))
    t.ok(await isGood(fifth['analyzer_key']))
  },
)

void t.test('a secret can be looked at again, and the audit trail says by whom', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  const created = await tenant('acme')
  const key = await operator('POST', '/tenants/acme/analyzer-key/show')
  t.match(key, { status: 200, body: { analyzer_key: created.analyzer_key } })
  t.equal(key.headers.get('cache-control'), 'no-store')
  await operator('POST', '/tenants/acme/client-secret/rotate', { overlap_seconds: 60 })
  const secret = await operator('POST', '/tenants/acme/client-secret/show')
  t.match(secret.body, { client_id: 'acme-user', previous_valid_until: /^20/ })
  t.not(secret.body['client_secret'], created.client_secret, 'the one that is')
  const { items } = await services.auditTrail.list({ limit: 10 }, { tenantId: 'acme' })
  const actions = items.map(({ action, actor }) => `${actor} ${action}`)
  t.match(actions, ['operator client_secret.shown', /rotated/, 'operator analyzer_key.shown'])
  t.notMatch(JSON.stringify(items), String(created.analyzer_key), 'which holds no secret')
  for (const nobody of ['nobody', 'console'])
    for (const name of ['analyzer-key', 'client-secret'])
      t.equal((await operator('POST', `/tenants/${nobody}/${name}/show`)).status, 404)
  const { tenants } = services
  const refused = { code: 'tenant_not_found' }
  await t.rejects(tenants.showAnalyzerKey('console', ACTOR), refused, 'our own realm is no tenant')
  await t.rejects(tenants.showClientSecret('console', ACTOR), refused)
})
