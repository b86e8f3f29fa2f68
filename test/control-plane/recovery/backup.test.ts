/** A backup of a database that somebody writes to all the time. */
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import Database from 'better-sqlite3'
import t from 'tap'
import { copyDatabase } from '../../../control-plane/recovery/sqlite-files.ts'
import { migrations } from '../../../control-plane/store/migrations/migrations.ts'
import { temporaryFolder } from '../../support/control-plane.ts'

const ROWS = 4000
const ROW_BYTES = 4096
/** A copy of sixteen megabytes is done long before. */
const CHANGES_MAX = 2000

void t.test('it comes to an end, and is the state of one moment', async (t) => {
  const folder = temporaryFolder(t)
  const [file, backup] = [join(folder, 'service.db'), join(folder, 'backup.db')]
  const writer = new Database(file)
  writer.pragma('journal_mode = WAL')
  writer.exec('CREATE TABLE migrations (name TEXT, applied_at INTEGER)')
  writer.exec(
    'CREATE TABLE written (one INTEGER, filling BLOB); CREATE TABLE counted (all_of INTEGER)',
  )
  writer.prepare('INSERT INTO migrations VALUES (?, 1)').run(migrations[0]?.name)
  writer.exec('INSERT INTO counted VALUES (0)')
  const count = writer.prepare('UPDATE counted SET all_of = all_of + 1')
  const write = writer.prepare(`INSERT INTO written VALUES (?, zeroblob(${ROW_BYTES}))`)
  const change = writer.transaction((one: number) => {
    write.run(one)
    count.run()
  })
  writer.transaction(() => {
    for (let one = 0; one < ROWS; one++) change(one)
  })()

  let isDone = false
  const copy = copyDatabase(file, backup).finally(() => (isDone = true))
  let changes = 0
  for (; !isDone && changes < CHANGES_MAX; changes++) {
    change(ROWS + changes)
    await breathe()
  }
  t.ok(isDone, `it is done while changes go on (${changes})`)
  await copy
  writer.close()
  const read = new Database(backup, { readonly: true })
  const rows = read.prepare('SELECT count(*) FROM written').pluck().get()
  t.equal(rows, read.prepare('SELECT all_of FROM counted').pluck().get())
  t.ok(Number(rows) >= ROWS, 'what was there before')
  t.same(read.prepare('SELECT max(one) + 1 FROM written').pluck().get(), rows, 'without a gap')
  read.close()
})
