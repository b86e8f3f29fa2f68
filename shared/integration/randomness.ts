/** Whether a word looks drawn at random. Sized for keys; names, paths and prose are left alone. */
import { withoutTrailing } from '../trailing.ts'

const HEX_CHARACTERS_MIN = 32
const HEX_BITS_MIN = 3
const MIXED_CHARACTERS_MIN = 20
const MIXED_BITS_MIN = 3.7
/** A person who writes a long name changes between letters and digits once or twice. */
const TURNS_SHARE_MIN = 0.25

export function isRandomLooking(word: string): boolean {
  if (isSequence(word) || isUuid(word)) return false
  if (/^[0-9a-f]+$/i.test(word))
    return word.length >= HEX_CHARACTERS_MIN && /[a-f]/i.test(word) && bits(word) >= HEX_BITS_MIN
  const bare = withoutTrailing(word, '=')
  if (bare.length < MIXED_CHARACTERS_MIN) return false
  if (isName(bare) || isPath(bare) || isJoined(bare)) return false
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(bare)).length
  return kinds === 3 && bits(bare) >= MIXED_BITS_MIN && turns(bare) >= TURNS_SHARE_MIN
}

/** Shannon's, per character. */
function bits(word: string): number {
  const counts = new Map<string, number>()
  for (const character of word) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => {
    const share = count / word.length
    return sum - share * Math.log2(share)
  }, 0)
}

/** How often the kind of character changes, per character. */
function turns(word: string): number {
  const kind = (character: string) =>
    /[a-z]/.test(character) ? 'a' : /[A-Z]/.test(character) ? 'A' : /\d/.test(character) ? '0' : '-'
  let count = 0
  for (let at = 1; at < word.length; at++)
    if (kind(word.charAt(at)) !== kind(word.charAt(at - 1))) count++
  return count / word.length
}

/** `abcdefghijklmnop…`, `ABC…xyz0123456789+/`: alphabets, not draws from one. */
function isSequence(word: string): boolean {
  let longest = 0
  let run = 0
  for (let at = 1; at < word.length; at++) {
    run = word.charCodeAt(at) - word.charCodeAt(at - 1) === 1 ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest >= 8
}

const isUuid = (word: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word)

/** `src/pages/v2/userProfile2Page`: several parts, each a word of letters with a number at most. */
function isPath(word: string): boolean {
  const parts = word.split('/')
  return parts.length > 2 && parts.every((part) => isName(part))
}

/** `user-session-v2-Handler`, `X_Service_V2_Claims`. */
function isJoined(word: string): boolean {
  const parts = word.split(/[-_]/)
  return parts.length > 2 && parts.every((part) => isName(part))
}

const isName = (part: string) =>
  /^(?:[a-z]*|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)\d{0,2}$/.test(part)
