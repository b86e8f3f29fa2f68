/**
 * Paths that servers read alike although they are not simple: a file's name, `invoice.pdf`, and letters
 * that are escaped, `caf%C3%A9%20au%20lait`. What `judgeReadings` finds of them by trying is said here
 * at once (bench/micro/access-rules.ts); for all others it is asked.
 */
import { LIMITS } from '../limits.ts'
import { bareSegment, fold, PROGRAM } from './sealed-segments.ts'

const DOTTED = /^(?:\/[A-Za-z0-9._@=+,$&'*-]+)*\/?$/
const ESCAPED = /^(?:\/(?:[A-Za-z0-9._@=+,$&'*-]|%[0-9A-Fa-f]{2})+)*\/?$/
/** Nothing that any server cuts at, resolves or takes out. */
const DECODED = /^(?:\/[\p{L}\p{N}._@=+,$&'* -]+)*\/?$/u
const DOT_AT_SEGMENT_END = /\.(?:\/|$)/

/** Its segments, in lower case, once for each level of decoding; undefined: there is more to it. */
export function readAlone(path: string): readonly (readonly string[])[] | undefined {
  // of all levels together, as `judgeReadings` counts them
  if (2 * path.length > LIMITS.pathReadCharactersMax || DOT_AT_SEGMENT_END.test(path))
    return undefined
  if (DOTTED.test(path)) {
    const named = segmentsOf(path.toLowerCase())
    return named && [named]
  }
  return ESCAPED.test(path) ? readEscaped(path) : undefined
}

function readEscaped(path: string): readonly (readonly string[])[] | undefined {
  const decoded = decodedOnce(path)
  if (decoded === undefined || !DECODED.test(decoded)) return undefined
  const folded = fold(decoded)
  // a number in a circle is a number with a dot behind it
  if (!DECODED.test(folded) || !hasSameMarks(path, folded)) return undefined
  const written = segmentsOf(path.toLowerCase())
  const named = written && segmentsOf(folded)
  return named && [written, named]
}

function decodedOnce(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined // it is no UTF-8
  }
}

function hasSameMarks(path: string, folded: string): boolean {
  return countOf(path, '/') === countOf(folded, '/') && countOf(path, '.') === countOf(folded, '.')
}

function countOf(text: string, mark: string): number {
  let count = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) count++
  return count
}

/** undefined: one of them is none, or stands for another page. */
function segmentsOf(lowered: string): readonly string[] | undefined {
  const named = lowered.split('/')
  named.shift()
  if (named.at(-1) === '') named.pop()
  if (named.length >= LIMITS.pathSegmentsMax) return undefined
  for (const [at, part] of named.entries()) {
    const segment = bareSegment(part)
    if (segment === '' || segment === '..' || segment === '_next' || segment === 'page-data')
      return undefined
    if (segment.includes('.') && PROGRAM.test(segment)) return undefined
    named[at] = segment
  }
  return named
}
