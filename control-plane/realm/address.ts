import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export const addressOf = (request: IncomingMessage): string =>
  plainAddress(request.socket.remoteAddress ?? '')

/** `::ffff:192.0.2.1` → `192.0.2.1`, `fe80::1%eth0` → `fe80::1`: one person, one spelling. */
export function plainAddress(address: string): string {
  return (address.split('%')[0] ?? '').replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase()
}

/**
 * One IPv6 client has a whole /64 of addresses (RFC 6177): that is who is counted, as
 * `2001:db8:1:2::/64`. Whatever cannot be read is counted as it is.
 */
export function countedAs(address: string): string {
  if (isIP(address) !== 6) return address
  const [left = '', right] = address.split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length
  const groups = [...head, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
