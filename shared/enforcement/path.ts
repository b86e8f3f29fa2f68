/**
 * Which path does a request mean? Servers behind us disagree: some decode twice, merge slashes,
 * cut `;params`, map `\` to `/`, fold case. So a sealed prefix matches when any of those readings
 * is under it, and an excluded prefix only when there is no other reading at all.
 */
import { LIMITS } from '../limits.ts'

/** Nothing to decode, merge or cut: every server reads it alike. One class, so it is linear. */
const PLAIN = /^(?:\/[A-Za-z0-9._~!$&'()*+,=:@-]+)*\/?$/
/** `.`, `..`, and `admin.`, which is `admin` to Windows. */
const DOT_AT_SEGMENT_END = /\.(?:\/|$)/
const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/
const CONTROL = /[\x00-\x1f\x7f]/
/** Full stops that name mappings turn into a dot: CVE-class of `/。。/admin`. */
const FOREIGN_DOTS = /[\u3002\uff0e\uff61\u2024\ufe52]/g

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
  if (!prefix.startsWith('/') || !isPlain(prefix)) return undefined
  return prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
}

export type SealedVerdict = 'open' | 'sealed' | 'unreadable'
export type SealedMatcher = (path: string) => SealedVerdict

export function compileSealed(prefixes: readonly string[]): SealedMatcher {
  const lowered = prefixes.map((prefix) => trimSlash(prefix).toLowerCase())
  const byFirstSegment = indexByFirstSegment(lowered)

  return (path) => {
    if (isPlain(path)) {
      if (lowered.length === 0) return 'open'
      const folded = path.toLowerCase()
      for (const prefix of lowered) if (isUnder(folded, prefix)) return 'sealed'
      return 'open'
    }
    return judgeReadings(path, byFirstSegment)
  }
}

export type ExcludedMatcher = (path: string) => boolean

export function compileExcluded(prefixes: readonly string[]): ExcludedMatcher {
  const exact = prefixes.map(trimSlash)
  return (path) => {
    for (const prefix of exact)
      if (isUnder(path, prefix)) return isPlain(path) || hasOneReading(path.slice(prefix.length))
    return false
  }
}

/** `/administrator` is not under `/admin`. */
function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  )
}

function trimSlash(prefix: string): string {
  return prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
}

/**
 * Escapes are harmless below an excluded prefix when they stand for letters, digits and marks that
 * no server treats as structure: `/health/%7Euser`, `/media/caf%C3%A9.png`.
 */
function hasOneReading(rest: string): boolean {
  if (BROKEN_PERCENT.test(rest)) return false
  const decoded = decodeOnce(rest)
  if (decoded === undefined) return false
  const escapes = rest.match(/(?:%[0-9A-Fa-f]{2})+/g) ?? []
  const areHarmless = escapes.every((run) =>
    /^[\p{L}\p{N}\p{M}~_ !$'()*+,=@-]+$/u.test((decodeOnce(run) ?? '%').normalize('NFKC')),
  )
  return areHarmless && isPlain(rest.replace(/%[0-9A-Fa-f]{2}/g, '-'))
}

type SealedIndex = ReadonlyMap<string, readonly (readonly string[])[]>

/** `['/admin/x', '/b']` → `admin` → [[x]], `b` → [[]]; sealing `/` is the empty first segment. */
function indexByFirstSegment(prefixes: readonly string[]): SealedIndex {
  const index = new Map<string, string[][]>()
  for (const prefix of prefixes) {
    const [first = '', ...rest] = prefix.split('/').slice(1)
    index.set(first, [...(index.get(first) ?? []), rest])
  }
  return index
}

/** Decodes level by level; each level is read the way the most lenient server would. */
function judgeReadings(path: string, sealed: SealedIndex): SealedVerdict {
  if (BROKEN_PERCENT.test(path)) return 'unreadable'
  let level = path
  for (let round = 0; ; round++) {
    if (CONTROL.test(level) || separatorsIn(level) > LIMITS.pathSegmentsMax) return 'unreadable'
    if (isSealedReading(level, sealed)) return 'sealed'
    const next = decodeOnce(level)
    if (next === undefined) return 'unreadable'
    if (next === level) return 'open'
    if (round === LIMITS.pathDecodingRoundsMax) return 'unreadable'
    level = next
  }
}

function separatorsIn(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x2f || code === 0x5c) count++
  }
  return count
}

function isSealedReading(level: string, sealed: SealedIndex): boolean {
  if (sealed.has('')) return true
  const folded = level
    .normalize('NFKC')
    .replace(FOREIGN_DOTS, '.')
    .toUpperCase() // first up, then down: ſ and K fold to s and k
    .toLowerCase()
  const named: string[] = []
  let hasParent = false
  let isLikeAuthority = false
  for (const [index, part] of folded.split(/[/\\]/).entries()) {
    const segment = bareSegment(part)
    if (segment === '..') hasParent = true
    else if (segment !== '' && named.push(segment) === 1) isLikeAuthority = index > 1
  }
  // `..` may take away any number of the segments before it, depending on who resolves it; and to
  // `new URL('//x/admin', base)` the first is a host, behind which the path begins
  const lastStart = hasParent ? named.length - 1 : isLikeAuthority ? 1 : 0
  for (let start = 0; start <= lastStart; start++) {
    const rests = sealed.get(named[start] ?? '')
    if (rests?.some((rest) => rest.every((segment, index) => named[start + 1 + index] === segment)))
      return true
  }
  return false
}

/** `admin;x=1`, `admin#`, `admin. ` → `admin`; `.` and `;x` → nothing; `..;x` → `..`. */
function bareSegment(part: string): string {
  if (!/[;?#:.\s]/.test(part)) return part
  const cut = part.search(/[;?#]|::\$/)
  const bare = (cut === -1 ? part : part.slice(0, cut)).trimEnd()
  if (bare === '..') return bare
  let end = bare.length
  while (end > 0 && bare.charCodeAt(end - 1) === 0x2e) end--
  return bare.slice(0, end)
}

/** One round of percent-decoding, also `%u0061`; undefined for overlong forms, which only attack. */
function decodeOnce(text: string): string | undefined {
  if (!text.includes('%')) return text
  if (/%(?:c[01]|e0%[89]|f0%8)/i.test(text)) return undefined
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
  return utf8.includes('\ufffd') ? decoded.toString('latin1') : utf8
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
