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

/** One pass over text that is known to be valid JSON, so only strings and brackets matter. */
function checkKeys(text: string) {
  const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g
  const keysOf: (Set<string> | undefined)[] = []
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      keysOf.push(token === '{' ? new Set() : undefined)
      if (keysOf.length > LIMITS.jsonDepthMax)
        throw new Refusal('body_not_json', {}, 'The body is nested too deeply.')
    } else if (token === '}' || token === ']') keysOf.pop()
    else if (colon !== undefined) checkKey(token.slice(0, -colon.length), keysOf.at(-1))
  }
}

function checkKey(literal: string, seen: Set<string> | undefined) {
  const key = JSON.parse(literal) as string
  if (key === '__proto__')
    throw new Refusal('field_invalid', { field: key }, 'This field is not known here.')
  if (seen?.has(key))
    throw new Refusal('field_invalid', { field: key.slice(0, 100) }, 'A field is given twice.')
  seen?.add(key)
}
