/** Rooms of the control plane once more, with Postgres as their database. */
import { globSync, readFileSync } from 'node:fs'
import t from 'tap'

/** What looks into a file of SQLite’s, or at its plans: it is about that database. */
const ABOUT_SQLITE = /better-sqlite3|openSqlite|endpoint-world|filled-store|copyFileSync/

export async function onPostgres(...places: readonly string[]): Promise<void> {
  process.env['TEST_DATABASE'] = 'postgres'
  t.teardown(() => delete process.env['TEST_DATABASE'])
  const root = new URL('../../', import.meta.url)
  for (const place of places)
    for (const file of globSync(`test/control-plane/${place}.test.ts`, { cwd: root }).sort()) {
      const url = new URL(file, root)
      if (!ABOUT_SQLITE.test(readFileSync(url, 'utf8'))) await import(url.href)
    }
}
