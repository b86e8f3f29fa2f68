/**
 * Which paths an edit may name. One spelling per file, and the same file on every system: what
 * Windows, macOS or git would read as another name than the one that was judged is refused.
 */
import { LIMITS } from '../limits.ts'
import { outOfBounds } from './out-of-bounds.ts'

/** Why nothing is written at this path, to be read behind it; null where something may be. */
export function pathProblem(path: string): string | null {
  return namedPathProblem(path) ?? boundsProblem(path)
}

/** What is wrong with the name alone: of files that are only read. */
export function namedPathProblem(path: string): string | null {
  return plainProblem(path) ?? spellingProblem(path)
}

/** As file systems that ignore case see it, and compatibility characters as what they imitate. */
export function foldedPath(path: string): string {
  return path.normalize('NFKC').toUpperCase().toLowerCase()
}

function boundsProblem(path: string): string | null {
  const why = outOfBounds(foldedPath(path).split('/'))
  return why === null ? null : `is out of bounds: it ${why}`
}

function plainProblem(path: string): string | null {
  if (path === '') return 'is empty: it names no file'
  if (path.length > LIMITS.guidePathCharactersMax)
    return `is longer than ${LIMITS.guidePathCharactersMax} characters`
  if (!path.isWellFormed()) return 'is not valid Unicode'
  if (INVISIBLE.test(path)) return 'holds characters that cannot be seen'
  if (/^[a-z]:/i.test(path) || /^[/\\]/.test(path) || /^\w+:\/\//.test(path))
    return 'is not relative to the project'
  if (path.startsWith('~')) return 'is not relative to the project'
  if (path.includes('\\')) return backslashProblem(path)
  const segments = path.split('/')
  if (segments.includes('..')) return 'leaves its folder with ".."'
  if (segments.includes('.') || segments.includes(''))
    return 'is not plain: no segment of it may be "." or empty'
  if (segments.length > LIMITS.editPathSegmentsMax)
    return `is deeper than ${LIMITS.editPathSegmentsMax} folders`
  return null
}

/** Control, format, private and unassigned characters, and spaces other than the plain one. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u

/** A guide that was written on Windows, most likely: it is told how the path is to be. */
function backslashProblem(path: string): string {
  const meant = path.replaceAll(/\\+/g, '/').replace(/^(?:\.\/)+/, '')
  return pathProblem(meant) === null
    ? `is written with "\\": in a guide it is to be ${meant}, on Windows as well`
    : 'is written with "\\", which is no part of a path in a guide'
}

const DEVICE = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)\d)$/
const bytesOf = (text: string) => new TextEncoder().encode(text).length

function spellingProblem(path: string): string | null {
  if (path.normalize('NFC') !== path) return 'is not in Unicode normal form C'
  if (/%[0-9a-f]{2}/i.test(path)) return 'is percent-encoded'
  const folded = foldedPath(path)
  if (/[<>:"|?*\\]/.test(folded)) return 'holds a character that Windows gives another meaning'
  if (folded.split('/').length !== path.split('/').length) return 'holds an imitation of "/"'
  for (const name of folded.split('/')) {
    if (/^\s|[\s.]$/.test(name)) return 'has a name with a space or dot at its end'
    if (/~\d/.test(name)) return 'has a name like those that Windows makes as short forms'
    if (DEVICE.test((name.split('.')[0] ?? '').trimEnd()))
      return 'is the name of a device on Windows'
  }
  return path.split('/').some((name) => bytesOf(name) > LIMITS.editNameBytesMax)
    ? `has a name of more than ${LIMITS.editNameBytesMax} bytes`
    : null
}
