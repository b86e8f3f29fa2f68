/**
 * `npm run control-plane -- copy --from sqlite:FILE --to postgres://…`: all of a database that nobody
 * uses into an empty one, in one transaction, and read back before it is kept. Values are carried as
 * they are stored, without what tables say about them.
 */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import Database from 'better-sqlite3'
import { ConfigError } from '../../shared/config/config.ts'
import { sql, type SQL } from '../store/drizzle.ts'
import type { Queries } from '../store/engine.ts'
import { DatabaseProblem, openServer, type Opened } from '../store/engines/server.ts'
import { openSqlite } from '../store/engines/sqlite.ts'
import { beginEpoch } from '../store/queries/epoch.ts'
import { RecoveryProblem } from './problem.ts'
import { copyDatabase, holdAlone, keepPrivate, removeDatabase } from './sqlite-files.ts'

type Say = (line: string) => void
type Row = readonly unknown[]

interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** The places of its primary key. */
  readonly key: readonly number[]
}

/** What can be compared of a table: how many rows, and all of them in the order of their keys. */
interface Content {
  readonly rows: number
  readonly hash: string
}

const ROWS_PER_STATEMENT = 100
const BYTES_PER_STATEMENT = 1_000_000
/** Who has the database. */
const HOLDER = 'control_plane'

export async function copy(from: string, to: string, say: Say): Promise<void> {
  const [, file] = /^sqlite:(.+)$/s.exec(from) ?? []
  if (file === undefined)
    throw new RecoveryProblem(`--from: expected sqlite:FILE, got ${JSON.stringify(from)}`)
  if (!/^postgres(?:ql)?:\/\//.test(to))
    throw new RecoveryProblem('--to: expected postgres://user:password@host:5432/database')
  const path = resolve(file)
  const draft = `${path}.copied`
  const held = holdAlone(path) // to the end: whoever starts meanwhile does not get it
  removeDatabase(draft)
  try {
    await copyDatabase(path, draft, held)
    await openSqlite(draft).close() // its migrations, while the original stays as it is
    keepPrivate(draft)
    await copyInto(draft, to, say)
    say(`${path} is as it was. Keep it, but start no control plane on it again.`)
    say('Now set control_plane.database to the new one, keep the same master key, and start.')
  } finally {
    removeDatabase(draft)
    held.close()
  }
}

async function copyInto(file: string, to: string, say: Say): Promise<void> {
  const source = new Database(file, { readonly: true })
  try {
    const tables = tablesOf(source)
    const wanted = new Map(tables.map((table) => [table.name, contentOf(source, table)]))
    const { engine } = await openTarget(to)
    try {
      await engine.transaction(async (queries) => {
        await refuseFilled(queries, tables)
        for (const table of tables) await fill(queries, source, table)
        for (const table of tables) await compare(queries, table, wanted.get(table.name) as Content)
        // the two go on apart: no revision may mean one thing there and another here
        await beginEpoch(queries, engine.numbers)
      })
    } finally {
      await engine.close()
    }
    for (const [name, { rows, hash }] of wanted)
      if (rows > 0) say(`${name.padEnd(24)}${String(rows).padStart(9)} rows  ${hash.slice(0, 16)}`)
    const rows = [...wanted.values()].reduce((sum, one) => sum + one.rows, 0)
    say(`Copied ${rows} rows of ${tables.length} tables, read back and compared: all are the same.`)
  } finally {
    source.close()
  }
}

/** Held like a control plane holds it: a running one is told of, and none starts meanwhile. */
async function openTarget(to: string): Promise<Opened> {
  try {
    return await openServer(to, { isAlone: true })
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof DatabaseProblem)) throw error
    throw new RecoveryProblem(error.message.replace(/^control_plane\.database/, '--to'))
  }
}

function tablesOf(source: Database.Database): Table[] {
  const names = source
    .prepare<[], { name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table'
        AND name NOT LIKE 'sqlite_%' AND name <> 'migrations' ORDER BY name`,
    )
    .all()
  return names.map(({ name }) => {
    const columns = source.pragma(`table_info(${name})`) as { name: string; pk: number }[]
    const key = columns
      .map(({ pk }, place) => ({ pk, place }))
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
    return {
      name,
      columns: columns.map((column) => column.name),
      key: key.map(({ place }) => place),
    }
  })
}

const keyOf = ({ columns, key }: Table) => key.map((place) => columns[place] as string)
const isTheirs = ({ name }: Table) => (name === 'facts' ? `name <> '${HOLDER}'` : 'true')

function* rowsOf(source: Database.Database, table: Table, order: string): Generator<Row> {
  const text = `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${isTheirs(table)} ORDER BY ${order}`
  yield* source.prepare<[], Row>(text).raw().iterate()
}

function contentOf(source: Database.Database, table: Table): Content {
  const content = startContent()
  for (const row of rowsOf(source, table, keyOf(table).join(', '))) {
    refuseUncarried(row, table)
    content.add(row)
  }
  return content.whole()
}

function startContent() {
  const hash = createHash('sha256')
  let rows = 0
  return {
    add(row: Row) {
      rows++
      hash.update(`${JSON.stringify(row)}\n`)
    },
    whole: (): Content => ({ rows, hash: hash.digest('hex') }),
  }
}

/** What the other one could not store; before anything is written. */
function refuseUncarried(row: Row, table: Table) {
  for (const [place, value] of row.entries()) {
    const isText = typeof value === 'string'
    if (value === null || Number.isSafeInteger(value) || (isText && !value.includes('\0'))) continue
    const what = isText ? 'a text with a NUL' : `a value that is no text and no whole number`
    const key = JSON.stringify(table.key.map((at) => row[at]))
    throw new RecoveryProblem(
      `${table.columns[place]} of ${table.name} ${key} is ${what}, which PostgreSQL does not store; nothing was copied`,
    )
  }
}

/** Only what migrations have made, and who has it. */
async function refuseFilled(queries: Queries, tables: readonly Table[]) {
  for (const table of tables) {
    if (table.name === 'counters') continue
    const is = sql.raw(`SELECT 1 FROM ${table.name} WHERE ${isTheirs(table)} LIMIT 1`)
    if ((await queries.values(is)).length > 0)
      throw new RecoveryProblem(
        `--to: that database is in use: ${table.name} has rows. Copy into a new, empty one`,
      )
  }
  await queries.run(sql`DELETE FROM counters`)
}

/** In the order in which they have come, where that counts. */
async function fill(queries: Queries, source: Database.Database, table: Table) {
  const head = sql.raw(`insert into ${table.name} (${table.columns.join(', ')}) values `)
  let some: SQL[] = []
  let bytes = 0
  const write = async () => {
    if (some.length > 0) await queries.run(sql`${head}${sql.join(some, sql`, `)}`)
    some = []
    bytes = 0
  }
  for (const row of rowsOf(source, table, 'rowid')) {
    const values = row.map((value) => sql`${value}`)
    some.push(sql`(${sql.join(values, sql`, `)})`)
    for (const value of row) bytes += typeof value === 'string' ? value.length : 8
    if (some.length === ROWS_PER_STATEMENT || bytes > BYTES_PER_STATEMENT) await write()
  }
  await write()
}

async function compare(queries: Queries, table: Table, wanted: Content) {
  const content = startContent()
  for await (const row of storedRows(queries, table)) content.add(row)
  const found = content.whole()
  if (found.rows === wanted.rows && found.hash === wanted.hash) return
  throw new RecoveryProblem(
    `${table.name} is not the same there: ${found.rows} rows of ${wanted.rows}, or another content; nothing was copied`,
  )
}

async function* storedRows(queries: Queries, table: Table): AsyncGenerator<Row> {
  const key = keyOf(table).join(', ')
  const head = sql.raw(
    `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${isTheirs(table)}`,
  )
  const tail = sql.raw(` ORDER BY ${key} LIMIT ${ROWS_PER_STATEMENT}`)
  let after = sql``
  for (;;) {
    const rows = await queries.values<unknown[]>(sql`${head}${after}${tail}`)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    const values = table.key.map((place) => sql`${last[place]}`)
    after = sql` AND (${sql.raw(key)}) > (${sql.join(values, sql`, `)})`
  }
}
