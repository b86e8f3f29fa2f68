/**
 * Files with keys that are replaced while a program runs. They are looked at by time: a platform that
 * swaps links to them, or mounts them from elsewhere, tells no one.
 */
import { SECOND_MS } from '../clock.ts'

const KEY_FILES_LOOK_MS = 10 * SECOND_MS

interface KeyWatchOptions {
  readonly paths: readonly string[]
  /** Anything that is another one when the file has changed; undefined: it is not there. */
  readonly stateOf: (path: string) => string | undefined
  readonly onChange: () => void
}

export function watchKeyFiles({ paths, stateOf, onChange }: KeyWatchOptions) {
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

interface FileFacts {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Of what `stat` says. */
export const fileState = ({ ino, size, mtimeNs, ctimeNs }: FileFacts) =>
  `${ino} ${size} ${mtimeNs} ${ctimeNs}`
