/** A tenant is deleted, and another customer gets its id: nothing of the first is the second's. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'

void t.test('the audit trail of the first stays with operators', async (t) => {
  const { services, person } = await startConsole(t)
  const { tenants, users, auditTrail } = services
  const carol = { username: 'carol', email: 'carol@first.test', name: 'Carol', password: '' }
  await users.create('acme', carol, ACTOR)
  await tenants.remove('acme', ACTOR)
  await tenants.create(tenantNamed('acme'), ACTOR)
  await tenants.patch('acme', { name: 'Second customer' }, ACTOR)

  const administrator = await person('acme')
  const page = await administrator.get('/console/tenants/acme/audit')
  const [text = ''] = /<tbody.*<\/tbody>/s.exec(page.text) ?? []
  t.match(text, 'Second customer')
  t.equal(text.match(/Created the tenant/g)?.length, 1, 'its own beginning is where it begins')
  for (const former of ['Created a user', 'Deleted the tenant']) t.notMatch(text, former)

  const { items } = await auditTrail.list({ limit: 100, cursor: undefined }, { tenantId: 'acme' })
  const actions = items.map(({ action }) => action)
  for (const action of ['user.created', 'tenant.removed'])
    t.ok(actions.includes(action), `operators read ${action} by the id`)
  const operator = await person('operator')
  t.match((await operator.get('/console/audit')).text, /<tbody.*Deleted the tenant/s)
})

void t.test('numbers are not given again, not even the last one', async (t) => {
  const { services } = await startConsole(t)
  const { tenants } = services
  const numbers = []
  for (let round = 0; round < 3; round++) {
    const { tenant } = await tenants.create(tenantNamed('late'), ACTOR)
    numbers.push(tenant.number)
    await tenants.remove('late', ACTOR)
  }
  t.equal(new Set(numbers).size, 3)
})

void t.test('of a deleted tenant no row is left but its audit trail', async (t) => {
  const { services } = await startConsole(t)
  const { store, tenants } = services
  await store.change(({ queries }) =>
    queries
      .insert(schema.analyses)
      .values({ analysisId: 'a1', tenantId: 'acme', startedAt: 1, outcome: 'guide', tokens: 7 })
      .then(() => undefined),
  )
  await tenants.remove('acme', ACTOR)
  const left = []
  for (const [name, table] of Object.entries(schema)) {
    if (!('tenantId' in table)) continue
    const rows = (await store.read.select().from(table)) as { tenantId: string | null }[]
    if (rows.some(({ tenantId }) => tenantId === 'acme')) left.push(name)
  }
  t.same(left.sort(), ['audit', 'tenantTombstones'])
  const [spent] = await store.read.select().from(schema.analyses)
  t.match(spent, { tokens: 7 }, 'what it has cost the service counts on')
})

void t.test('a trail that was written before numbers is told apart as well', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const before = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name.startsWith('0011')),
  )
  const database = new Database(file)
  database.exec('CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)')
  for (const { name, statements } of before) {
    for (const statement of statements) database.exec(statement)
    database.prepare('INSERT INTO migrations VALUES (?, 0)').run(name)
  }
  const columns = database.pragma('table_info(tenants)') as { name: string; type: string }[]
  const names = columns.map(({ name }) => name)
  const insert = database.prepare(
    `INSERT INTO tenants (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`,
  )
  for (const tenantId of ['acme', 'old'])
    insert.run({
      ...Object.fromEntries(columns.map(({ name, type }) => [name, type === 'TEXT' ? '' : 0])),
      tenant_id: tenantId,
      analyzer_key_hash: tenantId,
    })
  const trail = [
    [1, 'tenant.created', 'acme'],
    [2, 'user.created', 'acme'],
    [3, 'tenant.removed', 'acme'],
    [4, 'tenant.created', 'acme'],
    [5, 'user.created', 'acme'],
    [6, 'user.created', 'old'], // created so long ago that its beginning has been pruned
    [7, 'tenant.removed', 'gone'],
  ] as const
  for (const [sequence, action, tenantId] of trail)
    database
      .prepare(`INSERT INTO audit VALUES (?, 0, 'operator', ?, ?, '{}', 'r')`)
      .run(sequence, action, tenantId)
  database.close()

  await openSqlite(file).close()
  const migrated = new Database(file, { readonly: true })
  t.teardown(() => migrated.close())
  const rows = migrated.prepare('SELECT sequence, tenant_number FROM audit ORDER BY 1').raw().all()
  t.same(rows, [
    [1, null],
    [2, null],
    [3, null],
    [4, 1],
    [5, 1],
    [6, 2],
    [7, null],
  ])
  const next = migrated.prepare(`SELECT value FROM counters WHERE name = 'tenant'`).pluck().get()
  t.equal(next, 2)
})

void t.test('an address that is given to another person names the account beside it', async (t) => {
  const { services, person } = await startConsole(t)
  const first = await person('operator', 'ada')
  const created = await first.post('/console/tenants/acme/users/new', {
    email: 'one@acme.test',
    username: '',
    name: 'One',
    password: 'a lantern on the long pier',
  })
  t.equal(created.status, 303)
  await services.users.remove('console', first.userId, ACTOR)
  const second = await person('operator', 'ada')
  await second.post('/console/tenants/acme/users/new', {
    email: 'two@acme.test',
    username: '',
    name: 'Two',
    password: 'a lantern on the long pier',
  })
  const page = { limit: 100, cursor: undefined }
  const { items } = await services.auditTrail.list(page, { tenantId: 'acme' })
  const made = items.filter(({ action }) => action === 'user.created')
  t.equal(new Set(made.map(({ actor }) => actor)).size, 1, 'the same address')
  t.same(
    made.map(({ actorId }) => actorId),
    [second.userId, first.userId],
    'and not the same person',
  )
  const { text } = await second.get('/console/tenants/acme/audit')
  for (const { userId } of [first, second]) t.match(text, userId.slice(0, 12))
})
