/**
 * Looks at one path of a project without following anything out of it. Node has no openat: who can
 * swap a folder for a link between this look and a write can write into the project anyway, and
 * every write looks again right before.
 */
import { constants, type Stats } from 'node:fs'
import { join } from 'node:path'
import { codeOf, reasonOf, visible, type FileSystem } from './world.ts'

export type Sight =
  | SeenFile
  /** `missing`: folders that would have to be made for it, the outermost first. */
  | { readonly kind: 'absent'; readonly missing: readonly string[] }
  | { readonly kind: 'problem'; readonly detail: string }

export interface SeenFile {
  readonly kind: 'file'
  readonly bytes: Buffer
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

const problem = (detail: string): Sight => ({ kind: 'problem', detail })

/** `root` is absolute and real; `path` relative to it, with `/`. `namesMax`: of hard links. */
export async function look(
  root: string,
  path: string,
  bytesMax: number,
  files: FileSystem,
  namesMax = 1,
): Promise<Sight> {
  const folders = path.split('/').slice(0, -1)
  for (let depth = 1; depth <= folders.length; depth++) {
    const folder = folders.slice(0, depth).join('/')
    const stats = await statsOf(join(root, folder), files)
    if (stats === 'absent') {
      const missing = folders
        .slice(depth - 1)
        .map((_, at) => folders.slice(0, depth + at).join('/'))
      return { kind: 'absent', missing }
    }
    if (typeof stats === 'string') return problem(`lies in ${folder}, where ${stats}`)
    if (stats.isSymbolicLink())
      return problem(
        `lies behind ${folder}, which is a symbolic link; links are not followed when writing`,
      )
    if (!stats.isDirectory()) return problem(`lies in ${folder}, which is not a folder`)
  }
  try {
    const folder = join(root, ...folders)
    const real = await files.realpath(folder)
    if (real !== folder) return problem(`is really in ${visible(real)}; use that path`)
  } catch (error) {
    return problem(`cannot be reached: ${reasonOf(error)}`)
  }
  return lookAtFile(join(root, path), bytesMax, files, namesMax)
}

/** Nothing is there, and the folder that it would lie in is. */
export async function isFree(root: string, path: string, files: FileSystem): Promise<boolean> {
  const sight = await look(root, path, 0, files)
  return sight.kind === 'absent' && sight.missing.length === 0
}

/** Without a byte order mark; null: no text in UTF-8. */
export function textIn(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** A text: why there are none. */
export async function statsOf(at: string, files: FileSystem): Promise<Stats | string> {
  try {
    return await files.lstat(at)
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'absent' : reasonOf(error)
  }
}

async function lookAtFile(
  at: string,
  bytesMax: number,
  files: FileSystem,
  namesMax: number,
): Promise<Sight> {
  const stats = await statsOf(at, files)
  if (stats === 'absent') return { kind: 'absent', missing: [] }
  if (typeof stats === 'string') return problem(`cannot be read: ${stats}`)
  if (stats.isSymbolicLink())
    return problem('is a symbolic link; links are not followed when writing')
  if (!stats.isFile()) return problem('is not a regular file')
  if (stats.nlink > namesMax)
    return problem('has a second name elsewhere (a hard link), which would not change with it')
  if (stats.size > bytesMax) return problem(`is larger than ${bytesMax} bytes`)
  try {
    return await read(at, stats, files)
  } catch (error) {
    if (codeOf(error) === 'ELOOP') return problem('is a symbolic link')
    return problem(`cannot be read: ${reasonOf(error)}`)
  }
}

async function read(at: string, seen: Stats, files: FileSystem): Promise<Sight> {
  // Windows has neither flag
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const handle = await files.open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const { ino, dev, mode, uid, gid } = await handle.stat()
    if (ino !== seen.ino || dev !== seen.dev) return problem('was replaced while being read')
    const bytes = Buffer.alloc(seen.size + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = (await handle.read(bytes, length, bytes.length - length, length)).bytesRead
    if (length > seen.size) return problem('grew while being read')
    return { kind: 'file', bytes: bytes.subarray(0, length), mode: mode & 0o777, uid, gid }
  } finally {
    await handle.close()
  }
}
