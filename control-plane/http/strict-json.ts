/**
 * JSON as it should be sent: one reading only. A repeated key means one thing to us and another to
 * whoever checks before us; `__proto__` means something to half of all JavaScript; and deep
 * nesting is nothing but an attack on a parser's stack.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * With `areElementsApart`, a wrong key inside an element of a list spoils that element alone, which
 * becomes null: one reporter's mistake does not cost the reports of all others.
 */
export function parseStrictJson(
  bytes: Uint8Array,
  areElementsApart = false,
  valuesMax: number = LIMITS.jsonValuesMax,
): unknown {
  let text: string
  let value: unknown
  refuseTooManyValues(bytes, valuesMax)
  try {
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw new Refusal('body_not_json')
  }
  for (const { list, at } of checkKeys(text, areElementsApart))
    (value as Record<string, unknown[]>)[list]![at] = null
  return value
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const isBlank = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/**
 * Before anything is made of them: a megabyte holds half a million. In front of every value but the
 * first there is a comma or an opening bracket, so a short body cannot have too many.
 */
function refuseTooManyValues(bytes: Uint8Array, valuesMax: number) {
  if (bytes.length < valuesMax) return
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at]
    if (code === QUOTE) at = endOfBytes(bytes, at) - 1
    else if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) values++
    if (values > valuesMax)
      throw new Refusal(
        'body_too_large',
        { items_max: valuesMax },
        `The body has more than ${valuesMax} values. Split it into smaller requests.`,
      )
  }
}

/**
 * One pass over text that is known to be valid JSON, so only strings and brackets matter. No
 * regular expression: a long string of escapes would overflow its stack.
 */
function checkKeys(text: string, areElementsApart: boolean): Spoilt[] {
  const keysOf: (Set<string> | undefined)[] = []
  const spoilt: Spoilt[] = []
  let list = ''
  let element = 0
  let isSpoilt = false // this element, whatever else is wrong in it
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA && keysOf.length === 2) {
      element++
      isSpoilt = false
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      keysOf.push(code === OPEN_OBJECT ? new Set() : undefined)
      if (keysOf.length > LIMITS.jsonDepthMax)
        throw new Refusal('body_not_json', {}, 'The body is nested too deeply. Flatten it.')
      if (keysOf.length === 2) {
        element = 0
        isSpoilt = false
      }
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) keysOf.pop()
    else if (code === QUOTE) {
      const end = endOfString(text, at)
      const isInElement = keysOf[0] !== undefined && keysOf.length > 2 && keysOf[1] === undefined
      if (!(isInElement && isSpoilt) && isKey(text, end)) {
        const key = JSON.parse(text.slice(at, end)) as string
        const problem = problemOf(key, keysOf.at(-1))
        if (problem !== undefined) {
          if (!(areElementsApart && isInElement))
            throw new Refusal('field_invalid', { field: key.slice(0, 100) }, problem)
          isSpoilt = true
          spoilt.push({ list, at: element })
        }
        if (keysOf.length === 1) list = key
      }
      at = end - 1
    }
  }
  return spoilt
}

interface Spoilt {
  readonly list: string
  readonly at: number
}

/** Behind so many others the next quote is looked for at once: most of a large body is long text. */
const RUN = 32

/** The index behind the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1, run = 0; ; at++, run++) {
    if (run === RUN) {
      const from = at
      at = text.indexOf('"', from)
      let escapes = at
      while (escapes > from && text.charCodeAt(escapes - 1) === BACKSLASH) escapes--
      if ((at - escapes) % 2 === 0) return at + 1
      run = 0
      continue
    }
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code !== BACKSLASH) continue
    at++
    run = 0
  }
}

/** The same of what may be no JSON: its end, where nothing closes it. */
function endOfBytes(bytes: Uint8Array, start: number): number {
  for (let at = start + 1, run = 0; at < bytes.length; at++, run++) {
    if (run === RUN) {
      const from = at
      at = bytes.indexOf(QUOTE, from)
      if (at < 0) return bytes.length
      let escapes = at
      while (escapes > from && bytes[escapes - 1] === BACKSLASH) escapes--
      if ((at - escapes) % 2 === 0) return at + 1
      run = 0
      continue
    }
    const code = bytes[at]
    if (code === QUOTE) return at + 1
    if (code !== BACKSLASH) continue
    at++
    run = 0
  }
  return bytes.length
}

function isKey(text: string, end: number): boolean {
  let at = end
  while (isBlank(text.charCodeAt(at))) at++
  return text.charCodeAt(at) === COLON
}

function problemOf(key: string, seen: Set<string> | undefined): string | undefined {
  if (key === '__proto__') return 'Unknown field.'
  if (seen?.has(key)) return 'A field appears twice.'
  seen?.add(key)
  return undefined
}
