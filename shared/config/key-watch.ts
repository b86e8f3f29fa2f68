/**
 * Files with keys that are replaced while a program runs. They are looked at by time: a platform that
 * swaps links to them, or mounts them from elsewhere, tells no one.
 */
import type * as FileSystem from 'node:fs'
import { SECOND_MS } from '../clock.ts'

export const KEY_FILES_LOOK_MS = 10 * SECOND_MS

interface KeyWatchOptions {
  readonly paths: readonly string[]
  readonly files: Pick<typeof FileSystem, 'statSync'>
  readonly onChange: () => void
}

export function watchKeyFiles({ paths, files, onChange }: KeyWatchOptions) {
  const stateOf = (path: string) => {
    const found = files.statSync(path, { throwIfNoEntry: false, bigint: true })
    return found && `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
  }
  const state = () => {
    try {
      return JSON.stringify(paths.map((path) => stateOf(path) ?? null))
    } catch {
      return seen // its folder cannot be read at this moment
    }
  }
  let seen = ''
  seen = state()

  function look() {
    const now = state()
    if (now === seen) return
    seen = now
    onChange()
  }
  const looking = setInterval(look, KEY_FILES_LOOK_MS)
  looking.unref()
  return { look, close: () => clearInterval(looking) }
}
