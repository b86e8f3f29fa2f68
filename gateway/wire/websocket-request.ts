/** What makes a request the opening of a WebSocket, RFC 6455 section 4.1. */
import { trimmed } from './grammar.ts'

/** 16 bytes of base64. */
const KEY = /^[A-Za-z0-9+/]{22}==$/

/**
 * Exactly one key and exactly version 13. A handshake that the application would refuse must not
 * be half of one here: whoever tunnels before that has been decided tunnels HTTP (0ang3el 2019).
 */
export function opensWebSocket(lines: string): boolean {
  return (
    KEY.test(onlyValue(lines, 'sec-websocket-key') ?? '') &&
    onlyValue(lines, 'sec-websocket-version') === '13'
  )
}

/** The value of a line that must not be repeated; undefined where it is, or is missing. */
export function onlyValue(lines: string, name: string): string | undefined {
  const values = valuesOf(lines, name)
  return values.length === 1 ? values[0] : undefined
}

/** The values of all lines of one name, given in lower case. Each line ends in CRLF. */
export function valuesOf(lines: string, name: string): string[] {
  const values: string[] = []
  for (let at = 0; at < lines.length;) {
    const end = lines.indexOf('\r\n', at)
    const colon = lines.indexOf(':', at)
    if (lines.slice(at, colon).toLowerCase() === name) values.push(trimmed(lines, colon + 1, end))
    at = end + 2
  }
  return values
}
