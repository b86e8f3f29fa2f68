/** A folder of somebody's, looked at and never written to. */
import { access, constants, realpath, stat } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Project } from './project.ts'
import { readText } from './read-text.ts'
import { createUnread } from './unread.ts'
import { walk, type WalkLimits, type WalkProgress } from './walk.ts'

interface OpenOptions {
  readonly onProgress?: (progress: WalkProgress) => void
  readonly limits?: Partial<WalkLimits>
}

/** Why this folder cannot be looked at at all; the message says it to a person. */
export class ProjectProblem extends Error {}

export async function openProject(folder: string, options: OpenOptions = {}): Promise<Project> {
  const limits = { ...LIMITS, ...options.limits }
  const root = await folderAt(folder)
  const unread = createUnread(LIMITS.projectUnreadMax)
  const { files, isCut } = await walk(root, limits, unread, options.onProgress ?? (() => {}))
  const bytesByPath = new Map(files.map(({ path, bytes }) => [path, bytes]))
  /** A promise each: whoever asks while a file is being read waits for the same reading. */
  const texts = new LRUCache<string, Promise<string | null>>({
    maxSize: Math.max(limits.projectRememberedBytesMax, 1),
    sizeCalculation: (_, path) =>
      Math.max(1, Math.min(bytesByPath.get(path) ?? 1, limits.projectFileBytesMax)),
    memoMethod: readOnce,
  })

  async function readOnce(path: string): Promise<string | null> {
    try {
      const { text, problem } = await readText(root, path, limits.projectFileBytesMax)
      if (problem !== null) unread.add(path, problem)
      return text
    } catch (error) {
      unread.failed(path, error)
      return null
    }
  }

  return {
    root,
    files,
    isCut,
    unread: unread.entries,
    has: (path) => bytesByPath.has(path),
    read: async (path) => (bytesByPath.has(path) ? texts.memo(path) : null),
  }
}

async function folderAt(folder: string): Promise<string> {
  try {
    const root = await realpath(folder)
    if ((await stat(root)).isDirectory()) {
      await access(root, constants.R_OK | constants.X_OK)
      return root
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES') throw new ProjectProblem(`You do not have permission to read ${folder}.`)
    throw new ProjectProblem(`The folder ${folder} does not exist. Name the folder of the project.`)
  }
  throw new ProjectProblem(`${folder} is not a folder. Name the folder of the project.`)
}
