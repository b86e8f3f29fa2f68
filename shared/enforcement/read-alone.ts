/**
 * Paths that servers read alike although they are not simple: a file's name, `invoice.pdf`, and letters
 * that are escaped, `caf%C3%A9%20au%20lait`. What `judgeReadings` finds of them by trying is said here
 * at once (bench/micro/access-rules.ts); for all others it is asked.
 */
import { LIMITS } from '../limits.ts'
import { bareSegment, fold, PROGRAM, PROGRAM_ENDS } from './sealed-segments.ts'

const DOTTED = /^(?:\/[A-Za-z0-9._@=+,$&'*-]+)*\/?$/
const ESCAPED = /^(?:\/(?:[A-Za-z0-9._@=+,$&'*-]|%[0-9A-Fa-f]{2})+)*\/?$/
/** Nothing that any server cuts at, resolves or takes out. */
const DECODED = /^(?:\/[\p{L}\p{N}._@=+,$&'* -]+)*\/?$/u
const DOT_AT_SEGMENT_END = /\.(?:\/|$)/

/** Decoded; whatever is done to these letters they become letters, as no number in a circle does. */
const OF_LETTERS =
  /^(?:\/[A-Za-z0-9._@=+,$&'* \u00c0-\u00d6\u00d8-\u00f6\u00f8-\u012b\u0410-\u044f\u0391-\u03a1\u03b1-\u03c9\u4e00-\u9fff-]+)*\/?$/
const PROGRAM_IN_PATH = new RegExp(`/ *index\\.|\\.(?:${PROGRAM_ENDS})[ .]*(?:/|$)`, 'i')
const AMBIGUOUS_NAME = /\/ *(?:_next|page-data)[ .]*(?:\/|$)/i
const DOT_BEFORE_END = /\.[ .]*(?:\/|$)/
/** To some it is not there. */
const BLANK_SEGMENT = /\/ +(?:\/|$)/

/**
 * Whether no reading of it begins anywhere but at its first segment, or leaves one of them out: then
 * nothing below a place is named where the place has nothing below it. Cheaper than `readAlone`.
 */
export function isReadInOrder(path: string): boolean {
  if (2 * path.length > LIMITS.pathReadCharactersMax) return false
  if (countOf(path, '/') >= LIMITS.pathSegmentsMax) return false
  if (!path.includes('%')) return DOTTED.test(path) && isInOrder(path)
  if (!ESCAPED.test(path)) return false
  const decoded = decodedOnce(path)
  if (decoded === undefined || !OF_LETTERS.test(decoded)) return false
  return hasSameMarks(path, decoded) && isInOrder(decoded)
}

const isInOrder = (reading: string) =>
  !DOT_BEFORE_END.test(reading) &&
  !PROGRAM_IN_PATH.test(reading) &&
  !AMBIGUOUS_NAME.test(reading) &&
  !BLANK_SEGMENT.test(reading)

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
