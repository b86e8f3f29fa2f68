/**
 * JSON as it should be sent: one reading only. A repeated key means one thing to us and another to
 * whoever checks before us; `__proto__` means something to half of all JavaScript; and deep
 * nesting is nothing but an attack on a parser's stack.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw new Refusal('body_not_json')
  }
  checkKeys(text)
  return value
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const isBlank = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/**
 * One pass over text that is known to be valid JSON, so only strings and brackets matter. No
 * regular expression: a long string of escapes would overflow its stack.
 */
function checkKeys(text: string) {
  const keysOf: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') {
      keysOf.push(character === '{' ? new Set() : undefined)
      if (keysOf.length > LIMITS.jsonDepthMax)
        throw new Refusal('body_not_json', {}, 'The body is nested too deeply.')
    } else if (character === '}' || character === ']') keysOf.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      if (isKey(text, end)) checkKey(text.slice(at, end), keysOf.at(-1))
      at = end - 1
    }
  }
}

/** The index behind the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at + 1
  }
}

function isKey(text: string, end: number): boolean {
  let at = end
  while (isBlank(text.charCodeAt(at))) at++
  return text.charCodeAt(at) === COLON
}

function checkKey(literal: string, seen: Set<string> | undefined) {
  const key = JSON.parse(literal) as string
  if (key === '__proto__')
    throw new Refusal('field_invalid', { field: key }, 'This field is not known here.')
  if (seen?.has(key))
    throw new Refusal('field_invalid', { field: key.slice(0, 100) }, 'A field is given twice.')
  seen?.add(key)
}
