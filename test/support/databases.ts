/** Databases as they are behind the last migration: made once in a process, and copied. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../control-plane/store/sqlite.ts'

let migrated: Promise<string> | undefined

/** What a start would have made of a file that is not there yet. */
export async function newDatabase(file: string): Promise<string> {
  copyFileSync(await (migrated ??= migrate()), file)
  return file
}

async function migrate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'migrated-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'service.db')
  await openSqlite(file).close()
  return file
}
