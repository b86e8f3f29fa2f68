/** An empty database is made without the steps of its migrations, and is what those would have made. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { folded } from '../../../control-plane/store/migrations/folded.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { temporaryFolder } from '../../support/control-plane.ts'

interface Named {
  readonly type: string
  readonly name: string
  readonly tbl_name: string
  readonly sql: string | null
}

/** A database as these migrations leave it, one after the other; its file. */
function stepByStep(t: Test, count: number): string {
  const file = join(temporaryFolder(t), 'steps.db')
  const database = new Database(file)
  database.exec('CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)')
  for (const { name, statements } of migrations.slice(0, count)) {
    for (const statement of statements) database.exec(statement)
    database.prepare('INSERT INTO migrations VALUES (?, 1)').run(name)
  }
  database.close()
  return file
}

/** Table by table: how it is written, its indexes in their order, and its rows. */
function contentOf(t: Test, file: string) {
  const database = new Database(file, { readonly: true })
  t.teardown(() => database.close())
  const all = database
    .prepare<[], Named>('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid')
    .all()
  const written = (sql: string | null) => sql?.replaceAll(/\s+/g, ' ') ?? null
  const tables = all.filter(({ type }) => type === 'table').map(({ name }) => name)
  return tables.sort().map((table) => ({
    table,
    made: all
      .filter((one) => one.tbl_name === table)
      .map(({ type, name, sql }) => ({ type, name, sql: written(sql) })),
    rows:
      table === 'migrations'
        ? database.prepare('SELECT name FROM migrations ORDER BY rowid').all()
        : database.prepare(`SELECT * FROM ${table}`).all(),
  }))
}

void t.test('what is made at once is what the steps make', async (t) => {
  const file = join(temporaryFolder(t), 'at-once.db')
  await openSqlite(file).close()
  const steps = contentOf(t, stepByStep(t, migrations.length))
  t.ok(steps.length > 80)
  t.strictSame(contentOf(t, file), steps)
})

void t.test('where there are tables already, each step that is missing is made', async (t) => {
  const whole = contentOf(t, stepByStep(t, migrations.length))
  for (const count of [1, Math.floor(migrations.length / 2), migrations.length - 1]) {
    const file = stepByStep(t, count)
    await openSqlite(file).close()
    t.strictSame(contentOf(t, file), whole, `from the first ${count}`)
  }
})

void t.test('a step that cannot be folded is said, and not left out', async (t) => {
  const fold = (...statements: string[]) => folded([{ statements }])
  t.throws(() => fold('CREATE VIEW all_of_it AS SELECT 1'), { message: /CREATE VIEW/ })
  t.throws(() => fold('CREATE TABLE a (b TEXT)', 'ALTER TABLE a RENAME TO c'), {
    message: /RENAME TO c/,
  })
  t.throws(() => fold('CREATE TABLE a (b TEXT)', 'ALTER TABLE a DROP COLUMN c'), {
    message: /DROP COLUMN c/,
  })
  t.same(
    fold(
      'CREATE TABLE a (b TEXT, c TEXT, PRIMARY KEY (b, c))',
      'CREATE INDEX by_c ON a (c)',
      'ALTER TABLE a ADD COLUMN d BIGINT NOT NULL DEFAULT 0',
      'DROP INDEX by_c',
      'ALTER TABLE a DROP COLUMN c',
      "INSERT INTO a VALUES ('first', 0)",
      'UPDATE a SET d = 1',
    ),
    [
      'CREATE TABLE a (b TEXT, d BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (b, c))',
      "INSERT INTO a VALUES ('first', 0)",
    ],
  )
})
