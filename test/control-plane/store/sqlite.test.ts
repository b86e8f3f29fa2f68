import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { openStore } from '../../../control-plane/store/store.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock, temporaryFolder } from '../../support/control-plane.ts'

void t.test(
  'another program’s lock holds up changes and nothing else, and not for ever',
  async (t) => {
    const file = join(temporaryFolder(t), 'service.db')
    const store = await openStore(openSqlite(file, 0), movableClock())
    t.teardown(() => store.close())
    const other = new Database(file)
    t.teardown(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    await t.rejects(
      store.change(() => Promise.resolve()),
      { code: 'unavailable' },
    )
    t.equal(await store.revision(), 0, 'what only reads goes on')
    t.equal(LIMITS.storeBusyMsMax, 5000)

    const patient = await openStore(openSqlite(`${file}2`), movableClock())
    t.teardown(() => patient.close())
    const second = new Database(`${file}2`)
    t.teardown(() => second.close())
    second.exec('BEGIN IMMEDIATE')
    const changed = patient.change(() => Promise.resolve('done'))
    t.equal(await patient.revision(), 0)
    second.exec('COMMIT')
    t.equal(await changed, 'done')
  },
)

/** Calls `before` ahead of every attempt to begin a change. */
function atEachBegin(t: { teardown(work: () => void): void }, before: () => void) {
  const { exec } = Database.prototype
  t.teardown(() => void (Database.prototype.exec = exec))
  Database.prototype.exec = function (this: Database.Database, source: string) {
    if (source === 'BEGIN IMMEDIATE') before()
    return exec.call(this, source)
  }
}

void t.test('a queue of changes waits for another program together, not in turn', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const store = await openStore(openSqlite(file, 50), movableClock())
  t.teardown(() => store.close())
  const other = new Database(file)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  let attempts = 0
  atEachBegin(t, () => attempts++)
  const attemptsUntil: number[] = []
  const change = () =>
    store.change(() => Promise.resolve()).catch(() => void attemptsUntil.push(attempts))
  await Promise.all(Array.from({ length: 5 }, change))
  const [first = 0] = attemptsUntil
  t.equal(attemptsUntil.length, 5)
  t.ok(attempts - first <= 5, 'the time of the others had passed when their turn came')
})

void t.test('every way of being busy is waited for', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const store = await openStore(openSqlite(file), movableClock())
  t.teardown(() => store.close())
  const codes = ['SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_TIMEOUT']
  atEachBegin(t, () => {
    const code = codes.pop()
    if (code !== undefined) throw new Database.SqliteError('database is locked', code)
  })
  t.equal(await store.change(() => Promise.resolve('done')), 'done')
  t.strictSame(codes, [])
})
