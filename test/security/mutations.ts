/** Small seeded changes to HTTP texts, of the kinds that have split parsers before. */

/** A whole number from 0 up to, and not including, the bound. */
export type Random = (bound: number) => number

/** mulberry32: the same seed gives the same case, on every machine. */
export function mutator(seed: number): Random {
  let state = seed >>> 0
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, bound)
  }
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!

const BYTES = [
  '\r', '\n', '\r\n', '\0', ' ', '\t', ':', ',', ';', '"', '\\', '#', '?', '/', '%', '%00', '\v',
  '\f', '\x7f', '\x85', '\xa0', '\xff', '0', '1', '5', 'a', 'F', '-', '_', '.', '+', '=', '*', '@',
  '[', ']', '0x', '\r\n\r\n', '\n\n', '\r\r\n', '\x1f', 'HTTP/1.0', 'HTTP/1.1',
] // prettier-ignore

const LINES = [
  'Content-Length: 5', 'Content-Length: 0', 'Content-Length: +5', 'Content-Length: 5, 5',
  'Content-Length:', 'content-length: 05', 'Content_Length: 3', 'Content-Length : 3',
  'Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'transfer-encoding: Chunked',
  'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding:\tchunked', 'Transfer_Encoding: chunked',
  ' folded', '\tfolded', 'Host: evil', 'Host:', 'host: a', 'Connection: close',
  'Connection: keep-alive, transfer-encoding, content-length, host', 'Connection: X-Service-User',
  'Connection: \xa0close', 'Upgrade: websocket', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQ',
  'Expect: 100-continue', 'TE: trailers', 'TE: chunked', 'Trailer: Content-Length', 'X-Service-User: root',
  'X_Service_User: root', 'x.service.user: root', 'X~Service~User: root', 'X-Forwarded-For: 1',
  'Keep-Alive: timeout=5', 'Proxy-Connection: close', 'Cookie: a=b', '__proto__: x', ': x', 'X',
  'Set-Cookie: service_session=1', 'Set-Cookie: =service_session=1', 'Cache-Control: public',
  'Cache-Control: no-store', `X-Long: ${'a'.repeat(5000)}`, 'X-\xe9: b', 'X: \xe9',
] // prettier-ignore

/** One to four changes, or, now and then, none. */
export function mutate(random: Random, text: string): string {
  let mutated = text
  for (let left = random(5); left > 0; left--) mutated = once(random, mutated)
  return mutated
}

function once(random: Random, text: string): string {
  const at = random(text.length + 1)
  switch (random(8)) {
    case 0:
      return text.slice(0, at) + pick(random, BYTES) + text.slice(at)
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random(3))
    case 2:
      return text.slice(0, at) + pick(random, BYTES) + text.slice(at + 1)
    case 3:
    case 4: {
      const lines = text.split('\r\n')
      lines.splice(1 + random(lines.length), 0, pick(random, LINES))
      return lines.join('\r\n')
    }
    case 5: {
      const lines = text.split('\r\n')
      const moved = lines.splice(random(lines.length), 1)
      lines.splice(random(lines.length + 1), 0, ...moved, ...(random(2) === 0 ? moved : []))
      return lines.join('\r\n')
    }
    case 6:
      return text + text
    default:
      return text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1)
  }
}
