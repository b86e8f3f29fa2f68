/** What is Postgres’s own; what both databases hold is asked in the files of the other rooms. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import {
  asc,
  eq,
  getTableConfig,
  getTableName,
  lt,
  sql,
} from '../../../control-plane/store/drizzle.ts'
import { nowSeconds, systemClock } from '../../../shared/clock.ts'
import { openStore, type Change } from '../../../control-plane/store/store.ts'
import { openPostgres } from '../../../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../../../control-plane/store/engines/postgres-address.ts'
import { joinNodes } from '../../../control-plane/store/engines/postgres-nodes.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { ownPostgres } from '../../support/databases.ts'
import { freePort } from '../../support/ports.ts'
import { startPostgres } from '../../support/postgres.ts'
import { until } from '../../support/fleet.ts'
import { sqliteIndexes } from '../../support/sqlite-indexes.ts'
import {
  asAdmin,
  failOnce,
  facts,
  namesIn,
  newUrl,
  remember,
  startRelay,
  storeAt,
} from '../../support/postgres-store.ts'

t.test('what migrations make is what the schema says, and what they make of SQLite', async (t) => {
  const url = await newUrl()
  const file = join(temporaryFolder(t), 'service.db')
  await openSqlite(file).close()
  const sqlite = new Database(file, { readonly: true })
  t.teardown(() => sqlite.close())
  const columns = await asAdmin(
    url,
    `SELECT table_name, column_name, is_nullable, data_type, collation_name, identity_generation
     FROM information_schema.columns WHERE table_schema = 'public' ORDER BY ordinal_position`,
  )
  const indexes = await asAdmin(
    url,
    `SELECT tables.relname AS table_name, own.relname AS name, indisunique, indisprimary,
       ARRAY(SELECT pg_get_indexdef(own.oid, part, true) FROM generate_series(1, indnkeyatts) AS part)
         AS columns
     FROM pg_index JOIN pg_class own ON own.oid = indexrelid
     JOIN pg_class tables ON tables.oid = indrelid
     WHERE tables.relnamespace = 'public'::regnamespace`,
  )
  const mistyped = columns.filter(
    ({ data_type, collation_name }) =>
      data_type !== 'bigint' && !(data_type === 'text' && collation_name === 'C'),
  )
  t.strictSame(mistyped, [], 'text is compared by its bytes, and numbers have eight')
  for (const table of Object.values(schema)) {
    const name = getTableName(table)
    const config = getTableConfig(table)
    const key = config.primaryKeys[0]?.columns ?? config.columns.filter(({ primary }) => primary)
    const own = ({ table_name }: Record<string, unknown>) => table_name === name
    t.strictSame(
      columns
        .filter((column) => own(column) && column['identity_generation'] === null)
        .map((column) => [column['column_name'], column['is_nullable'] === 'NO']),
      config.columns.map((column) => [column.name, column.notNull || key.includes(column)]),
      name,
    )
    const found = indexes.filter(own).map((index) => ({
      name: index['indisprimary'] === true ? 'key' : index['name'],
      isUnique: index['indisunique'],
      columns: index['columns'],
    }))
    const wanted = [
      { name: 'key', isUnique: true, columns: key.map((column) => column.name) },
      ...config.columns
        .filter(({ isUnique }) => isUnique)
        .map((column) => ({
          name: `${name}_${column.name}_key`,
          isUnique: true,
          columns: [column.name],
        })),
      ...sqliteIndexes(sqlite, name),
    ]
    const sorted = (list: readonly { name: unknown }[]) =>
      [...list].sort((one, other) => (String(one.name) < String(other.name) ? -1 : 1))
    t.strictSame(sorted(found), sorted(wanted), `${name}: its indexes`)
  }
})

t.test('several that start together migrate once; one that is older leaves it alone', async (t) => {
  const { run, port } = await ownPostgres()
  await run('CREATE DATABASE fresh')
  const url = (await newUrl()).replace(/[^/]+$/, 'fresh')
  const engines = await Promise.all([1, 2, 3].map(() => openPostgres(postgresAddress(url))))
  await Promise.all(engines.map((engine) => engine.close()))
  const applied = await asAdmin(url, 'SELECT name FROM migrations')
  t.equal(applied.length, migrations.length)
  await asAdmin(url, `INSERT INTO migrations VALUES ('9999-later', 0)`)
  await t.rejects(openPostgres(postgresAddress(url)), { message: /newer version.*9999-later/ })
  await run(`CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`)
  const latin = url.replace(/fresh$/, 'latin')
  await t.rejects(openPostgres(postgresAddress(latin)), { message: /LATIN1.*--encoding=UTF8/ })
  t.ok(port)
})

t.test('text sorts by its bytes, folds as on SQLite, and holds no NUL', async (t) => {
  const store = await storeAt(t, await newUrl())
  const names = ['é', 'z', 'a', 'Z', '_', 'ä', '10', '9']
  for (const name of names) await store.change(remember(name))
  const sorted = await store.read
    .select({ name: facts.name, folded: sql`lower(${facts.name})` })
    .from(facts)
    .where(sql`${facts.name} <> 'epoch'`)
    .orderBy(asc(facts.name))
  t.strictSame(
    sorted.map(({ name }) => name),
    ['10', '9', 'Z', '_', 'a', 'z', 'ä', 'é'],
  )
  t.equal(sorted[2]?.folded, 'z')
  await t.rejects(store.change(remember('a\0b')), { message: /NUL/ })
  const lookedFor = store.read.select().from(facts).where(eq(facts.name, 'a\0'))
  t.strictSame(await lookedFor, [], 'it is not there, and no fault to look for it')
  await store.change((change) => change.touch('acme'))
  const { counters } = schema
  const below = await store.read.select().from(counters).where(lt(counters.value, Infinity))
  t.match(below, [{ name: 'tenant' }, { name: 'revision', value: 1 }], 'no number is larger')
  const [found] = await store.read
    .select({ at: sql`instr(${facts.name}, '0')`, is: sql`${facts.name} = '10'` })
    .from(facts)
    .where(eq(facts.name, '10'))
  t.strictSame(found, { at: 2, is: 1 })
  await t.rejects(
    store.read.select({ one: sql`9007199254740993` }).from(facts),
    { message: /too large/ },
    'a number that cannot be told exactly is not told',
  )
})

t.test(
  'a change that the database gives up is made again, and its notices come once',
  async (t) => {
    const store = await storeAt(t, await newUrl())
    for (const state of ['40001', '40P01']) {
      let runs = 0
      const told: unknown[] = []
      store.onCommit(({ tenantIds }) => told.push(tenantIds))
      const fail = failOnce(state)
      await store.change(async (change) => {
        runs++
        await remember(state)(change)
        await change.touch('acme')
        await fail(change)
      })
      t.strictSame({ runs, told: told.at(-1) }, { runs: 2, told: ['acme'] })
    }
    t.strictSame((await namesIn(store)).sort(), ['40001', '40P01'])
    t.equal(await store.revision(), 2, 'without a gap')
    await t.rejects(store.change(failOnce('55P03')), { code: 'unavailable' }, 'a lock of others')
    await t.rejects(store.change(failOnce('57014')), { code: 'unavailable' }, 'too slow')
    const slow = sql.raw(`DO $$ BEGIN RAISE EXCEPTION SQLSTATE '57014'; END $$`)
    await t.rejects(store.read.run(slow), { name: 'Refusal', code: 'unavailable' })
    await t.rejects(store.change(failOnce('22012')), { code: '22012' })
  },
)

t.test('an error that was caught inside does not pass for a commit', async (t) => {
  const store = await storeAt(t, await newUrl())
  const swallowed = store.change(async (change) => {
    await remember('lost')(change)
    await failOnce('22012')(change).catch(() => {})
  })
  await t.rejects(swallowed, { code: '25P02' })
  t.strictSame(await namesIn(store), [])
})

t.test('a commit whose answer is lost is looked up: made again only if it was not', async (t) => {
  const url = await newUrl()
  const { port } = await ownPostgres()
  const relay = await startRelay(t, port)
  const store = await storeAt(t, url.replace(`:${port}/`, `:${relay.port}/`))
  for (const [onCommit, runsWanted] of [
    ['cut behind', 1],
    ['cut before', 2],
  ] as const) {
    let runs = 0
    relay.onCommit = onCommit
    const answer = await store.change(async (change) => {
      runs++
      await remember(onCommit)(change)
      return 'done'
    })
    t.strictSame({ answer, runs }, { answer: 'done', runs: runsWanted }, onCommit)
  }
  t.strictSame((await namesIn(store)).sort(), ['cut before', 'cut behind'])
  t.notMatch(
    relay.sent,
    /\bSET (?!LOCAL)|\bLISTEN\b|\bPREPARE\b|set_config\([^)]*false\)/,
    'nothing that a session keeps',
  )
  t.match(
    relay.sent,
    /set_config\('lock_timeout', '2000', true\), set_config\('statement_timeout', '5000', true\)/,
  )
  t.match(relay.sent, /set_config\('idle_in_transaction_session_timeout', '5000', true\)/)
})

t.test('a commit of which nobody could be answered is told of once it is seen', async (t) => {
  const url = await newUrl()
  const { port } = await ownPostgres()
  const relay = await startRelay(t, port)
  const address = postgresAddress(url.replace(`:${port}/`, `:${relay.port}/`))
  const engine = await openPostgres(address, { busyMsMax: 100 })
  const nodes = await joinNodes(engine.reader, 'own', { host: 'localhost', pid: process.pid })
  const store = await openStore({ ...engine, nodes }, systemClock)
  t.teardown(() => store.close())
  const told: unknown[] = []
  store.onCommit(({ tenantIds, revoked, isFromLog }) =>
    told.push({ tenantIds, revoked: [...revoked.keys()], isFromLog }),
  )
  const revoked = { all: 0, sids: { s1: nowSeconds(systemClock) }, subjects: {} }
  const revoke = () =>
    store.change(async (change) => {
      await change.touch('acme')
      change.revoke('acme', revoked)
    })
  relay.onCommit = 'away behind'
  await t.rejects(revoke(), { code: 'unavailable' })
  t.strictSame(told, [])
  relay.isAway = false
  await until(() => told.length > 0)
  const news = { tenantIds: ['acme'], revoked: ['acme'] }
  t.strictSame(told, [{ ...news, isFromLog: true }])
  await revoke()
  await new Promise<void>((resolve) => store.onHeard((position) => position >= 2 && resolve()))
  t.strictSame(told.slice(1), [{ ...news, isFromLog: false }], 'the next one by itself, and once')
})

t.test('connections that the server ends are replaced, whatever they were doing', async (t) => {
  const url = await newUrl()
  const store = await storeAt(t, url)
  const endAll = () =>
    asAdmin(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  await endAll()
  t.equal(await store.revision(), 0, 'one that reads')
  let runs = 0
  await store.change(async (change) => {
    await remember('once')(change)
    if (runs++ === 0) await endAll()
  })
  t.strictSame([await namesIn(store), runs], [['once'], 2])
})

t.test('of several hosts the one that takes changes is found', async (t) => {
  const url = await newUrl()
  const { port } = await ownPostgres()
  const replica = await startPostgres(t, undefined, { isReplica: true })
  const hosts = [await freePort(), replica.port, port].map((one) => `127.0.0.1:${one}`)
  const store = await storeAt(t, url.replace(`127.0.0.1:${port}`, hosts.join(',')))
  await store.change(remember('there'))
  t.strictSame(await namesIn(store), ['there'])
  const replicaAlone = url.replace(`:${port}/`, `:${replica.port}/`).replace(/[^/]+$/, 'postgres')
  await t.rejects(openPostgres(postgresAddress(replicaAlone)), { message: /a replica/ })
})

t.test('a change of another program that stands still holds up none for ever', async (t) => {
  const url = await newUrl()
  const [one, other] = [await storeAt(t, url, { busyMsMax: 100 }), await storeAt(t, url)]
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const frozen = other.change(async () => {
    begun.resolve()
    await isOver
  })
  await begun.promise
  await t.rejects(one.change(remember('held up')), {
    code: 'unavailable',
    fields: { retry_after: 5 },
  })
  t.equal(await one.revision(), 0, 'what only reads goes on')
  end()
  await frozen
  await one.change(remember('later'))
  t.strictSame(await namesIn(one), ['later'])
})

t.test('twenty connections are the most, and a change may read beside itself', async (t) => {
  const url = await newUrl()
  const store = await storeAt(t, url)
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      store.change(async (change) => {
        await Promise.all([store.revision(), store.revision()])
        await remember(`${at}`)(change)
      }),
    ),
  )
  const [row] = await asAdmin(
    url,
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  t.ok((row?.['count'] as number) <= 20, `${String(row?.['count'])} connections`)
})

t.test(
  'changes of tenants are under way together, of one tenant in turn, of all alone',
  async (t) => {
    const url = await newUrl()
    const [one, other] = [await storeAt(t, url), await storeAt(t, url)]
    const log: string[] = []
    const slow =
      (name: string, until: Promise<unknown> = Promise.resolve()) =>
      async ({ queries }: Pick<Change, 'queries'>) => {
        await queries.select().from(facts)
        log.push(`${name} begins`)
        await until
        log.push(`${name} ends`)
      }
    const meeting = Promise.withResolvers<void>()
    let met = 0
    const meet = async () => void (++met === 4 ? meeting.resolve() : await meeting.promise)
    await Promise.all(
      ['a', 'b']
        .map((tenantId) => one.changeOf(tenantId, meet))
        .concat(['c', 'd'].map((tenantId) => other.changeOf(tenantId, meet))),
    )
    t.equal(met, 4, 'each has waited for the others inside')

    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const first = one.changeOf('a', async (change) => {
      await change.queries.select().from(facts)
      begun.resolve()
      await slow('first', gate.promise)(change)
    })
    await begun.promise
    const waiting = [other.changeOf('a', slow('same tenant')), other.change(slow('all'))]
    await one.revision()
    t.strictSame(log, ['first begins'])
    gate.resolve()
    await Promise.all([first, ...waiting])
    t.strictSame(log.slice(0, 2), ['first begins', 'first ends'])
    for (const [at, entry] of log.entries())
      if (at % 2 === 1) t.equal(entry.replace(/ends$/, 'begins'), log[at - 1], 'never two at once')
  },
)
