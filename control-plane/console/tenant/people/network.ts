/** A network as people type it: `192.0.2.0/24`, `192.0.2.`, `2001:db8::/32`. */
import { BlockList, isIP, isIPv4 } from 'node:net'
import type { Network } from '../../../store/queries/alive-sessions.ts'

const PREFIX = /^([0-9a-f.:]+)\/(\d{1,3})$/i
const OCTETS = /^(?:\d{1,3}\.){1,3}$/

export function networkOf(text: string): Network | undefined {
  if (OCTETS.test(text)) return { beginning: text, has: (ip) => isIPv4(ip) && ip.startsWith(text) }
  const [, base = '', bits = ''] = PREFIX.exec(text) ?? []
  const family = isIP(base)
  const length = Number(bits)
  if (family === 0 || length > (family === 4 ? 32 : 128)) return undefined
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(base, length, kind)
  return {
    beginning: family === 4 ? octetsOf(base, length) : groupsOf(base, length),
    has: (ip) => isIP(ip) === family && list.check(ip, kind),
  }
}

const octetsOf = (base: string, length: number) =>
  base
    .split('.')
    .slice(0, Math.floor(length / 8))
    .map((octet) => `${Number(octet)}.`)
    .join('')
    .slice(0, length === 32 ? -1 : undefined)

/** Whole groups up to the first zero: from there on there is more than one spelling. */
function groupsOf(base: string, length: number): string {
  const written = new URL(`http://[${base}]`).hostname.slice(1, -1)
  const groups = (written.split('::')[0] ?? '').split(':').filter((group) => group !== '')
  const sure = groups.slice(0, Math.floor(length / 16))
  const zero = sure.indexOf('0')
  const kept = zero < 0 ? sure : sure.slice(0, zero)
  return kept.length === 8 ? kept.join(':') : kept.map((group) => `${group}:`).join('')
}
