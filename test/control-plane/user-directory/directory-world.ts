/** A table of users as an application would have it, in either database, and the API before it. */
import type { TestMariaDb } from '../../support/mariadb.ts'
import type { TestPostgres } from '../../support/postgres.ts'
import { startApi } from '../../support/api.ts'
import { FOREIGN_HASHES, FOREIGN_PASSWORD } from './foreign-hashes.ts'

export type TestDatabase = TestPostgres | TestMariaDb
export { FOREIGN_PASSWORD as PASSWORD }

export const READER = { username: 'reader', password: 'reads "only" \'and\' \\ nothing else' }

const KINDS = Object.keys(FOREIGN_HASHES) as (keyof typeof FOREIGN_HASHES)[]

/** One person for each kind of hash: `django-argon2@people.test`. */
export const PEOPLE = KINDS.map((kind, at) => ({
  id: at + 1,
  username: kind.replaceAll(' ', '-').toLowerCase(),
  email: `${kind.replaceAll(' ', '-')}@People.test`,
  name: `Person of ${kind}`,
  hash: FOREIGN_HASHES[kind],
}))

export const ADA = 'argon2-cffi-argon2id'
export const ADA_EMAIL = `${ADA}@people.test`

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Fills a fresh server: the table, and a user who may only read it. */
export async function fillDatabase(database: TestDatabase): Promise<void> {
  const isPostgres = database.kind === 'postgres'
  const rows = PEOPLE.map(
    ({ id, username, email, name, hash }) =>
      `(${id}, ${[username, email, name, hash].map(literal).join(', ')}, false)`,
  )
  const table = `CREATE TABLE people (id BIGINT PRIMARY KEY, login VARCHAR(200) NOT NULL,
    email VARCHAR(200), full_name VARCHAR(400), secret TEXT, blocked BOOLEAN NOT NULL)`
  const password = READER.password.replaceAll("'", "''")
  if (isPostgres) {
    await database.run('CREATE DATABASE app')
    await database.run(table, 'app')
    await database.run(`INSERT INTO people VALUES ${rows.join()}`, 'app')
    await database.run(`CREATE USER reader PASSWORD '${password}'`)
    await database.run('GRANT SELECT, INSERT, UPDATE, DELETE ON people TO reader', 'app')
    await database.run('CREATE TABLE hidden (email TEXT)', 'app')
  } else {
    await database.run('CREATE DATABASE app CHARACTER SET utf8mb4')
    await database.run(table, 'app')
    await database.run(`INSERT INTO people VALUES ${rows.join()}`, 'app')
    const escaped = password.replaceAll('\\', '\\\\')
    await database.run(`CREATE USER reader@'%' IDENTIFIED BY '${escaped}'`)
    await database.run("GRANT SELECT, INSERT, UPDATE, DELETE ON app.people TO reader@'%'")
    await database.run('CREATE TABLE hidden (email TEXT)', 'app')
  }
}

export const QUERIES = {
  postgres: 'SELECT * FROM people WHERE lower(email) = $1 OR lower(login) = $1',
  mysql: 'SELECT * FROM people WHERE ? IN (lower(email), lower(login))',
} as const

export const COLUMNS = {
  id: 'id',
  username: 'login',
  email: 'email',
  name: 'full_name',
  password_hash: 'secret',
  disabled: 'blocked',
}

export function settingsOf({ kind, port }: TestDatabase, changes: Record<string, unknown> = {}) {
  return {
    kind,
    host: '127.0.0.1',
    port,
    database: 'app',
    ...READER,
    tls: 'off',
    query: QUERIES[kind],
    columns: COLUMNS,
    ...changes,
  }
}

export async function startDirectoryApi(...args: Parameters<typeof startApi>) {
  const api = await startApi(...args)
  const path = (tenantId: string) => `/tenants/${tenantId}/user-directory`
  const { users } = api.services

  return {
    ...api,
    path,
    put: (tenantId: string, settings: unknown) => api.operator('PUT', path(tenantId), settings),
    /** What a sign-in with these would come to, in one word. */
    async signIn(tenantId: string, login: string, password: string): Promise<string> {
      try {
        const result = await users.authenticate(tenantId, login, password)
        return result.kind === 'ok' ? 'ok' : result.reason
      } catch (error) {
        return (error as { code?: string }).code ?? String(error)
      }
    },
  }
}

export type DirectoryApi = Awaited<ReturnType<typeof startDirectoryApi>>
