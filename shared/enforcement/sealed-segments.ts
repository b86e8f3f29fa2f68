/**
 * Sealed means the page, however a common framework spells it: `/admin.json`, `/index.php/admin`,
 * `/_next/data/<build>/admin.json`, `/àdmin` where a database folds accents. One reading of a path,
 * already decoded, is held against the sealed prefixes here; where it is unsure it says sealed.
 */
import { LIMITS } from '../limits.ts'

export type SealedVerdict = 'open' | 'sealed' | 'unreadable'

interface SealedIndex {
  /**
   * In whatever reading, a path that is sealed has every segment of the prefix in it, the longest among
   * them, or a name that Windows made shorter, or a session of ASP.NET in between. Most paths have not,
   * and only that is looked at for each request.
   */
  readonly mayHold: RegExp
  /** By what a first segment begins with, up to its first mark: `admin.php` is found by `admin`. */
  readonly byStem: ReadonlyMap<string, readonly (readonly string[])[]>
  readonly isAll: boolean
}

/** Behind the name of a page: a format or extension, a stream of NTFS, a method of Struts. */
const MARK = /[.:!]/
const ASCII = /^[\x00-\x7f]*$/
/** Full stops that name mappings turn into a dot: CVE-class of `/。。/admin`. */
const FOREIGN_DOTS = /[\u3002\uff0e\uff61\u2024\ufe52]/g
/** What Windows' best fit makes a slash of. */
const FOREIGN_SLASHES = /[\u2044\u2215\u2216\u29f5\u29f8]/g
/**
 * Accents, and what file systems and collations skip: a soft hyphen, a zero-width space; with it the
 * control characters of latin1, and what stands for bytes that are no text.
 */
const SKIPPED = /[\p{M}\p{Default_Ignorable_Code_Point}\x80-\x9f\ufffd]/gu
/** Letters that collations and slugs fold although Unicode does not take them apart. */
const FOLDED = {
  æ: 'ae',
  ð: 'd',
  ø: 'o',
  þ: 'th',
  đ: 'd',
  ħ: 'h',
  ł: 'l',
  œ: 'oe',
  ŧ: 't',
} as const
const FOLDABLE = /[æðøþđħłœŧ]/g
/** ASP.NET takes `/(S(x))` out of a path, wherever it stands (CVE-2023-36899). */
const COOKIELESS = /\/\((?:[a-z]\([^()/]*\))+\)/g
/** Programs whose rest of the path is what they route by, by how their names end. */
export const PROGRAM_ENDS = 'php\\d?|phtml|f?cgi|pl|py|rb|aspx?|ashx|jspx?|cfm|dll|exe'
export const PROGRAM = new RegExp(`^index\\.|\\.(?:${PROGRAM_ENDS})$`)
/**
 * What may stand between `_next/data/<build>` and the page: a language, `default` where the guide of
 * Next.js calls the one without a prefix so, and `index`, which its older versions take away.
 */
const BEFORE_PAGE_DATA = /^(?:[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*|default|index)$/
/** `ADMINI~1` is `administration` to Windows, `AD3F2C~1` too once there are many. */
export const SHORT_NAME = /^([^~]{1,6})~\d/
const HASHED_NAME = /^(..)[0-9a-f]{4}$/

/** `/admin/x`, `/b`, in lower case → `admin` → [[admin, x]], `b` → [[b]]; `''` seals everything. */
export function indexSealed(prefixes: readonly string[]): SealedIndex {
  const byStem = new Map<string, string[][]>()
  const names = new Set<string>()
  for (const prefix of prefixes) {
    const segments = prefix.split('/').slice(1)
    const stem = stemOf(segments[0] ?? '')
    byStem.set(stem, [...(byStem.get(stem) ?? []), segments])
    const longest = segments.reduce((best, next) => (next.length > best.length ? next : best), '')
    names.add(longest.replace(/[^a-z0-9_-]/g, '\\$&'))
  }
  const named = names.size === 0 ? '(?!)' : [...names].join('|')
  const mayHold = new RegExp(`~\\d|[/\\\\]\\s*(?:\\([a-z]\\(|${named})`, 'i')
  return { mayHold, byStem, isAll: prefixes.includes('') }
}

export function judgeReading(level: string, sealed: SealedIndex): SealedVerdict {
  if (sealed.isAll) return 'sealed'
  const folded = fold(level)
  if (!sealed.mayHold.test(folded)) return 'open'
  return judgeBothFolded(folded, (named, passed) => new Comparison(named, passed, sealed))
}

/** Holds the segments of one reading against prefixes, beginning at some of them. */
export interface PrefixComparison {
  isUnderAny(first: number): boolean
  /** It would take too long to say. */
  readonly isGivenUp: boolean
}
type Begin = (named: readonly string[], passed: ReadonlySet<number>) => PrefixComparison

/** As `judgeReading`, for whoever wants to know which prefixes these are. */
export function compareReading(level: string, begin: Begin): SealedVerdict {
  return judgeBothFolded(fold(level), begin)
}

function judgeBothFolded(folded: string, begin: Begin): SealedVerdict {
  const verdict = judgeFolded(folded, begin)
  if (verdict !== 'open' || !folded.includes('/(')) return verdict
  return judgeFolded(folded.replace(COOKIELESS, ''), begin)
}

/**
 * Whether the page is another than the one that the path names: `/index.php/admin`, `/(S(x))/admin`.
 * A program that ends the path is itself the page.
 */
export function namesAnother(level: string): boolean {
  const hasMarks = level.indexOf('.') < level.lastIndexOf('/') || /[(]|_next|page-data/i.test(level)
  if (!hasMarks && ASCII.test(level)) return false
  const folded = fold(level)
  if (folded.search(COOKIELESS) !== -1) return true
  const named = folded.split(/[/\\]/).map(bareSegment)
  const last = named.length - 1
  return [...passedOver(named)].some((at) => at !== last || !PROGRAM.test(named[at]!))
}

export function fold(level: string): string {
  if (ASCII.test(level)) return level.toLowerCase()
  const lowered = level
    .normalize('NFKD')
    .replace(SKIPPED, '')
    .toUpperCase() // first up, then down: ſ and K fold to s and k, ı to i
    .toLowerCase()
  return lowered
    .replace(FOREIGN_DOTS, '.')
    .replace(FOREIGN_SLASHES, '/')
    .replace(FOLDABLE, (letter) => FOLDED[letter as keyof typeof FOLDED])
}

function judgeFolded(folded: string, begin: Begin): SealedVerdict {
  const named: string[] = []
  let hasParent = false
  let isLikeAuthority = false
  for (const [index, part] of folded.split(/[/\\]/).entries()) {
    const segment = bareSegment(part)
    if (segment === '..') hasParent = true
    else if (segment !== '' && named.push(segment) === 1) isLikeAuthority = index > 1
  }
  const passed = passedOver(named)
  const shortNames = named.filter((segment) => SHORT_NAME.test(segment)).length
  if (passed.size + shortNames > LIMITS.pathOddSegmentsMax) return 'unreadable'
  const comparison = begin(named, passed)
  let next = 0
  for (const start of named.keys()) {
    if (start < next) continue
    // `..` may take away any number of the segments before it, depending on who resolves it; to
    // `new URL('//x/admin', base)` the first is a host, behind which the path begins; and a program
    // may lie in any folder
    const isBeginning =
      start === 0 ||
      hasParent ||
      (isLikeAuthority && start === 1) ||
      PROGRAM.test(named[start - 1] ?? '')
    if (!isBeginning) continue
    for (next = start; next < named.length;) {
      if (comparison.isUnderAny(next)) return 'sealed'
      if (!passed.has(next++)) break
    }
  }
  return comparison.isGivenUp ? 'unreadable' : 'open'
}

/**
 * Segments that do not name the page: `index.php`, `_next/data/<build>/<language>`, `page-data`. In
 * `/docs/_next/data/b/x.json` the page is `/docs/x`, so they are passed over wherever they stand.
 */
function passedOver(named: readonly string[]): ReadonlySet<number> {
  const passed = new Set<number>()
  for (const [index, segment] of named.entries()) {
    if (segment === 'page-data' || PROGRAM.test(segment)) passed.add(index)
    if (segment !== '_next' || named[index + 1] !== 'data') continue
    for (const behind of [0, 1, 2]) passed.add(index + behind)
    for (let at = index + 3; BEFORE_PAGE_DATA.test(named[at] ?? '') && at < index + 5; at++)
      passed.add(at)
  }
  return passed
}

/** Of one reading with the prefixes: each may be long, and many may begin alike, so steps are counted. */
class Comparison implements PrefixComparison {
  readonly #named: readonly string[]
  readonly #passed: ReadonlySet<number>
  readonly #sealed: SealedIndex
  #stepsLeft: number = LIMITS.pathComparisonsMax

  constructor(named: readonly string[], passed: ReadonlySet<number>, sealed: SealedIndex) {
    this.#named = named
    this.#passed = passed
    this.#sealed = sealed
  }

  get isGivenUp(): boolean {
    return this.#stepsLeft < 0
  }

  isUnderAny(first: number): boolean {
    const { byStem } = this.#sealed
    const segment = this.#named[first]!
    if (byStem.get(stemOf(segment))?.some((prefix) => this.#isUnder(first, prefix))) return true
    if (!SHORT_NAME.test(segment)) return false
    // A short name is found by nothing but looking at each.
    for (const prefixes of byStem.values())
      if (prefixes.some((prefix) => this.#isUnder(first, prefix))) return true
    return false
  }

  #isUnder(first: number, prefix: readonly string[]): boolean {
    const passed = this.#passed
    let at = first
    for (const wanted of prefix) {
      for (; !this.#isNamed(at, wanted); at++) if (!passed.has(at)) return false
      at++
    }
    return true
  }

  #isNamed(at: number, wanted: string): boolean {
    return at < this.#named.length && --this.#stepsLeft >= 0 && isNamed(this.#named, at, wanted)
  }
}

/**
 * `admin`, `admin.json`, `admin::$data`, `admin!edit`. With more behind it a number after the dot is
 * another name: `/api/v1.1/x` is not under `/api/v1`, and no format is a number.
 */
export function isNamed(named: readonly string[], at: number, wanted: string): boolean {
  const segment = named[at]!
  if (segment.includes('~') && isShortOf(segment, wanted)) return true
  if (!segment.startsWith(wanted)) return false
  if (segment.length === wanted.length) return true
  if (!MARK.test(segment.charAt(wanted.length))) return false
  const isLast = at === named.length - 1
  return isLast || segment[wanted.length] !== '.' || !/^\d/.test(segment.slice(wanted.length + 1))
}

function isShortOf(segment: string, wanted: string): boolean {
  const [, short = ''] = SHORT_NAME.exec(segment) ?? []
  if (short === '') return false
  const whole = wanted.replace(/[. ]/g, '')
  if (whole.startsWith(short) && short.length >= Math.min(whole.length, 5)) return true
  return whole.startsWith(HASHED_NAME.exec(short)?.[1] ?? '~')
}

export function stemOf(segment: string): string {
  const mark = segment.search(MARK)
  return mark === -1 ? segment : segment.slice(0, mark)
}

/** `admin;x=1`, `admin#`, `admin. ` → `admin`; `.` and `;x` → nothing; `..;x` → `..`. */
export function bareSegment(part: string): string {
  if (!/[;?#.\s]/.test(part)) return part
  const cut = part.search(/[;?#]/)
  const bare = (cut === -1 ? part : part.slice(0, cut)).trim()
  if (bare === '..') return bare
  let end = bare.length
  while (end > 0 && (bare.charCodeAt(end - 1) === 0x2e || bare.charCodeAt(end - 1) === 0x20)) end--
  return bare.slice(0, end)
}
