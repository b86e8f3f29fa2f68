import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { drizzle } from '../../../control-plane/store/drizzle.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { deleteSurplusOpen } from '../../../control-plane/store/queries/realm-records.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Queries } from '../../../control-plane/store/engine.ts'

function start(t: Test) {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  for (const { statements } of migrations) for (const text of statements) database.exec(text)
  const asked: { text: string; values: unknown[] }[] = []
  const logger = {
    logQuery: (text: string, values: unknown[]) => void asked.push({ text, values }),
  }
  const queries = drizzle(database, { schema, logger }) as unknown as Queries
  return { database, queries, asked }
}

t.test('the open sign-ins of an address, and of a tenant, are counted in an index', async (t) => {
  const { database, queries, asked } = start(t)
  for (const [openedBy, index] of [
    ['10.0.0.3', 'realm_records_open (tenant_id=? AND model=? AND opened_by=?)'],
    [null, 'realm_records_open_all (tenant_id=? AND model=?)'],
  ] as const) {
    await deleteSurplusOpen(queries, { tenantId: 'acme', model: 'Interaction', openedBy }, 10)
    const { text, values } = asked.pop()!
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values)
    const details = (plan as { detail: string }[]).map(({ detail }) => detail)
    t.strictSame(details, [`SEARCH realm_records USING COVERING INDEX ${index}`])
  }
})

t.test('what is too much goes by its key, however many others are open', async (t) => {
  const { database, queries, asked } = start(t)
  const record = { tenantId: 'acme', model: 'Interaction', payloadSealed: '', grantId: null }
  const rest = { uidHash: null, accountId: null, sid: null, consumedAt: null }
  const rows = Array.from({ length: 5 }, (_, at) => {
    return { ...record, ...rest, idHash: `${at}`, openedBy: `10.0.0.${at}`, expiresAt: at }
  })
  await queries.insert(schema.realmRecords).values(rows)
  await deleteSurplusOpen(queries, { ...record, openedBy: null }, 3)
  const { text, values } = asked.pop()!
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values)
  const [{ detail } = { detail: '' }] = plan as { detail: string }[]
  t.match(detail, /sqlite_autoindex_realm_records_1 \(tenant_id=\? AND model=\? AND id_hash=\?\)/)
  const left = await queries.select().from(schema.realmRecords)
  t.same(left.map(({ idHash }) => idHash).sort(), ['2', '3', '4'], 'the newest stay')
})
