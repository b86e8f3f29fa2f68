/** A database that is away, restarted, slow or changed: only its own tenant's sign-ins notice. */
import type { Test } from 'tap'
import type { ServerCertificate } from '../../support/postgres.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import {
  ADA,
  fillDatabase,
  PASSWORD,
  READER,
  settingsOf,
  startDirectoryApi,
  type TestDatabase,
} from './directory-world.ts'

type Start = (t: Test, certificate?: ServerCertificate) => Promise<TestDatabase>

export function testOutages(t: Test, start: Start) {
  t.test('a database that goes away and comes back', async (t) => {
    const authority = createTestAuthority(t)
    const database = await start(t, authority.issue('localhost'))
    await fillDatabase(database)
    const api = await startDirectoryApi(t)
    const { services, operator, signIn } = api
    const isPostgres = database.kind === 'postgres'
    const renamed = isPostgres
      ? (password: string) => database.run(`ALTER USER reader PASSWORD '${password}'`)
      : (password: string) => database.run(`ALTER USER reader@'%' IDENTIFIED BY '${password}'`)

    async function tenant(tenantId: string, changes: Record<string, unknown> = {}) {
      await api.tenant(tenantId)
      const answer = await api.put(tenantId, settingsOf(database, changes))
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return tenantId
    }

    await tenant('acme')
    const path = api.path('acme')

    await t.test('is missed by sign-ins alone, and needs nothing to be used again', async (t) => {
      t.equal(await signIn('acme', ADA, PASSWORD), 'ok')
      await database.kill()
      t.equal(await signIn('acme', ADA, PASSWORD), 'directory_unavailable')
      t.equal(await signIn('acme', ADA, 'wrong'), 'directory_unavailable')
      t.match(await operator('POST', `${path}/dry-run`, {}), {
        status: 200,
        body: { ok: false, steps: [{ step: 'connect', status: 'fail' }] },
      })
      t.equal((await operator('GET', path)).status, 200, 'the settings are still there')
      await database.start()
      t.equal(await signIn('acme', ADA, PASSWORD), 'ok')
    })

    await t.test('between two sign-ins is not noticed by anybody', async (t) => {
      const many = () => Promise.all(Array.from({ length: 8 }, () => signIn('acme', ADA, PASSWORD)))
      t.same(new Set(await many()), new Set(['ok']), 'several connections')
      await database.kill()
      await database.start()
      t.same(new Set(await many()), new Set(['ok']), 'all of which had ended')
    })

    await t.test('a password that is changed there has to be changed here', async (t) => {
      await renamed('another')
      await database.kill() // what is connected already stays so
      await database.start()
      t.equal(await signIn('acme', ADA, PASSWORD), 'directory_unavailable')
      const settings = { ...settingsOf(database), password: 'another' }
      t.equal((await api.put('acme', settings)).status, 200)
      t.equal(await signIn('acme', ADA, PASSWORD), 'ok')
      await renamed(
        READER.password.replaceAll("'", "''").replaceAll('\\', isPostgres ? '\\' : '\\\\'),
      )
    })

    await t.test('what an operator changes is true for the next sign-in', async (t) => {
      await tenant('changing')
      t.equal(await signIn('changing', ADA, PASSWORD), 'ok')
      const [found = '', condition = ''] = settingsOf(database).query.split('WHERE ')
      const only = `${found} WHERE 1 = 0 AND (${condition})`
      t.equal((await api.put('changing', settingsOf(database, { query: only }))).status, 200)
      t.equal(await signIn('changing', ADA, PASSWORD), 'unknown_user')
      t.equal((await operator('DELETE', api.path('changing'))).status, 204)
      t.equal(await signIn('changing', ADA, PASSWORD), 'unknown_user', 'nobody is known by it here')
    })

    await t.test('is reached over TLS, by a name that its certificate has', async (t) => {
      const verified = { tls: 'verify', host: 'localhost', ca_pem: authority.caPem }
      await tenant('secure', verified)
      t.equal(await signIn('secure', ADA, PASSWORD), 'ok')

      const stranger = createTestAuthority(t).caPem
      for (const changes of [
        { ...verified, ca_pem: stranger },
        { ...verified, ca_pem: null },
      ])
        t.match(await api.put('secure', settingsOf(database, changes)), {
          status: 409,
          body: { error: 'directory_refused', field: 'ca_pem', detail: /not trusted/ },
        })
      // issued by the right authority, for another name
      const other = await start(t, authority.issue('other.test'))
      t.match(await api.put('secure', settingsOf(other, verified)), {
        status: 409,
        body: { field: 'ca_pem' },
      })
      t.equal(await signIn('secure', ADA, PASSWORD), 'ok', 'what was good has stayed')
    })

    await t.test('a slow one has its sign-ins refused, and no others', async (t) => {
      await tenant('patient')
      await services.users.create(
        (await api.tenant('own')).client_id.replace(/-user$/, ''),
        { username: 'ada', email: 'ada@own.test', name: 'Ada', password: PASSWORD },
        { name: 'operator', requestId: 'test' },
      )
      const lock = isPostgres
        ? 'BEGIN; LOCK TABLE people; SELECT pg_sleep(600); COMMIT'
        : 'LOCK TABLES people WRITE; SELECT SLEEP(600); UNLOCK TABLES'
      const held = database.run(lock, 'app').catch(() => {})
      const seen = isPostgres
        ? "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'people'::regclass"
        : "SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'"
      while (countOf(await database.run(seen, 'app')) === 0);
      const flood = Array.from({ length: 100 }, () => signIn('patient', ADA, PASSWORD))
      t.equal(await signIn('own', 'ada', PASSWORD), 'ok', 'while all of them wait')
      t.equal(await signIn('own', 'ada', 'wrong'), 'wrong_password')
      t.same(new Set(await Promise.all(flood)), new Set(['directory_unavailable']))
      await database.run(
        isPostgres
          ? "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'"
          : `SET @holder = (SELECT id FROM information_schema.processlist
              WHERE info LIKE 'SELECT SLEEP%'); KILL @holder`,
        'app',
      )
      await held
      t.equal(await signIn('patient', ADA, PASSWORD), 'ok')
    })
  })
}

function countOf(result: unknown): number {
  return Array.isArray(result) ? result.length : (result as { rows: unknown[] }).rows.length
}
