/** What a session of the server keeps parsed and planned, and that nothing stands on it. */
import t from 'tap'
import { eq, sql } from '../../../control-plane/store/drizzle.ts'
import { createNames, PLANS_KEPT_MS } from '../../../control-plane/store/engines/kept-statements.ts'
import type { Queries } from '../../../control-plane/store/engine.ts'
import { ownPostgres } from '../../support/databases.ts'
import { NO_PGBOUNCER, startPgbouncer } from '../../support/pgbouncer.ts'
import {
  asAdmin,
  facts,
  newUrl,
  remember,
  startRelay,
  storeAt,
} from '../../support/postgres-store.ts'

const KEPT = sql`SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%"facts"%'`

const look = async (queries: Queries) =>
  await queries.select().from(facts).where(eq(facts.name, 'first'))

/** Of the session that this change has. */
async function keptBy(queries: Queries): Promise<number> {
  for (let time = 0; time < 3; time++) await look(queries)
  const [[count] = []] = await queries.values<[number]>(KEPT)
  return count ?? -1
}

t.test('what is asked again is kept by the session', async (t) => {
  const store = await storeAt(t, await newUrl())
  t.equal(await store.changeOf('acme', ({ queries }) => keptBy(queries)), 1)
})

t.test(
  'a session that others have between changes keeps nothing',
  { skip: NO_PGBOUNCER },
  async (t) => {
    const { port } = await ownPostgres()
    const bouncer = await startPgbouncer(t, port)
    const store = await storeAt(t, (await newUrl()).replace(`:${port}/`, `:${bouncer}/`))
    t.equal(await store.changeOf('acme', ({ queries }) => keptBy(queries)), 0)
  },
)

t.test('a table that is no longer what it was: asked again, and nobody notices', async (t) => {
  const url = await newUrl()
  const store = await storeAt(t, url)
  await store.change(remember('first'))
  const found = [{ name: 'first', value: '' }]
  // of every session that reads
  for (let time = 0; time < 3; time++)
    await Promise.all(Array.from({ length: 20 }, () => look(store.read)))
  await store.changeOf('acme', ({ queries }) => keptBy(queries))
  await asAdmin(url, 'ALTER TABLE facts ALTER COLUMN value TYPE varchar')
  const read = await Promise.all(Array.from({ length: 20 }, () => look(store.read)))
  t.strictSame(
    read,
    read.map(() => found),
  )
  t.strictSame(await store.changeOf('acme', ({ queries }) => look(queries)), found)
})

t.test('a session that forgot what it kept: asked again as well', async (t) => {
  const url = await newUrl()
  const store = await storeAt(t, url)
  await store.change(remember('first'))
  await store.changeOf('acme', async ({ queries }) => {
    await keptBy(queries)
    await queries.run(sql`DEALLOCATE ALL`)
  })
  t.match(await store.changeOf('acme', ({ queries }) => look(queries)), [{ name: 'first' }])
})

t.test('plans are made anew while tables grow', async (t) => {
  const url = new URL(await newUrl())
  const relay = await startRelay(t, Number(url.port))
  url.port = String(relay.port)
  const store = await storeAt(t, url.href)
  await store.change(remember('first'))
  await store.change(remember('second'))
  t.notMatch(relay.sent, 'DISCARD PLANS')
  const { now } = performance
  t.teardown(() => Object.assign(performance, { now }))
  performance.now = () => now.call(performance) + PLANS_KEPT_MS
  await store.change(remember('third'))
  t.match(relay.sent, 'DISCARD PLANS')
})

t.test('lists of any length take no place for ever', (t) => {
  const nameOf = createNames()
  const list = (length: number) => `SELECT 1 WHERE 1 IN (${'$1, '.repeat(length)}$1) -- kept`
  t.equal(nameOf(list(1)), undefined, 'once')
  t.equal(nameOf(list(1)), nameOf(list(1)), 'again')
  t.equal(nameOf(list(2000)) ?? nameOf(list(2000)), undefined, 'a long one')
  const named = Array.from({ length: 1000 }, (_, at) => {
    nameOf(list(at))
    return nameOf(list(at))
  }).filter((name) => name !== undefined)
  t.equal(new Set(named).size, named.length)
  t.ok(named.length <= 400)
  t.equal(nameOf('SELECT 2') ?? nameOf('SELECT 2'), undefined, 'there is no more place')
  t.end()
})
