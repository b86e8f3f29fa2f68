import t from 'tap'
import { insertTenant } from '../../../control-plane/store/queries/tenants.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'

const TENANTS = 1000

void t.test('1,000 tenants are walked page by page, each once, at the same price', async (t) => {
  const { operator, services } = await startApi(t)
  const ids = Array.from({ length: TENANTS }, (_, index) => `t${String(index).padStart(4, '0')}`)
  await services.tenants.create(tenantNamed('model'), ACTOR)
  await services.store.change(async ({ queries }) => {
    const [model] = await queries.select().from(schema.tenants)
    if (model === undefined) throw new Error('no model')
    for (const tenantId of ids.toReversed())
      await insertTenant(queries, { ...model, tenantId, analyzerKeyHash: tenantId })
  })
  await services.tenants.remove('model', ACTOR)

  const seen: unknown[] = []
  const times: number[] = []
  for (let path = '/tenants?limit=50'; path !== '';) {
    const started = performance.now()
    const { next, items } = await operator('GET', path)
    times.push(performance.now() - started)
    seen.push(...items.map(({ tenant_id }) => tenant_id))
    path = next === null ? '' : `/tenants?limit=50&cursor=${next}`
  }
  t.strictSame(seen, ids)
  t.equal(times.length, TENANTS / 50)
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
  t.comment(
    `first half ${median(times.slice(0, 10)).toFixed(2)} ms, second half ${median(times.slice(10)).toFixed(2)} ms a page`,
  )
})

void t.test('a page is read by index, not by looking at every row before it', async (t) => {
  const { services } = await startApi(t)
  const plans = await services.store.read.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT * FROM tenants WHERE tenant_id > 'x' ORDER BY tenant_id LIMIT 51`,
  )
  t.match(plans.map(({ detail }) => detail).join(), /SEARCH tenants USING INDEX/)
  const sessions = await services.store.read.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE tenant_id = 'x' AND (created_at < 5 OR
      (created_at = 5 AND sid < 'y')) ORDER BY created_at DESC, sid DESC LIMIT 51`,
  )
  t.match(
    sessions.map(({ detail }) => detail).join(),
    /SEARCH sessions USING INDEX sessions_tenant/,
  )
})

void t.test('who comes or goes between two pages moves nobody else', async (t) => {
  const { operator, tenant } = await startApi(t)
  for (const id of ['b', 'd', 'f', 'h']) await tenant(id)
  const first = await operator('GET', '/tenants?limit=2')
  await operator('DELETE', '/tenants/d')
  await tenant('a')
  await tenant('e')
  const second = await operator('GET', `/tenants?limit=2&cursor=${first.next}`)
  t.strictSame(
    second.items.map(({ tenant_id }) => tenant_id),
    ['e', 'f'],
  )
})

void t.test('users, sessions and the audit trail page the same way', async (t) => {
  const clock = movableClock()
  const { operator, tenant, services } = await startApi(t, { clock })
  await tenant('acme')
  const walk = async (path: string, key: string) => {
    const seen: unknown[] = []
    for (let cursor = ''; ;) {
      const { next, items } = await operator('GET', `${path}limit=3${cursor}`)
      seen.push(...items.map((item) => item[key]))
      if (next === null) return seen
      cursor = `&cursor=${next}`
    }
  }
  for (const name of ['dora', 'Bob', 'ada', 'carl'])
    await operator('POST', '/tenants/acme/users', {
      username: name,
      email: `${name}@x.test`,
      password: 'long enough',
    })
  t.strictSame(await walk('/tenants/acme/users?', 'username'), ['ada', 'Bob', 'carl', 'dora'])

  for (const sid of ['s1', 's2', 's3', 's4', 's5', 's6', 's7']) {
    await services.sessions.record({
      tenantId: 'acme',
      sid,
      userId: 'usr_x',
      ip: '192.0.2.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 1000,
    })
    if (sid === 's4') clock.advance(5)
  }
  const newestFirst = ['s7', 's6', 's5', 's4', 's3', 's2', 's1']
  t.strictSame(await walk('/tenants/acme/sessions?', 'sid'), newestFirst)
  t.strictSame(await walk('/audit?tenant_id=acme&', 'sequence'), [5, 4, 3, 2, 1])
  t.strictSame(await walk('/audit?tenant_id=other&', 'sequence'), [])
})
