/** The newest entries of a person: read along two indexes, whatever there is of older ones. */
import Database from 'better-sqlite3'
import t from 'tap'
import { drizzle } from '../../../control-plane/store/drizzle.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { auditOfPerson } from '../../../control-plane/store/queries/audit.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Queries } from '../../../control-plane/store/engine.ts'

t.test('no entry is read that is not shown, nor shown twice', async (t) => {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  for (const { statements } of migrations) for (const text of statements) database.exec(text)
  const asked: { text: string; values: unknown[] }[] = []
  const logger = {
    logQuery: (text: string, values: unknown[]) => void asked.push({ text, values }),
  }
  const queries = drizzle(database, { schema, logger }) as unknown as Queries
  const rows = Array.from({ length: 12 }, (_, at) => ({
    sequence: at + 1,
    at,
    actor: 'x',
    action: 'x',
    content: {},
    requestId: 'x',
    actorId: at % 3 === 0 ? 'ada' : 'bob',
    userId: at % 2 === 0 ? 'ada' : null,
  }))
  await queries.insert(schema.audit).values(rows)
  asked.length = 0
  const sequences = async (before: number | undefined, limit: number) =>
    (await auditOfPerson(queries, 'ada', before, limit)).map(({ sequence }) => sequence)
  t.same(await sequences(undefined, 4), [11, 10, 9, 7])
  t.same(await sequences(7, 4), [5, 4, 3, 1])
  for (const { text, values } of asked) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values)
    const details = (plan as { detail: string }[]).map(({ detail }) => detail)
    t.equal(details.length, 1, 'one index, and nothing is sorted')
    t.match(details[0], /^SEARCH audit USING INDEX audit_(user|actor) /)
  }
})
