/**
 * Databases as they are behind the last migration: made once in a process, and copied. With
 * `TEST_DATABASE=postgres` each file stands for a database of a server of this process.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../../control-plane/store/engine.ts'
import { openPostgres } from '../../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../../control-plane/store/engines/postgres-address.ts'
import { openSqlite } from '../../control-plane/store/engines/sqlite.ts'
import { ADMIN, startPostgres, UNTIL_THE_END, type TestPostgres } from './postgres.ts'

export const ON_POSTGRES = process.env['TEST_DATABASE'] === 'postgres'

let migrated: Promise<string> | undefined

/** What a start would have made of a file that is not there yet. */
export async function newDatabase(file: string): Promise<string> {
  if (ON_POSTGRES) await newPostgres(file)
  else copyFileSync(await (migrated ??= migrate()), file)
  return file
}

/** Of either kind; one that is not there yet is made. */
export async function openDatabase(file: string): Promise<Engine> {
  if (!ON_POSTGRES) return openSqlite(file)
  return openPostgres(postgresAddress(await postgresUrl(file)))
}

async function migrate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'migrated-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'service.db')
  await openSqlite(file).close()
  return file
}

const TEMPLATE = 'migrated'
/** What a database is made of, and how. */
let template = TEMPLATE
let server: Promise<TestPostgres> | undefined
const made = new Map<string, Promise<unknown>>()

/** The server of this process. */
export function ownPostgres(): Promise<TestPostgres> {
  server ??= startPostgres(UNTIL_THE_END).then(async (own) => {
    await own.run(`CREATE DATABASE ${TEMPLATE}`)
    await (await openPostgres(postgresAddress(urlOf(own.port, TEMPLATE)))).close()
    const { rows } = await own.run('SHOW server_version_num')
    const [{ server_version_num: version }] = rows as [{ server_version_num: string }]
    // page by page and through its log, as newer ones do unless they are told, is twice the work
    if (Number(version) >= 150_000) template += ' STRATEGY file_copy'
    own.unref()
    return own
  })
  return server
}

/** Of the database that stands for this file. */
export async function postgresUrl(file: string): Promise<string> {
  await newPostgres(file)
  return urlOf((await ownPostgres()).port, nameOf(file))
}

async function newPostgres(file: string) {
  const name = nameOf(file)
  const { run } = await ownPostgres()
  await made.getOrInsertComputed(name, () => run(`CREATE DATABASE ${name} TEMPLATE ${template}`))
}

/** A file that was copied from another one is no database of its own. */
export function existsDatabase(file: string): boolean {
  return ON_POSTGRES ? made.has(nameOf(file)) : existsSync(file)
}

const nameOf = (file: string) => `t${createHash('sha256').update(file).digest('hex').slice(0, 20)}`

const urlOf = (port: number, database: string) =>
  `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${port}/${database}`
