/** Copies of SQLite databases: taken while a control plane runs, and put back while none does. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { migrations } from '../store/migrations/migrations.ts'
import { RecoveryProblem } from './problem.ts'

const PRIVATE = 0o600
/** So much at a time, so that changes of the control plane go on between. */
const PAGES_PER_STEP = 256

/** Checks the copy before it gets its name: a file of that name is a good one. */
export async function copyDatabase(
  from: string,
  to: string,
  held?: Database.Database,
): Promise<void> {
  if (!existsSync(from)) throw new RecoveryProblem(`${from}: there is no such file`)
  if (existsSync(to))
    throw new RecoveryProblem(`${to} already exists; choose another name, or remove it first`)
  const draft = `${to}.part`
  removeDatabase(draft)
  try {
    closeSync(openSync(draft, 'wx', PRIVATE))
    const source = held ?? open(from, { readonly: true, fileMustExist: true })
    try {
      if (source !== held) readOneMoment(source)
      await source.backup(draft, { progress: () => PAGES_PER_STEP })
    } finally {
      if (source !== held) source.close()
    }
    fold(draft)
    check(draft, from)
    keepOnDisk(draft)
    renameSync(draft, to)
    keepOnDisk(dirname(to))
  } catch (error) {
    removeDatabase(draft)
    throw asProblem(error, from)
  }
}

/**
 * SQLite begins a copy anew when another program has written between two steps of it: beside a
 * control plane with work it would never end. What is read in one transaction does not change.
 */
function readOneMoment(source: Database.Database): void {
  source.exec('BEGIN')
  source.pragma('schema_version') // the transaction begins with what it reads first
}

/** Nobody has it open. Nothing of it is changed. */
export function requireAlone(file: string): void {
  if (!existsSync(file)) return
  let database: Database.Database | undefined
  try {
    database = open(file, { timeout: 0 })
    database.pragma('locking_mode = EXCLUSIVE')
    database.pragma('user_version') // a first read, which takes the lock
  } catch (error) {
    if (isOf(error, 'SQLITE_BUSY', 'SQLITE_LOCKED'))
      throw new RecoveryProblem(
        `${file} is open in another program; stop the control plane, then try again`,
      )
    // who cannot be read is replaced all the same
    if (!isOf(error, 'SQLITE_NOTADB', 'SQLITE_CORRUPT')) throw error
  } finally {
    database?.close()
  }
}

/** Nobody has it open, and nobody gets it until this is closed. */
export function holdAlone(file: string): Database.Database {
  if (!existsSync(file)) throw new RecoveryProblem(`${file}: there is no such file`)
  requireAlone(file)
  const database = open(file, { timeout: 0, fileMustExist: true })
  try {
    database.pragma('locking_mode = EXCLUSIVE')
    database.exec('BEGIN EXCLUSIVE; COMMIT') // a lock that outlives the transaction, in any mode
    return database
  } catch (error) {
    database.close()
    throw asProblem(error, file)
  }
}

/** All of it in the one file, which can be read without anything being written beside it. */
function fold(file: string): void {
  const database = open(file, {})
  try {
    database.pragma('journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/** In one step: at no time there is no database. The one before is kept under the other name. */
export function replaceDatabase(file: string, by: string, kept: string): void {
  fold(by)
  // what was in its log is in the file since `requireAlone`, or cannot be read anyway
  for (const rest of logsOf(file)) rmSync(rest, { force: true })
  if (existsSync(file)) linkSync(file, kept)
  renameSync(by, file)
  keepOnDisk(dirname(file))
}

export function removeDatabase(file: string): void {
  for (const each of [file, ...logsOf(file)]) rmSync(each, { force: true })
}

const logsOf = (file: string) => ['-wal', '-shm', '-journal'].map((end) => `${file}${end}`)

function check(file: string, from: string): void {
  const database = open(file, { readonly: true })
  try {
    const found: unknown = database.pragma('integrity_check(1)', { simple: true })
    if (found !== 'ok') throw new RecoveryProblem(`${from} is damaged: ${String(found)}`)
    const known = new Set<string>(migrations.map(({ name }) => name))
    const names = database.prepare<[], { name: string }>('SELECT name FROM migrations').all()
    const unknown = names.find(({ name }) => !known.has(name))
    if (unknown !== undefined)
      throw new RecoveryProblem(
        `${from} was written by a newer version (it has migration ${unknown.name}); use that version`,
      )
  } finally {
    database.close()
  }
}

function open(file: string, options: Database.Options): Database.Database {
  return new Database(file, options)
}

function keepOnDisk(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The mode of what SQLite made beside it. */
export function keepPrivate(file: string): void {
  for (const each of [file, ...logsOf(file)]) if (existsSync(each)) chmodSync(each, PRIVATE)
}

const isOf = (error: unknown, ...codes: readonly string[]) =>
  codes.some((code) => (error as { code?: string }).code?.startsWith(code))

function asProblem(error: unknown, from: string): unknown {
  if (error instanceof RecoveryProblem) return error
  if (isOf(error, 'SQLITE_NOTADB') || /no such table: migrations/.test((error as Error).message))
    return new RecoveryProblem(`${from} is not a database of this service`)
  if (isOf(error, 'SQLITE_CORRUPT')) return new RecoveryProblem(`${from} is damaged`)
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'ENOSPC' || code === 'ENOENT' || isOf(error, 'SQLITE'))
    return new RecoveryProblem(`the copy of ${from} failed: ${(error as Error).message}`)
  return error
}
