/**
 * Which files lie in a folder and below, within limits. What lies high up is found first, so that a
 * walk that is cut short has seen what tells most. Nothing is opened but folders, and a package.json beside a build: no link out of
 * the root is followed, and no pipe or device can hold it up.
 */
import { lstatSync, type Dirent } from 'node:fs'
import { opendir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { LIMITS } from '../../../../shared/limits.ts'
import {
  IS_CODE,
  IS_TYPESCRIPT,
  isCompiled,
  isLeftOut,
  isStarted,
  MARKS_ENVIRONMENT,
  mayBePublished,
  SOURCE_FOLDERS,
} from './left-out.ts'
import type { ProjectFile } from './project.ts'
import { isInside, readText } from './read-text.ts'
import type { Unread } from './unread.ts'

/** By their names in LIMITS. */
export type WalkLimits = Readonly<Record<keyof typeof LIMITS & `project${string}Max`, number>>

export interface WalkProgress {
  readonly files: number
  readonly folders: number
  readonly entries: number
}

const ENTRIES_PER_REPORT = 1000
const SOURCE_ENTRIES_MAX = 2000
/** Names that a terminal or a diff would not show as they are. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

interface Folder {
  readonly path: string
  readonly depth: number
}

export async function walk(
  root: string,
  limits: WalkLimits,
  unread: Unread,
  onProgress: (progress: WalkProgress) => void,
) {
  const files: ProjectFile[] = []
  const queue: Folder[] = [{ path: '', depth: 0 }]
  let entries = 0
  let isCut = false

  // the queue grows while it is walked: level by level
  let folders = 0
  for (const folder of queue) {
    if (files.length >= limits.projectFilesMax || entries >= limits.projectEntriesMax) {
      isCut = true
      break
    }
    folders++
    await walkFolder(folder)
  }
  report()
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { files, isCut }

  function report() {
    onProgress({ files: files.length, folders, entries })
  }

  async function walkFolder({ path, depth }: Folder): Promise<void> {
    const names: string[] = []
    const links: string[] = []
    const below: string[] = []
    const filesMax = Math.min(
      limits.projectFilesPerFolderMax,
      limits.projectFilesMax - files.length,
    )
    let leftOver = 0
    for await (const entry of entriesOf(path)) {
      if (entries >= limits.projectEntriesMax) {
        isCut = true
        break
      }
      if (++entries % ENTRIES_PER_REPORT === 0) report()
      if (entry.isDirectory()) {
        if (below.length <= limits.projectFoldersMax) below.push(entry.name)
        continue
      }
      if (!entry.isFile() && !entry.isSymbolicLink()) continue
      if (names.length + links.length >= filesMax) leftOver++
      else (entry.isFile() ? names : links).push(entry.name)
    }
    if (depth > 0 && names.includes(MARKS_ENVIRONMENT)) return
    if (leftOver > 0) {
      isCut = true
      if (filesMax === limits.projectFilesPerFolderMax)
        unread.add(path || '.', `has more than ${filesMax} files; ${leftOver} were skipped`)
    }
    for (const name of names) list(under(path, name))
    for (const name of links) await listLink(under(path, name))
    for (const name of below.sort())
      if (!isLeftOut(name, names) || (await isAllThereIs(path, name, names, below)))
        enqueue({ path: under(path, name), depth: depth + 1 })
  }

  /** A package that was published without what it was built from is its build. */
  async function isAllThereIs(
    path: string,
    name: string,
    files: readonly string[],
    folders: readonly string[],
  ) {
    const hasManifest = files.includes('package.json')
    // named by the project's own manifest: "main": "server/dist/index.js"
    const home = hasManifest ? path : ''
    if (folders.includes('.git') || !mayBePublished(name, files)) return false
    const isMade = isCompiled(files)
    if (isMade && files.some((file) => IS_TYPESCRIPT.test(file))) return false
    for (const folder of folders) {
      const isSource = (SOURCE_FOLDERS as readonly string[]).includes(folder)
      if (!isSource && (!isMade || isLeftOut(folder, files))) continue
      if (await holdsCode(under(path, folder), isSource ? IS_CODE : IS_TYPESCRIPT)) return false
    }
    try {
      const manifest = under(home, 'package.json')
      const { text } = await readText(root, manifest, limits.projectFileBytesMax)
      return isStarted(hasManifest ? name : under(path, name), text ?? '')
    } catch {
      return false
    }
  }

  /** Past so many entries it is taken to hold some. */
  async function holdsCode(folder: string, code: RegExp): Promise<boolean> {
    const waiting = [folder]
    let left = SOURCE_ENTRIES_MAX
    // it grows while it is walked
    for (const path of waiting)
      for await (const entry of entriesOf(path)) {
        if (--left < 0 || (entry.isFile() && code.test(entry.name))) return true
        if (entry.isDirectory()) waiting.push(under(path, entry.name))
      }
    return false
  }

  async function* entriesOf(path: string): AsyncGenerator<Dirent> {
    try {
      // kept open only while it is read; 256 names at a time, however many there are
      yield* await opendir(join(root, path), { bufferSize: 256 })
    } catch (error) {
      unread.failed(path || '.', error)
    }
  }

  function enqueue(folder: Folder) {
    if (isOdd(folder.path)) return
    if (folder.depth > limits.projectDepthMax || queue.length >= limits.projectFoldersMax)
      isCut = true
    else queue.push(folder)
  }

  function list(path: string) {
    if (isOdd(path)) return
    try {
      const { size } = lstatSync(join(root, path))
      files.push({ path, bytes: size })
    } catch (error) {
      unread.failed(path, error)
    }
  }

  /** A file that is a link is one of the project's where what it points at is. */
  async function listLink(path: string): Promise<void> {
    if (isOdd(path)) return
    try {
      const target = await realpath(join(root, path))
      const found = await stat(target)
      if (!isInside(root, target)) unread.add(path, 'is a link to outside the project')
      else if (found.isFile()) {
        const linkTo = relative(root, target).replaceAll(sep, '/')
        files.push({ path, bytes: found.size, linkTo })
      }
      // a folder of the project is walked where it lies
    } catch (error) {
      unread.failed(path, error)
    }
  }

  function isOdd(path: string): boolean {
    if (!UNPRINTABLE.test(path)) return false
    unread.add(path, 'has control characters in its name')
    return true
  }
}

const under = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`)
