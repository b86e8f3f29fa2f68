// long: has a PostgreSQL of its own, and fills every table
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { recoveryCommand } from '../../../control-plane/recovery/commands.ts'
import { holdAlone } from '../../../control-plane/recovery/sqlite-files.ts'
import { openPostgres } from '../../../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../../../control-plane/store/engines/postgres-address.ts'
import { holdDatabase } from '../../../control-plane/store/engines/postgres-holder.ts'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { asAdmin, newUrl, storeAt } from '../../support/postgres-store.ts'

const TEXTS = ['', 'Zoë 😀 "quoted" \\ \n\t', '{"a":1.0}', '\uffff', 'a', 'B']
const ROWS = 7
/** More than are read at once. */
const RECORDS = 230
const REVISION = 41

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly pk: number
}

const tablesIn = (database: Database.Database) =>
  database
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations' ORDER BY name",
    )
    .all()
    .map(({ name }) => name)

/** Rows in every table, in another order than that of their keys. */
async function filled(t: Test) {
  const dataDir = temporaryFolder(t)
  const file = join(dataDir, 'service.db')
  await openSqlite(file).close()
  const database = new Database(file)
  for (const table of tablesIn(database)) {
    const columns = database.pragma(`table_info(${table})`) as Column[]
    const insert = database.prepare(
      `INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`,
    )
    for (let at = table === 'realm_records' ? RECORDS : ROWS; at > 0; at--)
      insert.run(columns.map((column, place) => valueOf(column, at, place)))
  }
  database.prepare("INSERT INTO facts VALUES ('epoch', 'of the old one')").run()
  database.prepare(`INSERT INTO counters VALUES ('revision', ${REVISION})`).run()
  database.close()
  const said: string[] = []
  const settings = { database: 'sqlite', dataDir, masterKey: randomBytes(32) }
  const copy = (from: string, to: string) =>
    recoveryCommand(['copy', '--from', from, '--to', to])!.run(settings, (line) => {
      said.push(line)
    })
  return { dataDir, file, said, copy }
}

function valueOf({ name, type, notnull, pk }: Column, at: number, place: number) {
  if (name === 'sequence') return at // whoever comes next counts on from there
  if (notnull === 0 && pk === 0 && at % 3 === 0) return null
  if (type !== 'TEXT') return at === 1 ? Number.MAX_SAFE_INTEGER - place : at === 2 ? -at : at
  return `${TEXTS[(at + place) % TEXTS.length]}${at}`
}

const inPostgres = async (url: string, table: string, order: string) =>
  (await asAdmin(url, `SELECT * FROM ${table} ORDER BY ${order}`)).map((row) =>
    Object.values(row).map((value) => (/^-?\d+$/.test(String(value)) ? Number(value) : value)),
  )

t.test('everything is copied, compared, and told', async (t) => {
  const { dataDir, file, said, copy } = await filled(t)
  const before = readFileSync(file)
  const url = await newUrl()
  await copy(`sqlite:${file}`, url)
  t.ok(readFileSync(file).equals(before), 'the old one is as it was')
  t.same(readdirSync(dataDir), ['service.db'], 'nothing is left lying about')
  t.match(said.join('\n'), /^realm_records +230 rows {2}[0-9a-f]{16}$/m)
  t.match(said.join('\n'), /^Copied \d+ rows of \d+ tables, read back and compared/m)
  t.match(said.join('\n'), /start no control plane on it again/)

  const database = new Database(file, { readonly: true })
  const isNumbered = (value: unknown) => (/^-?\d+$/.test(String(value)) ? Number(value) : value)
  for (const table of tablesIn(database)) {
    const columns = database.pragma(`table_info(${table})`) as Column[]
    const key = columns.filter(({ pk }) => pk > 0).map(({ name }) => name)
    const rows = database.prepare<[], unknown[]>(`SELECT * FROM ${table} ORDER BY ${key.join()}`)
    const wanted = rows.raw().all()
    const found = await inPostgres(url, table, key.join())
    if (table === 'facts' || table === 'counters') continue
    t.strictSame(
      found.map((row) => row.slice(0, columns.length)),
      wanted.map((row) => row.map(isNumbered)),
      table,
    )
  }
  const arrived = await asAdmin(url, 'SELECT id_hash FROM realm_records ORDER BY rowid')
  t.strictSame(
    arrived,
    database.prepare('SELECT id_hash FROM realm_records ORDER BY rowid').all(),
    'in the order in which they have come',
  )

  database.close()

  const store = await storeAt(t, url)
  t.not(await store.epoch(), 'of the old one', 'revisions of the two are told apart')
  t.equal(await store.revision(), REVISION + LIMITS.fleetEpochRevisions)

  await t.rejects(copy(`sqlite:${file}`, url), {
    name: 'RecoveryProblem',
    message: /--to: that database is in use: \w+ has rows\. Copy into a new, empty one/,
  })
})

t.test('what cannot be copied leaves nothing behind', async (t) => {
  const { dataDir, file, copy } = await filled(t)
  const url = await newUrl()
  const from = `sqlite:${file}`
  const refused = async (message: RegExp, source = from, target = url) => {
    await t.rejects(copy(source, target), { name: 'RecoveryProblem', message })
    t.same(await asAdmin(url, "SELECT name FROM facts WHERE name <> 'control_plane'"), [])
    t.same(await asAdmin(url, 'SELECT 1 FROM users'), [])
    t.notOk(
      readdirSync(dataDir).some((name) => /copied|part/.test(name)),
      String(message),
    )
  }
  await refused(/--from: expected sqlite:FILE, got "service\.db"/, 'service.db')
  await refused(/nowhere\.db: there is no such file/, `sqlite:${dataDir}/nowhere.db`)
  await refused(/--to: expected postgres:\/\//, from, 'sqlite:other.db')
  await refused(/--to: expected .* the name of the database is missing/, from, 'postgres://db')
  await refused(/--to could not be opened: nobody listens/, from, 'postgres://u:p@127.0.0.1:1/a')

  const running = openSqlite(file)
  await refused(/service\.db is open in another program; stop the control plane/)
  await running.close()
  const other = await holdDatabase(await openPostgres(postgresAddress(url)), {
    self: { host: 'web-1', pid: 1, boot: 'one' },
    renewMs: 20,
  })
  await refused(/--to could not be opened: another control plane uses this database: process 1 on/)
  await other.engine.close()

  // what the other end makes of it: an error halfway, and what is quietly another thing
  const trigger = (body: string) =>
    asAdmin(
      url,
      `CREATE OR REPLACE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NEW; END $$;
       CREATE OR REPLACE TRIGGER spoil BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION spoil()`,
    )
  await trigger("RAISE EXCEPTION 'no room'")
  await t.rejects(copy(from, url), { message: /no room/ })
  await trigger("NEW.email := NEW.email || ' '")
  await refused(/users is not the same there: 7 rows of 7, or another content; nothing was copied/)
  await asAdmin(url, 'DROP TRIGGER spoil ON users')

  const database = new Database(file)
  database.prepare("UPDATE users SET email = 'a' || char(0) || 'b' WHERE rowid = 3").run()
  database.close()
  await refused(/email of users \["[^"]*"\] is a text with a NUL, .*; nothing was copied/)
  const again = new Database(file)
  again.prepare("UPDATE users SET email = 'mended', created_at = 1.5 WHERE rowid = 3").run()
  again.close()
  await refused(/created_at of users .* is a value that is no text and no whole number/)
  const mended = new Database(file)
  mended.prepare('UPDATE users SET created_at = 1 WHERE rowid = 3').run()
  mended.close()
  await copy(from, url)
  t.equal((await asAdmin(url, 'SELECT 1 FROM users')).length, ROWS)
})

t.test('nobody gets at the old one while it is copied', async (t) => {
  const { file } = await filled(t)
  for (const mode of ['WAL', 'DELETE']) {
    const before = new Database(file)
    before.pragma(`journal_mode = ${mode}`)
    before.close()
    const held = holdAlone(file)
    const late = new Database(file, { timeout: 0 })
    t.throws(() => late.exec('BEGIN IMMEDIATE'), { code: /^SQLITE_BUSY/ }, mode)
    late.close()
    held.close()
    await openSqlite(file).close()
  }
})

t.test('both ends are named', (t) => {
  const both = ['--from=sqlite:a', '--to', 'postgres://b/c']
  t.same(recoveryCommand(['copy', ...both, '--config', 'd'])!.rest, ['--config', 'd'])
  t.throws(() => recoveryCommand(['copy', '--from', 'sqlite:a']), { message: /--to is missing/ })
  t.throws(() => recoveryCommand(['copy', '--to=b', '--from=']), { message: /--from is missing/ })
  t.end()
})
