import type { IncomingMessage } from 'node:http'

/** `::ffff:192.0.2.1` → `192.0.2.1`: one person, one spelling. */
export function addressOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
}

/** One IPv6 client has a whole /64 of addresses (RFC 6177): that is who is counted. */
export function countedAs(address: string): string {
  if (!address.includes(':')) return address
  const groups = (address.split('::')[0] ?? '').split(':')
  return Array.from({ length: 4 }, (_item, index) => groups[index] || '0').join(':')
}
