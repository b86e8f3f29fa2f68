/** Project trees for the journal, and file systems that break at any step of it. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { chmodSync } from 'node:fs'
import * as promises from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sealBy, type Seal } from '../../control-plane/downloads/analyzer/journal/seal.ts'
import {
  journalWorld,
  type FileSystem,
  type JournalWorld,
} from '../../control-plane/downloads/analyzer/journal/world.ts'

export type Tree = Readonly<Record<string, string>>

/** Everything that is there, byte for byte: folders, files with their mode, links. */
export function treeOf(root: string): Tree {
  const tree: Record<string, string> = {}
  const walk = (folder: string) => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`
      const stats = lstatSync(join(root, path))
      const mode = (stats.mode & 0o777).toString(8)
      if (stats.isDirectory()) {
        tree[`${path}/`] = mode
        walk(path)
      } else if (stats.isSymbolicLink()) tree[path] = `-> ${readlinkSync(join(root, path))}`
      else
        tree[path] = stats.isFile() ? `${mode} ${readFileSync(join(root, path), 'hex')}` : 'other'
    }
  }
  walk('')
  return tree
}

export interface TreeFile {
  readonly path: string
  readonly bytes: string | Buffer
  readonly mode?: number
}

export function plant(root: string, files: readonly TreeFile[]) {
  for (const { path, bytes, mode = 0o644 } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), bytes)
    chmodSync(join(root, path), mode)
  }
}

/** Of a user whose secret is known. */
export function sealOf(user: string): Seal {
  const secret = async () => Buffer.from(user)
  return sealBy({ read: secret, make: secret })
}

/** A machine without git, unless told otherwise; process 1 is at work here, and no other. */
export function machine(more: Partial<JournalWorld> = {}): JournalWorld {
  return {
    ...journalWorld({ PATH: process.env['PATH'] }),
    seal: sealOf('this user'),
    pid: 1,
    host: 'here',
    isRunning: () => false,
    ...more,
  }
}

export type Operation = (name: string) => void
type Callable = (...given: unknown[]) => Promise<unknown>

/** Each operation is told before it is done, and can be kept from it by throwing. */
export function watchedFiles(before: Operation): FileSystem {
  const watched = (target: object): object =>
    new Proxy(target, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return async (...given: unknown[]) => {
          try {
            before(String(name))
          } catch (error) {
            if (name === 'close') await (value as Callable).apply(target, given)
            if (name === 'writeFile') await half(target as promises.FileHandle, given[0] as Buffer)
            throw error
          }
          // a process that is killed loses nothing that the system has; and it takes its time
          if (name === 'sync') return
          const result = await (value as Callable).apply(target, given)
          return name === 'open' ? watched(result as object) : result
        }
      },
    })
  return watched({ ...promises }) as FileSystem
}

/** A write that is cut off leaves what had been written. */
async function half(handle: promises.FileHandle, bytes: Buffer) {
  await handle.write(bytes, 0, bytes.length >> 1)
}

/** What changes something; a process that is killed at anything else leaves the same behind. */
export const CHANGES: ReadonlySet<string> = new Set([
  'open',
  'mkdir',
  'writeFile',
  'link',
  'rename',
  'unlink',
  'rmdir',
  'chmod',
  'chown',
])

/** As after a SIGKILL: from this step on nothing is done any more. */
export function killedAt(step: number): { files: FileSystem; steps: () => number } {
  let steps = 0
  const files = watchedFiles((name) => {
    if (CHANGES.has(name)) steps++
    if (steps >= step) throw new Error('killed')
  })
  return { files, steps: () => steps }
}

export const failure = (code: string) => Object.assign(new Error(code), { code })
