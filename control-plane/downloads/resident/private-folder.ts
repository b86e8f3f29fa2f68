/**
 * A folder that nobody but its owner can look into, and files in it that are whole or not there.
 * What others can read, or could have put there, is refused with the command that mends it.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import * as fileSystem from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { visibleText } from '../command-line/words.ts'
import { Problem } from '../command-line/exit.ts'

/** A test lets one of them fail. */
export type FileSystem = Pick<
  typeof fileSystem,
  'mkdir' | 'stat' | 'open' | 'rename' | 'rm' | 'readdir'
>

/** What a program calls itself where its folder cannot be used. */
export interface FolderWords {
  /** "Run this command as the user that … runs as." */
  readonly program: string
  /** What to do about a key that others may have read. */
  readonly exposed: string
  /** How to begin anew, as a sentence ends with it. */
  readonly anew: string
}

interface PrivateFolderWorld {
  readonly words: FolderWords
  /** undefined where the system has no such thing. */
  readonly userId: number | undefined
  readonly files?: FileSystem
}

const BYTES_MAX = 256 * 1024
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const DRAFT = /^\.draft-/

export function createPrivateFolder(
  path: string,
  { words, userId, files = fileSystem }: PrivateFolderWorld,
) {
  /** False: there is none. */
  async function isThere(): Promise<boolean> {
    try {
      const stats = await files.stat(path)
      if (!stats.isDirectory()) throw unreadable(path, 'it is not a folder', words)
      checkPrivate(stats, path, '700')
      return true
    } catch (error) {
      if (error instanceof Problem) throw error
      const code = codeOf(error)
      if (code === 'ENOENT') return false
      throw unreadable(path, code, words)
    }
  }

  /** null: there is no such file. What is looked at is what is read: by the handle, not by the name. */
  async function read(name: string): Promise<string | null> {
    if (!(await isThere())) return null
    const file = join(path, name)
    try {
      const handle = await files.open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
      try {
        const stats = await handle.stat()
        if (!stats.isFile()) throw unreadable(file, 'it is not a file', words)
        if (stats.size > BYTES_MAX) throw unreadable(file, 'it is too large', words)
        checkPrivate(stats, file, '600')
        return await handle.readFile('utf8')
      } finally {
        await handle.close()
      }
    } catch (error) {
      if (error instanceof Problem) throw error
      const code = codeOf(error)
      if (code === 'ENOENT') return null
      if (code === 'ELOOP') throw unreadable(file, 'it is a symbolic link', words)
      throw unreadable(file, code, words)
    }
  }

  /** What is wrong with its content is shown nowhere. */
  async function readAs<Schema extends v.GenericSchema>(
    name: string,
    schema: Schema,
    check: (read: v.InferOutput<Schema>) => void = () => undefined,
  ): Promise<v.InferOutput<Schema> | null> {
    const text = await read(name)
    if (text === null) return null
    try {
      const parsed = v.parse(schema, JSON.parse(text))
      check(parsed)
      return parsed
    } catch {
      throw unreadable(join(path, name), 'its content is not valid', words)
    }
  }

  const writeJson = (name: string, value: object): Promise<void> =>
    write(name, `${JSON.stringify(value, undefined, 2)}\n`)

  /** Written aside and renamed; when it settles it is on the disk. */
  async function write(name: string, text: string): Promise<void> {
    const draft = join(path, `.draft-${randomUUID()}`)
    try {
      await files.mkdir(path, { recursive: true, mode: FOLDER_MODE })
      await isThere()
      try {
        const handle = await files.open(draft, 'wx', FILE_MODE)
        try {
          await handle.writeFile(text)
          await handle.sync()
        } finally {
          await handle.close()
        }
        await files.rename(draft, join(path, name))
      } catch (error) {
        await files.rm(draft, { force: true }).catch(() => undefined)
        throw error
      }
      await syncFolder()
    } catch (error) {
      if (error instanceof Problem) throw error
      throw unwritable(codeOf(error))
    }
  }

  async function removeFile(name: string): Promise<void> {
    await files.rm(join(path, name), { force: true }).catch((error: unknown) => {
      throw unwritable(codeOf(error))
    })
  }

  /** The files of these names and half-written ones; the folder too, if nothing else is in it. */
  async function remove(names: readonly string[]): Promise<void> {
    try {
      for (const name of await files.readdir(path))
        if (names.includes(name) || DRAFT.test(name)) await files.rm(join(path, name))
      // A folder that was made for it, or a mount: whatever stands in the way may stay.
      await fileSystem.rmdir(path).catch(() => undefined)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw unwritable(codeOf(error))
    }
  }

  return { path, isThere, read, readAs, write, writeJson, removeFile, remove }

  /** So that the new name survives a power cut; not every system can. */
  async function syncFolder(): Promise<void> {
    try {
      const handle = await files.open(path, 'r')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
    } catch {
      // what is written is written
    }
  }

  function checkPrivate({ uid, mode }: Stats, guarded: string, wanted: '700' | '600'): void {
    if (userId === undefined) return
    if (uid !== userId)
      throw new Problem(
        'state_unsafe',
        `${visibleText(guarded)} belongs to another user (uid ${uid}), so it is not used.`,
        `Run this command as that user, use another folder with --state, or take it over: chown -R ${userId} ${quoted(path)}`,
      )
    if ((mode & 0o077) === 0) return
    throw new Problem(
      'state_unsafe',
      wanted === '600'
        ? `Others on this machine can read the key in ${visibleText(guarded)}, so it is not used.`
        : `Others on this machine can look into ${visibleText(guarded)}, so it is not used.`,
      `Run: chmod ${wanted} ${quoted(guarded)}`,
      wanted === '600'
        ? `If someone may have read the key, ${words.exposed}.`
        : 'For a folder that is used for other things as well, choose one of its own with --state.',
    )
  }

  function unwritable(why: string): Problem {
    const advice: Readonly<Record<string, string>> = {
      ENOSPC: 'The disk is full: free some space.',
      EDQUOT: 'The disk quota is used up: free some space.',
      EROFS: 'The disk is mounted read-only. Choose another folder with --state.',
    }
    return new Problem(
      'state_unwritable',
      `Cannot write to ${visibleText(path)} (${why}).`,
      advice[why] ?? 'Choose a folder you can write to with --state.',
    )
  }
}

function unreadable(path: string, why: string, words: FolderWords): Problem {
  return new Problem(
    'state_unreadable',
    `${visibleText(path)} cannot be used: ${why}.`,
    /^E[A-Z]+$/.test(why)
      ? `Run this command as the user that ${words.program} runs as, or choose another folder with --state.`
      : `Move ${quoted(basename(path))} away and ${words.anew}.`,
  )
}

const codeOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'

/** For a shell, to be copied. */
function quoted(text: string): string {
  const seen = visibleText(text)
  return /^[\w@%+=:,./-]+$/.test(seen) ? seen : `'${seen.replaceAll("'", `'\\''`)}'`
}
