/** What stands between the control plane and its database, and a database that goes away. */
import pg from 'pg'
import t from 'tap'
import { eq } from '../../../control-plane/store/drizzle.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { ownPostgres } from '../../support/databases.ts'
import { NO_PGBOUNCER, startPgbouncer } from '../../support/pgbouncer.ts'
import { ADMIN, startPostgres } from '../../support/postgres.ts'
import { facts, namesIn, newUrl, remember, storeAt } from '../../support/postgres-store.ts'

t.test(
  'PgBouncer that lends sessions by transaction: nothing is left in one for the next',
  { skip: NO_PGBOUNCER },
  async (t) => {
    const url = await newUrl()
    const { port } = await ownPostgres()
    const bouncer = await startPgbouncer(t, port)
    const own = url.replace(`:${port}/`, `:${bouncer}/`)
    const [one, other] = [await storeAt(t, own), await storeAt(t, own)]
    const names = Array.from({ length: 40 }, (_, at) => `${at}`.padStart(2, '0'))
    await Promise.all(
      names.map(async (name, at) => {
        const store = at % 2 === 0 ? one : other
        await store.change(async (change) => {
          await remember(name)(change)
          await change.touch('acme')
        })
        await store.changeOf(`t${at % 5}`, async ({ queries }) => {
          const [before] = await queries.select().from(facts).where(eq(facts.name, name))
          await queries
            .update(facts)
            .set({ value: `${before?.value}seen` })
            .where(eq(facts.name, name))
        })
        await store.revision()
      }),
    )
    const rows = (await one.read.select().from(facts)).filter(({ name }) => name !== 'epoch')
    t.strictSame(
      rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      names.map((name) => ({ name, value: 'seen' })),
    )
    t.equal(await one.revision(), names.length, 'without a gap')
    await t.rejects(one.change(remember('00')), { code: '23505' })
    await other.change(remember('later'))
    t.ok((await namesIn(other)).includes('later'), 'no lock is left behind either')
  },
)

t.test(
  'a server that is killed and started again amid changes: what was answered is there',
  async (t) => {
    const server = await startPostgres(t, undefined, { fsync: 'on' })
    await server.run('CREATE DATABASE service')
    const url = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${server.port}/service`
    const store = await storeAt(t, url, { busyMsMax: 300 })
    const answered = new Set<string>()
    const problems: unknown[] = []
    const stop = { is: false }
    const goOn = async (who: number) => {
      for (let count = 0; !stop.is; count++) {
        const name = `${who} ${count}`
        const work = who % 2 === 0 ? byAll(store, name) : byTenant(store, name)
        await work.then(
          () => answered.add(name),
          (error: unknown) => problems.push(error),
        )
      }
    }
    const all = Array.from({ length: 8 }, (_, who) => goOn(who))
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    for (let round = 0; round < 2; round++) {
      const before = answered.size
      await until(() => answered.size > before + 20)
      const problemsBefore = problems.length
      await server.kill()
      await until(() => problems.length > problemsBefore)
      await server.start()
    }
    const before = answered.size
    await until(() => answered.size > before + 20)
    stop.is = true
    await Promise.all(all)
    const there = new Set(await namesIn(store))
    t.strictSame(
      [...answered].filter((name) => !there.has(name)),
      [],
      'nothing is lost',
    )
    t.ok(there.size <= answered.size + problems.length)
    for (const problem of problems)
      t.match(problem, { code: 'unavailable', fields: { retry_after: 5 } })
  },
)

const byAll = (store: Store, name: string) => store.change(remember(name))

const byTenant = (store: Store, name: string) =>
  store.changeOf(name.slice(0, 1), async ({ queries }) => {
    await queries.insert(facts).values({ name, value: '' })
  })

t.test('who waits in line behind somebody else’s lock is refused with the first', async (t) => {
  const url = await newUrl()
  const [one, other] = [await storeAt(t, url), await storeAt(t, url)]
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.teardown(() => holder.end())
  const touching = (store: Store, name: string) =>
    store.change(async (made) => {
      await remember(name)(made)
      await made.touch('acme')
    })
  await touching(one, 'first')
  for (const { kind, lock, change } of [
    {
      kind: 'of all',
      lock: `SELECT value FROM counters WHERE name = 'revision' FOR UPDATE`,
      change: touching,
    },
    { kind: 'of one tenant', lock: 'SELECT pg_advisory_xact_lock(24129, 0)', change: byTenant },
  ]) {
    await holder.query('BEGIN')
    await holder.query(lock)
    const startedMs = performance.now()
    const tookMs: number[] = []
    await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const asked = change(at % 2 === 0 ? one : other, `${kind} ${at}`)
        await t.rejects(asked, { code: 'unavailable' })
        tookMs.push(performance.now() - startedMs)
      }),
    )
    // each for itself, one after the other, they would be eight times as long
    t.ok(Math.max(...tookMs) < 3 * Math.min(...tookMs), tookMs.map(Math.round).join(', '))
    await holder.query('ROLLBACK')
    await change(one, `${kind} again`)
    await change(other, `${kind} again, there`)
    const names = await namesIn(one)
    t.same(
      names.filter((name) => name.startsWith(kind)),
      [`${kind} again`, `${kind} again, there`],
    )
  }
})
