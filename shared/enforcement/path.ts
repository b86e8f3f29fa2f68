/**
 * Which path does a request mean? Servers behind us disagree: some decode twice, merge slashes,
 * cut `;params`, map `\` to `/`, fold case. So a sealed prefix matches when any of those readings
 * is under it, and an excluded prefix only when there is no other reading at all.
 */
import { LIMITS } from '../limits.ts'
import {
  indexSealed,
  judgeReading,
  namesAnother,
  PROGRAM_ENDS,
  type SealedVerdict,
} from './sealed-segments.ts'

export type { SealedVerdict }

/** Nothing to decode, merge or cut: every server reads it alike. One class, so it is linear. */
const PLAIN = /^(?:\/[A-Za-z0-9._~!$&'()*+,=:@[\]-]+)*\/?$/
/** `/[slug]` is a file's name, which nobody means by a prefix. */
const PATTERN = /[[\]]/
/** `.`, `..`, and `admin.`, which is `admin` to Windows. */
const DOT_AT_SEGMENT_END = /\.(?:\/|$)/
const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/
const CONTROL = /[\x00-\x1f\x7f]/

function isPlain(path: string): boolean {
  return PLAIN.test(path) && !DOT_AT_SEGMENT_END.test(path)
}

/** The part of a target before the query, exactly as received. */
export function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** `/Admin/` → `/Admin`; undefined where a prefix is not plain, so that nothing is half-matched. */
export function normalPrefix(prefix: string): string | undefined {
  if (prefix === '/') return prefix
  if (!prefix.startsWith('/') || !isPlain(prefix) || PATTERN.test(prefix)) return undefined
  return prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
}

export type SealedMatcher = (path: string) => SealedVerdict

export function compileSealed(prefixes: readonly string[]): SealedMatcher {
  const index = indexSealed(prefixes.map((prefix) => trimSlash(prefix).toLowerCase()))
  const judge = (reading: string) => judgeReading(reading, index)
  if (prefixes.length === 0) return (path) => (isPlain(path) ? 'open' : judgeReadings(path, judge))
  return (path) =>
    isPlain(path) && !index.mayHold.test(path) ? 'open' : judgeReadings(path, judge)
}

export type ExcludedMatcher = (path: string) => boolean

export function compileExcluded(prefixes: readonly string[]): ExcludedMatcher {
  const exact = prefixes.map((prefix) => ({
    prefix: trimSlash(prefix),
    covered: coveredBy(prefix),
  }))
  return (path) => {
    for (const { prefix, covered } of exact) {
      if (!isUnder(path, prefix)) continue
      const rest = path.slice(prefix.length)
      if (covered !== ALL && !covered.test(rest)) return false
      return isReadAlike(path, prefix)
    }
    return false
  }
}

/** Of a path under a prefix: no server finds another page by it. */
export function isReadAlike(path: string, prefix: string): boolean {
  const rest = path.slice(prefix.length)
  return isPlain(path) ? prefix === '' || !namesAnother(rest) : hasOneReading(rest, prefix)
}

const ALL = /^/

/**
 * Below some prefixes an application hands out its pages once more, protected ones among them:
 * `/_next/data/<build>/admin.json`. What is harmless there, and what to exclude instead.
 */
const ALSO_PAGES = [
  { ends: /\/_next$/i, covered: /^\/static\//, instead: 'static' },
  { ends: /\/_app$/i, covered: /^\/(?:immutable\/|version\.json$|env\.js$)/, instead: 'immutable' },
  { ends: /\/(?:_next\/data|page-data)(?:\/|$)/i, covered: /^(?!)/, instead: undefined },
  // they read any image of the application for whoever asks
  {
    ends: /\/(?:_next\/image|_vercel\/image|\.netlify\/images|_image|_ipx)(?:\/|$)/i,
    covered: /^(?!)/,
    instead: undefined,
    wish: 'the folder of the public images',
  },
  {
    ends: new RegExp(`/(?:index|app|app_dev)\\.(?:${PROGRAM_ENDS})(?:/|$)`, 'i'),
    covered: /^$/,
    instead: undefined,
  },
] as const

function coveredBy(prefix: string): RegExp {
  return alsoPages(prefix)?.covered ?? ALL
}

function alsoPages(prefix: string) {
  return ALSO_PAGES.find(({ ends }) => ends.test(trimSlash(prefix)))
}

/** Why a prefix is not to be excluded, as the end of «Must be …»; undefined where nothing is wrong. */
export function excludedProblem(prefix: string): string | undefined {
  const found = alsoPages(prefix)
  if (found === undefined) return undefined
  const { instead } = found
  if ('wish' in found) return `${found.wish}: ${trimSlash(prefix)} serves protected ones too`
  const wish = `a path without protected pages: ${trimSlash(prefix)} serves their content too`
  return instead === undefined ? wish : `${wish}; use ${trimSlash(prefix)}/${instead} instead`
}

/** `/administrator` is not under `/admin`. */
export function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  )
}

function trimSlash(prefix: string): string {
  return prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
}

const ESCAPES_BESIDE_FOREIGN_MAX = 64

/**
 * Escapes are harmless below an excluded prefix when they stand for letters, digits and marks that
 * no server treats as structure: `/health/%7Euser`, `/media/caf%C3%A9.png`.
 */
function hasOneReading(rest: string, prefix: string): boolean {
  if (BROKEN_PERCENT.test(rest)) return false
  const readings = decodeOnce(rest)
  if (readings.length === 0) return false
  const escapes = rest.match(/(?:%[0-9A-Fa-f]{2})+/g) ?? []
  // bytes that are no text are of an old link, with an umlaut or two
  if (readings.length > 1 && escapes.length > ESCAPES_BESIDE_FOREIGN_MAX) return false
  // what stands between them is text: so they may be read together, and each costs what a whole path does
  const runs = readings.length > 1 ? escapes : [escapes.join('-')]
  if (!runs.every(isHarmless) || !isPlain(rest.replace(/%[0-9A-Fa-f]{2}/g, '-'))) return false
  // bytes that are no text are left out by some: `.%ff.`
  if (readings.length > 1 && DOT_AT_SEGMENT_END.test(rest.replace(/%[0-9A-Fa-f]{2}/g, '')))
    return false
  return prefix === '' || !readings.some(namesAnother)
}

/** Marks of one letter, put into their order: that takes the square of their number, and no script has so many. */
const MANY_MARKS = /\p{M}{31}/u

function isHarmless(escapes: string): boolean {
  const text = decodeOnce(escapes)[0] ?? '%'
  if (MANY_MARKS.test(text)) return false
  return /^[\p{L}\p{N}\p{M}~_ !$&'()*+,=:@[\]-]*$/u.test(text.normalize('NFKC'))
}

/**
 * Decodes level by level; each level is read the way the most lenient server would. Bytes that are
 * not UTF-8 have more than one reading: sealed in any of them is sealed. Each reading costs what the
 * whole path costs, so they are counted.
 */
export function judgeReadings(
  path: string,
  judge: (reading: string) => SealedVerdict,
): SealedVerdict {
  if (BROKEN_PERCENT.test(path)) return 'unreadable'
  let verdict: SealedVerdict = 'open'
  let level: ReadonlySet<string> = new Set([path])
  let readingsLeft = LIMITS.pathReadingsMax
  let charactersLeft = LIMITS.pathReadCharactersMax
  for (let round = 0; level.size > 0; round++) {
    const decoded = new Set<string>()
    for (const reading of level) {
      charactersLeft -= reading.length
      if (readingsLeft-- === 0 || charactersLeft < 0) return 'unreadable'
      if (CONTROL.test(reading) || separatorsIn(reading) > LIMITS.pathSegmentsMax) {
        verdict = 'unreadable'
        continue
      }
      const judged = judge(reading)
      if (judged === 'sealed') return judged
      if (judged === 'unreadable') verdict = judged
      if (judged === 'unreadable' || !reading.includes('%')) continue
      const next = decodeOnce(reading)
      if (next[0] === reading) continue
      if (next.length === 0 || round === LIMITS.pathDecodingRoundsMax) verdict = 'unreadable'
      else for (const one of next) decoded.add(one)
    }
    level = decoded
  }
  return verdict
}

function separatorsIn(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x2f || code === 0x5c) count++
  }
  return count
}

/**
 * One round of percent-decoding, also `%u0061`; nothing for overlong forms and for control characters
 * beyond ASCII (U+0085 is white space to Python), which only attack. Where bytes are not UTF-8: in
 * latin1, in latin1 only where UTF-8 ends, and in UTF-8 with U+FFFD, which is then passed over. That
 * is for old links with an umlaut or two: nothing for more runs of such bytes.
 */
function decodeOnce(text: string): readonly string[] {
  if (!text.includes('%')) return [text]
  if (/%(?:c[01]|c2%[89]|e0%[89]|f0%8)/i.test(text)) return []
  const unescaped = /%u[0-9A-Fa-f]{4}/.test(text)
    ? text.replace(/%u([0-9A-Fa-f]{4})/g, (_, unit: string) =>
        String.fromCharCode(parseInt(unit, 16)),
      )
    : text
  const bytes = Buffer.from(unescaped, 'utf8')
  let length = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    const escaped = byte === 0x25 ? hexPair(bytes[index + 1], bytes[index + 2]) : -1
    bytes[length++] = escaped === -1 ? byte : escaped
    if (escaped !== -1) index += 2
  }
  const decoded = bytes.subarray(0, length)
  const utf8 = decoded.toString('utf8')
  if (isUtf8Of(utf8, decoded)) return [utf8]
  const latin1 = decoded.toString('latin1')
  let runs = 0
  const mixed = latin1.replace(/[\x80-\xff]+/g, (run) => {
    if (++runs > LIMITS.pathForeignRunsMax) return run
    const bytesOfRun = Buffer.from(run, 'latin1')
    const text = bytesOfRun.toString('utf8')
    return isUtf8Of(text, bytesOfRun) ? text : run
  })
  if (runs > LIMITS.pathForeignRunsMax) return []
  return mixed === latin1 ? [latin1, utf8] : [latin1, mixed, utf8]
}

/** What was not UTF-8 became another character, and other bytes. */
function isUtf8Of(text: string, bytes: Buffer): boolean {
  return Buffer.from(text, 'utf8').equals(bytes)
}

function hexPair(high: number | undefined, low: number | undefined): number {
  const value = hexDigit(high) * 16 + hexDigit(low)
  return Number.isNaN(value) ? -1 : value
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return NaN
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : NaN
}
