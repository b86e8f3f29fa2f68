/** Header lines as the other wire writes them, and lists of fields as HTTP/2 takes them. */
import type { OutgoingHttpHeaders } from 'node:http2'
import { LIMITS } from '../../shared/limits.ts'
import { mayBeTrailer } from '../wire/field-names.ts'
import { trimmed } from '../wire/grammar.ts'

/** `X-A: 1\r\nX-B: 2\r\n` → `x-a`, `1`, `x-b`, `2`, behind what is in the list already. */
export function appendLines(fields: string[], lines: string): void {
  for (let at = 0; at < lines.length;) {
    const lineEnd = lines.indexOf('\r\n', at)
    const colon = lines.indexOf(':', at)
    fields.push(lines.slice(at, colon).toLowerCase(), trimmed(lines, colon + 1, lineEnd))
    at = lineEnd + 2
  }
}

/** Where Node takes no list: repeated names become one with several values. */
export function fieldsObject(lines: string): OutgoingHttpHeaders {
  const fields: string[] = []
  appendLines(fields, lines)
  // Without a prototype: `__proto__` is a name like any other (CVE-2026-21710).
  const values: Record<string, string[]> = Object.create(null) as Record<string, string[]>
  for (let at = 0; at < fields.length; at += 2) (values[fields[at]!] ??= []).push(fields[at + 1]!)
  return values
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
