/** Header lines as the other wire writes them, and lists of fields as HTTP/2 has them. */
import { LIMITS } from '../../shared/limits.ts'
import { mayBeTrailer } from '../wire/field-names.ts'
import { trimmed } from '../wire/grammar.ts'

/** `X-A: 1\r\nX-B: 2\r\n` → `x-a`, `1`, `x-b`, `2`, behind what is in the list already. */
export function appendLines(fields: string[], lines: string): void {
  for (let at = 0; at < lines.length;) {
    const found = lines.indexOf('\r\n', at)
    const lineEnd = found === -1 ? lines.length : found // and not the first line once more, without end
    const colon = lines.indexOf(':', at)
    fields.push(lines.slice(at, colon).toLowerCase(), trimmed(lines, colon + 1, lineEnd))
    at = lineEnd + 2
  }
}

export function fieldsOf(lines: string): string[] {
  const fields: string[] = []
  appendLines(fields, lines)
  return fields
}

/** The trailers of a request, as lines; null where there is too much of them. */
export function trailerLines(fields: readonly string[]): string | null {
  if (fields.length / 2 > LIMITS.headerCountMax) return null
  let lines = ''
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!
    const value = fields[at + 1]!
    if (value.includes('\n') || value.includes('\r')) return null
    if (mayBeTrailer(name)) lines += `${name}: ${value}\r\n`
  }
  return lines.length > LIMITS.trailerBytesMax ? null : lines
}
