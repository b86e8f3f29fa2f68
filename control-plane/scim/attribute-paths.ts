/**
 * Attribute paths and filters, as providers write them: any case, with or without the URN of a
 * schema in front, `emails[type eq "work"].value`. Read into words that are compared with a fixed
 * table later: nothing here is ever a key of an object of ours.
 */
import { LIMITS } from '../../shared/limits.ts'
import { ScimError } from './scim-error.ts'

/** In lower case. */
export interface AttributePath {
  readonly name: string
  readonly sub: string | undefined
  /** What is in the brackets, all of which has to be true. */
  readonly where: readonly Term[]
}

export interface Term {
  readonly path: AttributePath
  readonly value: string | boolean
}

const USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:user'
const GROUP_URN = 'urn:ietf:params:scim:schemas:core:2.0:group'
const ENTERPRISE_URN = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user'
/** By which attributes of that schema are told from others. */
export const ENTERPRISE = 'enterprise'

const TOKEN = /\s*(?:([[\]])|("(?:[^"\\]|\\.)*")|([^\s[\]"()]+))/y
const WORD = /^[a-z$][\w$-]*$/

type Token = { readonly kind: 'mark' | 'text' | 'word'; readonly text: string }

/** Of a PATCH operation, or a key of its value. */
export function readPath(text: string): AttributePath {
  const fail = () =>
    new ScimError(
      400,
      `The path ${shown(text)} cannot be read. Send a path like displayName, name.givenName or emails[type eq "work"].value.`,
      'invalidPath',
    )
  const tokens = tokensOf(text, LIMITS.scimPathCharactersMax, fail)
  const { path, next } = pathAt(tokens, 0, fail)
  if (next !== tokens.length) throw fail()
  return path
}

/** `a eq "b" and c eq true`. */
export function readFilter(text: string): readonly Term[] {
  const fail = () =>
    new ScimError(
      400,
      `The filter ${shown(text)} is not supported. Compare attributes with eq, and combine them with and, for example userName eq "ada".`,
      'invalidFilter',
    )
  const tokens = tokensOf(text, LIMITS.scimFilterCharactersMax, fail)
  const { terms, next } = termsAt(tokens, 0, fail)
  if (next !== tokens.length) throw fail()
  return terms
}

const shown = (text: string) => JSON.stringify(text.slice(0, 100))

type Fail = () => ScimError

function tokensOf(text: string, charactersMax: number, fail: Fail): Token[] {
  if (text.length > charactersMax) throw fail()
  const tokens: Token[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text)
    if (match === null) throw fail()
    const [, mark, quoted, word] = match
    if (mark !== undefined) tokens.push({ kind: 'mark', text: mark })
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: unquoted(quoted, fail) })
    else tokens.push({ kind: 'word', text: word ?? '' })
  }
  return tokens
}

function unquoted(quoted: string, fail: Fail): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    throw fail()
  }
}

function pathAt(tokens: readonly Token[], at: number, fail: Fail) {
  const word = tokens[at]
  if (word?.kind !== 'word') throw fail()
  const { name, sub } = namesOf(word.text.toLowerCase(), fail)
  if (tokens[at + 1]?.text !== '[' || tokens[at + 1]?.kind !== 'mark')
    return { path: { name, sub, where: [] }, next: at + 1 }
  const { terms, next } = termsAt(tokens, at + 2, fail)
  if (sub !== undefined || tokens[next]?.text !== ']') throw fail()
  const behind = tokens[next + 1]
  if (behind?.kind !== 'word' || !behind.text.startsWith('.'))
    return { path: { name, sub: undefined, where: terms }, next: next + 1 }
  const inner = behind.text.slice(1).toLowerCase()
  if (!WORD.test(inner)) throw fail()
  return { path: { name, sub: inner, where: terms }, next: next + 2 }
}

function termsAt(
  tokens: readonly Token[],
  from: number,
  fail: Fail,
): { readonly terms: readonly Term[]; readonly next: number } {
  const terms: Term[] = []
  for (let at = from; ; at++) {
    const { path, next } = pathAt(tokens, at, fail)
    // `members[value eq "x"]` says all that there is to say
    const isWhole = path.where.length > 0 && path.sub === undefined
    if (isWhole) terms.push(...path.where.map((term) => within(path.name, term)))
    else if (tokens[next]?.text.toLowerCase() !== 'eq') throw fail()
    else terms.push({ path, value: valueOf(tokens[next + 1], fail) })
    if (terms.length > LIMITS.scimFilterTermsMax) throw fail()
    at = isWhole ? next : next + 2
    const isMore = tokens[at]?.kind === 'word' && tokens[at]?.text.toLowerCase() === 'and'
    if (!isMore) return { terms, next: at }
  }
}

const within = (name: string, { path, value }: Term): Term => ({
  path: { name, sub: path.name, where: [] },
  value,
})

function valueOf(token: Token | undefined, fail: Fail): string | boolean {
  if (token?.kind === 'text') return token.text
  const bare = token?.kind === 'word' ? token.text.toLowerCase() : ''
  if (bare !== 'true' && bare !== 'false') throw fail()
  return bare === 'true'
}

function namesOf(text: string, fail: Fail) {
  for (const [urn, lead] of [
    [USER_URN, ''],
    [GROUP_URN, ''],
    [ENTERPRISE_URN, ENTERPRISE],
  ] as const) {
    if (text === urn && lead !== '') return { name: lead, sub: undefined }
    if (!text.startsWith(`${urn}:`)) continue
    const { name, sub } = split(text.slice(urn.length + 1), fail)
    return lead === ''
      ? { name, sub }
      : { name: lead, sub: sub === undefined ? name : `${name}.${sub}` }
  }
  // somebody else's schema is an attribute that we do not keep
  if (text.startsWith('urn:')) return { name: text, sub: undefined }
  return split(text, fail)
}

function split(text: string, fail: Fail) {
  const [name = '', sub, ...further] = text.split('.')
  if (!WORD.test(name) || (sub !== undefined && !WORD.test(sub)) || further.length > 0) throw fail()
  return { name, sub }
}

/** As somebody would write it, for the log. */
export const pathText = ({ name, sub }: AttributePath) =>
  (sub === undefined ? name : `${name}.${sub}`).slice(0, LIMITS.scimAttributeCharactersMax)
