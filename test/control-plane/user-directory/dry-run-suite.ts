/** What an operator is told who has something wrong, from either database. */
import type { Test } from 'tap'
import type { ApiAnswer } from '../../support/api.ts'
import {
  ADA,
  COLUMNS,
  fillDatabase,
  PASSWORD,
  READER,
  settingsOf,
  startDirectoryApi,
  type TestDatabase,
} from './directory-world.ts'
import { schema } from '../../../control-plane/store/schema.ts'

interface StepView {
  readonly step: string
  readonly status: string
  readonly detail: string
}

const stepsOf = (answer: ApiAnswer) => answer.body['steps'] as StepView[]
const summaryOf = (answer: ApiAnswer) =>
  stepsOf(answer).map(({ step, status }) => `${step} ${status}`)

export function testDryRuns(t: Test, start: (t: Test) => Promise<TestDatabase>) {
  t.test('nothing is kept that would not let people in', async (t) => {
    const database = await start(t)
    await fillDatabase(database)
    const api = await startDirectoryApi(t)
    const { operator } = api
    await api.tenant('acme')
    const path = api.path('acme')
    const isPostgres = database.kind === 'postgres'
    const where = isPostgres ? 'lower(email) = $1' : 'lower(email) = ?'

    async function refused(changes: Record<string, unknown>, field: string, detail: RegExp) {
      const answer = await api.put('acme', settingsOf(database, changes))
      t.match(answer, { status: 409, body: { error: 'directory_refused', field } }, String(detail))
      t.match(answer.body['detail'], detail)
      t.notMatch(JSON.stringify(answer.body), READER.password, 'and no password is in the answer')
      return answer
    }

    await t.test('a wrong place, user, password or database', async () => {
      await refused({ port: 1 }, 'host', /Nothing takes connections there/)
      await refused({ host: 'no-such-host.invalid' }, 'host', /no address for this host/)
      await refused({ password: 'wrong' }, 'password', /refuses this user or its password/)
      await refused({ username: 'nobody' }, 'password', /refuses this user or its password/)
      await refused({ database: 'nothing' }, 'database', /no such database/)
      await refused({ tls: 'verify', host: 'localhost' }, 'tls', /does not offer TLS/)
    })

    await t.test('a query that the database does not understand', async (t) => {
      const missing = { query: `SELECT * FROM peeple WHERE ${where}` }
      // MySQL does not tell who may not read it whether a table is there
      const answer = isPostgres
        ? await refused(missing, 'query', /does not understand the query. It says: .*peeple/)
        : await refused(missing, 'username', /check their spelling. It says: .*peeple/)
      t.same(summaryOf(answer), [
        'connect pass',
        'read_only pass',
        'query fail',
        'columns skip',
        'look_up skip',
        'person skip',
        'hash skip',
      ])
      await refused({ query: `SELECT FROM WHERE ${where} (` }, 'query', /does not understand/)
      await refused({ query: `SELECT nothing FROM people WHERE ${where}` }, 'query', /nothing/)
    })

    await t.test('a query with more or fewer parameters than one, or one of a number', async () => {
      const two = isPostgres
        ? 'SELECT * FROM people WHERE email = $1 AND login = $2'
        : 'SELECT * FROM people WHERE email = ? OR login = ?'
      await refused({ query: two }, 'query', /exactly one parameter/)
      const none = isPostgres
        ? "SELECT * FROM people WHERE email = '$1'"
        : "SELECT * FROM people WHERE email = '?'"
      await refused({ query: none }, 'query', /exactly one parameter/)
      if (isPostgres)
        await refused(
          { query: 'SELECT * FROM people WHERE id = $1' },
          'query',
          /compare it with text/,
        )
    })

    await t.test('a query that this user may not run', async () => {
      await refused(
        { query: `SELECT *, 1 AS id FROM hidden WHERE ${where}` },
        'username',
        /Grant it SELECT/,
      )
    })

    /** The user of these tests may write: it is the database that refuses, not its permissions. */
    await t.test('a query that writes', async (t) => {
      const writing = isPostgres
        ? [
            "CREATE FUNCTION writes(text) RETURNS text LANGUAGE sql AS $$ UPDATE people SET blocked = true RETURNING 'x'::text $$",
          ]
        : [
            "CREATE FUNCTION writes(given TEXT) RETURNS TEXT NOT DETERMINISTIC MODIFIES SQL DATA BEGIN UPDATE people SET blocked = true; RETURN 'x'; END",
            "GRANT EXECUTE ON app.* TO reader@'%'",
          ]
      for (const sql of writing) await database.run(sql, 'app')
      const calls = isPostgres ? `writes($1) IS NOT NULL` : `writes(?) IS NOT NULL`
      await refused({ query: `SELECT * FROM people WHERE ${calls}` }, 'query', /only reads/)
      if (isPostgres) {
        const hidden = `WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone WHERE ${where}`
        await refused({ query: hidden }, 'query', /only reads/)
      }
      const answer = await api.put('acme', settingsOf(database))
      t.equal(answer.status, 200)
      const { body } = await operator('POST', `${path}/dry-run`, { login: ADA })
      t.match(body, { ok: true, sample: { disabled: false } }, 'nothing has been written')
      await operator('DELETE', path)
    })

    await t.test('what is no SELECT, or more than one, and no database is asked', async (t) => {
      const wrong = [
        `UPDATE people SET blocked = true WHERE ${where} RETURNING *`,
        `DELETE FROM people WHERE ${where}`,
        `SELECT * FROM people WHERE ${where}; DROP TABLE people`,
        'SET TRANSACTION READ WRITE',
        'CALL something($1, ?)',
        'SELECT * FROM people',
        isPostgres
          ? 'SELECT * FROM people WHERE email = ?'
          : 'SELECT * FROM people WHERE email = $1',
        ' ',
        `SELECT ${'x'.repeat(4000)} FROM people WHERE ${where}`,
      ]
      for (const query of wrong)
        t.match(
          await api.put('acme', settingsOf(database, { query, port: 1 })),
          { status: 400, body: { error: 'field_invalid', field: 'query' } },
          query.slice(0, 50),
        )
    })

    await t.test('a column that the query does not give, or gives twice', async () => {
      const columns = { ...COLUMNS, password_hash: 'password' }
      await refused({ columns }, 'columns', /"columns.password_hash" names "password".*secret/)
      const evil = { ...COLUMNS, name: 'id" FROM pg_user; --' }
      await refused({ columns: evil }, 'columns', /which the query does not give/)
      const twice = `SELECT p.*, p.email AS login FROM people p WHERE ${where.replace('email', 'p.email')}`
      await refused({ query: twice }, 'query', /same name/)
    })

    await t.test('a hash that cannot be checked, or a person who is none', async () => {
      const row = "(990, 'md5', 'md5@people.test', 'M', '5f4dcc3b5aa765d61d8327deb882cf99', false)"
      const bare = "(991, 'bare', NULL, 'B', NULL, false)"
      await database.run(`INSERT INTO people VALUES ${row}, ${bare}`, 'app')
      await refused({ login: 'md5' }, 'columns', /kind that cannot be checked here.*argon2id/)
      await refused({ login: 'bare' }, 'columns', /"columns.email" names must be an email address/)
      await refused({ login: 'nobody' }, 'login', /finds no user with this login/)
      const everybody = isPostgres
        ? 'SELECT * FROM people WHERE $1::text IS NOT NULL'
        : 'SELECT * FROM people WHERE ? IS NOT NULL'
      await refused({ query: everybody }, 'query', /more than one row/)
    })

    await t.test('a field that is missing or wrong', async (t) => {
      const wrong: [Record<string, unknown>, string][] = [
        [{ kind: 'oracle' }, 'kind'],
        [{ host: 'a b' }, 'host'],
        [{ host: '/var/run/postgresql' }, 'host'],
        [{ host: '127.1' }, 'host'],
        [{ host: 'a.0x7f' }, 'host'],
        [{ host: 'fe80::1%eth0' }, 'host'],
        [{ port: 0 }, 'port'],
        [{ port: 65_536 }, 'port'],
        [{ database: '' }, 'database'],
        [{ password: '' }, 'password'],
        [{ password: undefined }, 'password'],
        [{ tls: 'prefer' }, 'tls'],
        [{ ca_pem: 'no certificate' }, 'ca_pem'],
        [{ columns: { ...COLUMNS, id: undefined } }, 'columns'],
        [{ columns: { ...COLUMNS, role: 'x' } }, 'columns'],
        [{ login: 'a\0' }, 'login'],
        [{ unknown: 1 }, 'unknown'],
      ]
      if (!isPostgres) wrong.push([{ tls: 'verify', host: '127.0.0.1' }, 'host'])
      for (const [changes, field] of wrong)
        t.match(
          await api.put('acme', settingsOf(database, changes)),
          { status: 400, body: { error: 'field_invalid', field } },
          JSON.stringify(changes),
        )
      t.match(await api.put('none', settingsOf(database)), { status: 404 })
    })

    await t.test('and what is good is kept, shown without its password, and tried', async (t) => {
      t.match(await operator('GET', path), { status: 404, body: { error: 'directory_not_found' } })
      t.match(await operator('POST', `${path}/dry-run`, {}), { status: 404 })
      const put = await api.put('acme', { ...settingsOf(database), login: ADA })
      t.match(put, { status: 200, body: { ok: true, kind: database.kind, username: 'reader' } })
      t.match(summaryOf(put), Array(7).fill(/ pass$/))
      const sample = put.body['sample'] as Record<string, unknown>
      t.same(sample, {
        id: '1***',
        username: 'a***',
        email: 'a***',
        name: 'P***',
        password_hash: 'argon2id, 2048 KiB, 2 passes, 2 lanes',
        disabled: false,
      })
      const got = await operator('GET', path)
      t.equal(got.body['query'], settingsOf(database).query)
      const tried = await operator('POST', `${path}/dry-run`, { login: ADA })
      t.match(tried, { status: 200, body: { ok: true } })
      const missed = await operator('POST', `${path}/dry-run`, { login: 'nobody' })
      t.match(missed, { status: 200, body: { ok: false, sample: null } })
      for (const answer of [put, got, tried, missed]) {
        const text = JSON.stringify(answer.body)
        t.notOk('password' in answer.body)
        t.notMatch(text, JSON.stringify(READER.password).slice(1, -1))
        t.notMatch(text, /\$argon2|MDEyMzQ1/, 'no hash')
        t.notMatch(text, PASSWORD)
      }
    })

    await t.test('the password may stay where it is, and goes nowhere else', async (t) => {
      const same = { ...settingsOf(database), password: undefined }
      t.equal((await api.put('acme', same)).status, 200)
      for (const changes of [{ host: 'localhost' }, { port: 1 }, { username: 'owner' }])
        t.match(await api.put('acme', { ...same, ...changes }), {
          status: 400,
          body: { error: 'field_invalid', field: 'password' },
        })
    })

    await t.test('every change is an event and in the audit trail, and sealed', async (t) => {
      t.equal((await operator('DELETE', path)).status, 204)
      t.match(await operator('DELETE', path), { status: 404 })
      const { store } = api.services
      const events = (await store.read.select().from(schema.outbox)).filter(
        ({ event }) => event === 'credentials.updated',
      )
      const changes = events.map(({ content }) => content['change'])
      t.same(changes, ['set', 'removed', 'set', 'set', 'removed'])
      const audit = await operator('GET', '/audit?tenant_id=acme&limit=200')
      const actions = audit.items.map(({ action }) => String(action))
      t.equal(actions.filter((action) => action === 'user_directory.set').length, 3)
      t.equal(actions.filter((action) => action === 'user_directory.removed').length, 2)
      await api.put('acme', settingsOf(database))
      const stored = await store.read.select().from(schema.userDirectories)
      const everything = JSON.stringify([stored, events, audit.body])
      t.notMatch(everything, JSON.stringify(READER.password).slice(1, -1))
      t.match(stored[0]?.passwordSealed, /^v1\./)
    })
  })
}
