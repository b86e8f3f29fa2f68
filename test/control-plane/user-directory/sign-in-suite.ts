/** What holds for sign-ins from either database. */
import type { Test } from 'tap'
import { shadowIdOf } from '../../../control-plane/user-directory/shadow-users.ts'
import {
  ADA,
  ADA_EMAIL,
  fillDatabase,
  PASSWORD,
  PEOPLE,
  settingsOf,
  startDirectoryApi,
  type TestDatabase,
} from './directory-world.ts'

/** Everybody of a table of ids has the hash of the first person, and an address of their own. */
const ID_QUERIES = {
  postgres: `SELECT ids.id, ids.login, ids.login || '@people.test' AS email, full_name, secret, blocked
    FROM ids, people WHERE people.id = 1 AND ids.login = $1`,
  mysql: `SELECT ids.id, ids.login, concat(ids.login, '@people.test') AS email, full_name, secret, blocked
    FROM ids, people WHERE people.id = 1 AND ids.login = ?`,
} as const

/** As SQL, and as what they have to be here; null where they can be nobody. */
const ID_COLUMNS = {
  postgres: [
    {
      type: 'TEXT',
      ids: [`'root'`, `'root '`, `E'root\\u00a0'`, `E'\\ufeffroot'`, `'01'`, `'1'`],
      texts: ['root', null, null, null, '01', '1'],
    },
    { type: 'CHAR(12)', ids: [`'padded'`, `' led'`], texts: ['padded', null] },
    { type: 'BYTEA', ids: [`'\\x6162'`, `'\\x616200'`], texts: ['\\x6162', '\\x616200'] },
  ],
  mysql: [
    {
      type: 'VARCHAR(20) COLLATE utf8mb4_nopad_bin',
      ids: [`'root'`, `'root '`, `'root\u00a0'`, `'\ufeffroot'`],
      texts: ['root', null, null, null],
    },
    { type: 'CHAR(12)', ids: [`'padded'`, `' led'`], texts: ['padded', null] },
    {
      type: 'VARBINARY(20)',
      ids: [`'12'`, `X'313200'`, `X'ff00'`, `'ff00'`, `X'01'`, `'1'`, `X'5c7866663030'`],
      texts: ['12', '\\x313200', '\\xff00', 'ff00', '\\x01', '1', '\\x5c7866663030'],
    },
    { type: 'BINARY(4)', ids: [`'ab'`, `X'ff000102'`], texts: ['ab', 'ff000102'] },
    {
      type: 'BIGINT',
      ids: ['9007199254740993', '9007199254740992'],
      texts: ['9007199254740993', '9007199254740992'],
    },
  ],
} as const

export function testSignIns(t: Test, start: (t: Test) => Promise<TestDatabase>) {
  t.test('people of a table sign in', async (t) => {
    const database = await start(t)
    await fillDatabase(database)
    const api = await startDirectoryApi(t)
    const { services, operator, signIn } = api
    const isPostgres = database.kind === 'postgres'

    async function tenant(tenantId: string, changes: Record<string, unknown> = {}) {
      await api.tenant(tenantId)
      const answer = await api.put(tenantId, settingsOf(database, changes))
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return tenantId
    }
    const acme = await tenant('acme')

    await t.test('with every kind of hash, by name or address, in any case', async (t) => {
      for (const { username, email } of PEOPLE) {
        t.equal(await signIn(acme, username, PASSWORD), 'ok', username)
        t.equal(await signIn(acme, ` ${email.toUpperCase()} `, PASSWORD), 'ok', email)
        t.equal(await signIn(acme, username, `${PASSWORD}!`), 'wrong_password')
      }
      t.equal(await signIn(acme, 'nobody', PASSWORD), 'unknown_user')
    })

    await t.test('as one of our users, who has no password here and stays the same', async (t) => {
      const first = await services.users.authenticate(acme, ADA, PASSWORD)
      const again = await services.users.authenticate(acme, ADA_EMAIL, PASSWORD)
      if (first.kind !== 'ok' || again.kind !== 'ok') return t.fail('no sign-in')
      t.equal(first.user.userId, again.user.userId)
      t.match(first.user, { source: 'directory', passwordHash: '', username: ADA })
      const other = await tenant('other')
      const elsewhere = await services.users.authenticate(other, ADA, PASSWORD)
      if (elsewhere.kind !== 'ok') return t.fail('no sign-in')
      t.not(elsewhere.user.userId, first.user.userId, 'nobody is the same in two tenants')
    })

    /**
     * The attack: the login is the one thing that anybody may write, and it goes into a query of a
     * database that we do not know.
     */
    await t.test('and SQL in the login is nobody', async (t) => {
      const attempts = [
        `' OR '1'='1`,
        `' OR 1=1 -- `,
        `x'; DROP TABLE people; --`,
        `${ADA}' --`,
        `\\' OR 1=1 #`,
        '%',
        '_'.repeat(20),
        '$1',
        '?',
        ':login',
        '\u02bc OR 1=1',
      ]
      for (const login of attempts)
        t.equal(await signIn(acme, login, PASSWORD), 'unknown_user', login)
      for (const login of [`${ADA}\0`, `\ud800${ADA}`, 'a\u0007'])
        t.equal(await signIn(acme, login, PASSWORD), 'unknown_user', 'what no text is')
      t.equal(await signIn(acme, ADA, PASSWORD), 'ok', 'and the table is still there')
    })

    await t.test('unless the directory, or an operator, has disabled them', async (t) => {
      const { user } = await okOf(services.users.authenticate(acme, 'bcrypt-2a', PASSWORD))
      await database.run("UPDATE people SET blocked = true WHERE login = 'bcrypt-2a'", 'app')
      t.equal(await signIn(acme, 'bcrypt-2a', PASSWORD), 'disabled')
      t.equal(await signIn(acme, 'bcrypt-2a', 'wrong'), 'wrong_password', 'only the owner is told')
      await database.run("UPDATE people SET blocked = false WHERE login = 'bcrypt-2a'", 'app')
      t.equal(await signIn(acme, 'bcrypt-2a', PASSWORD), 'ok')
      const patched = await operator('PATCH', `/tenants/${acme}/users/${user.userId}`, {
        disabled: true,
      })
      t.equal(patched.status, 200)
      t.equal(await signIn(acme, 'bcrypt-2a', PASSWORD), 'disabled')
    })

    await t.test('or the directory has lost them, or their hash, or has two of them', async (t) => {
      await database.run("UPDATE people SET login = 'gone' WHERE login = 'bcrypt-2b'", 'app')
      t.equal(await signIn(acme, 'bcrypt-2b', PASSWORD), 'unknown_user')
      await database.run("UPDATE people SET secret = NULL WHERE login = 'bcrypt-2y'", 'app')
      t.equal(await signIn(acme, 'bcrypt-2y', PASSWORD), 'hash_unusable')
      await database.run("UPDATE people SET secret = 'plain text' WHERE login = 'bcrypt-2y'", 'app')
      t.equal(await signIn(acme, 'bcrypt-2y', 'plain text'), 'hash_unusable')
      const twin = "(900, 'twin', 'one@people.test', 'One', 'x', false)"
      const other = "(901, 'twin', 'two@people.test', 'Two', 'x', false)"
      await database.run(`INSERT INTO people VALUES ${twin}, ${other}`, 'app')
      t.equal(await signIn(acme, 'twin', PASSWORD), 'ambiguous')
    })

    await t.test('and what the directory changes about them is changed here', async (t) => {
      const login = 'passlib-scrypt'
      const before = await okOf(services.users.authenticate(acme, login, PASSWORD))
      const rename = `UPDATE people SET email = 'new@people.test', full_name = 'New Name'`
      await database.run(`${rename} WHERE login = '${login}'`, 'app')
      const after = await okOf(services.users.authenticate(acme, login, PASSWORD))
      t.equal(after.user.userId, before.user.userId)
      t.match(after.user, {
        email: 'new@people.test',
        emailKey: 'new@people.test',
        name: 'New Name',
      })
      t.same(after.user, await services.users.get(acme, before.user.userId), 'and kept')
    })

    /** The attack: numbers that are given again, or another database under the same settings. */
    await t.test('but an id that is suddenly somebody else is let in as nobody', async (t) => {
      await okOf(services.users.authenticate(acme, 'django-scrypt', PASSWORD))
      const other = "login = 'eve', email = 'eve@people.test'"
      await database.run(`UPDATE people SET ${other} WHERE login = 'django-scrypt'`, 'app')
      t.equal(await signIn(acme, 'eve', PASSWORD), 'directory_account_unusable')
      t.equal(await signIn(acme, 'eve', 'wrong'), 'wrong_password')
      const { items } = await operator('GET', `/tenants/${acme}/users?limit=200`)
      const old = items.find(({ username }) => username === 'django-scrypt')
      t.match(old, { source: 'directory' })
      await operator('DELETE', `/tenants/${acme}/users/${String(old?.['user_id'])}`)
      t.equal(await signIn(acme, 'eve', PASSWORD), 'ok', 'until the old record is removed')
    })

    await t.test('and an address that an own user has is refused', async (t) => {
      const mixed = await tenant('mixed')
      await services.directories.remove(mixed, { name: 'operator', requestId: 'test' })
      const own = await operator('POST', `/tenants/${mixed}/users`, {
        username: 'ada.own',
        email: ADA_EMAIL,
        password: 'an own password that is long',
      })
      t.equal(own.status, 201)
      await api.put(mixed, settingsOf(database))
      t.equal(await signIn(mixed, ADA, PASSWORD), 'directory_account_unusable')
      t.equal(await signIn(mixed, ADA, 'wrong'), 'wrong_password', 'only the owner is told')
    })

    await t.test('and only they: a directory is the only source while it is set', async (t) => {
      const mixed = 'mixed'
      const password = 'an own password that is long'
      t.not(await signIn(mixed, 'ada.own', password), 'ok')
      t.equal((await operator('DELETE', api.path(mixed))).status, 204)
      t.equal(await signIn(mixed, 'ada.own', password), 'ok')
      t.not(await signIn(mixed, ADA, PASSWORD), 'ok')
    })

    await t.test('and nobody sets a password or a name for them here', async (t) => {
      const { user } = await okOf(services.users.authenticate(acme, ADA, PASSWORD))
      const path = `/tenants/${acme}/users/${user.userId}`
      for (const patch of [
        { password: 'another long password' },
        { email: 'x@y.test' },
        { username: 'someone' },
        { name: 'N' },
      ])
        t.match(await operator('PATCH', path, patch), {
          status: 409,
          body: { error: 'user_elsewhere', field: Object.keys(patch)[0] },
        })
      t.equal(await signIn(acme, ADA, 'another long password'), 'wrong_password')
    })

    /** The attack: an id that people choose, or that the driver does not spell as the database does. */
    await t.test('and what the database tells apart is never one person', async (t) => {
      for (const [at, { type, ids, texts }] of ID_COLUMNS[database.kind].entries()) {
        await database.run(`CREATE TABLE ids (id ${type} PRIMARY KEY, login VARCHAR(20))`, 'app')
        const rows = ids.map((id, index) => `(${id}, 'ids${index}')`)
        await database.run(`INSERT INTO ids VALUES ${rows.join()}`, 'app')
        const readers = isPostgres ? 'ids TO reader' : "app.ids TO reader@'%'"
        await database.run(`GRANT SELECT ON ${readers}`, 'app')
        const held = await tenant(`ids-${at}`, { query: ID_QUERIES[database.kind] })
        const found = ids.map(async (_, index) =>
          services.users.authenticate(held, `ids${index}`, PASSWORD).then(
            (answer) => answer.kind === 'ok' && answer.user.userId,
            (error: unknown) => (error as { code?: string }).code,
          ),
        )
        const wanted = texts.map((id) =>
          id === null ? 'directory_account_unusable' : shadowIdOf(held, id),
        )
        t.same(await Promise.all(found), wanted, type)
        await database.run('DROP TABLE ids', 'app')
      }
    })

    await t.test('as text of any length and script', async (t) => {
      const email = 'grüße@people.test'
      const row = `(950, 'größe', '${email}', 'Größe 大', '${PEOPLE[0]?.hash ?? ''}', false)`
      await database.run(`INSERT INTO people VALUES ${row}`, 'app')
      const { user } = await okOf(
        services.users.authenticate(acme, 'GRÖSSE'.replace('SS', 'ß'), PASSWORD),
      )
      t.match(user, { username: 'größe', email, name: 'Größe 大' })
      await database.run("UPDATE people SET full_name = repeat('x', 300) WHERE id = 950", 'app')
      t.equal(await signIn(acme, 'größe', PASSWORD), 'directory_account_unusable')
      await database.run("UPDATE people SET full_name = 'x', email = NULL WHERE id = 950", 'app')
      t.equal(await signIn(acme, 'größe', PASSWORD), 'directory_account_unusable')
    })

    await t.test('a query that hangs ends, and so does the wait of whoever asked', async (t) => {
      await api.tenant('slow')
      const slow = isPostgres
        ? 'SELECT people.* FROM people, pg_sleep(30) WHERE lower(login) = $1'
        : 'SELECT * FROM people WHERE lower(login) = ? AND SLEEP(30) = 0'
      const answer = await api.put('slow', { ...settingsOf(database, { query: slow }), login: ADA })
      t.match(answer, { status: 409, body: { error: 'directory_refused', field: 'query' } })
      t.match(answer.body['detail'], /did not answer the query in time/)
    })
  })
}

async function okOf<T extends { kind: string }>(answer: Promise<T>) {
  const result = await answer
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result))
  return result as Extract<T, { kind: 'ok' }>
}
