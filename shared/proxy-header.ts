/** One PROXY header, read strictly: nothing that two readers could understand in two ways. */
import { isIPv4, isIPv6 } from 'node:net'
import { withoutMapping } from './client-address.ts'
import { LIMITS } from './limits.ts'

export interface ProxyHeader {
  readonly peerAddress?: string
  /** In place of an address: the connection is the balancer's own, as those of its health checks are. */
  readonly namesNobody?: boolean
  /** The client spoke TLS with the balancer, which says so. */
  readonly isSecure?: boolean
  /** How long the header is; behind it the client begins. */
  readonly bytes: number
}

export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  if (startsAs(bytes, SIGNATURE)) return parseVersion2(bytes)
  if (startsAs(bytes, PROXY)) return parseVersion1(bytes)
  return 'malformed'
}

/** Whether it is, or can still become, what begins with `start`. */
function startsAs(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length)
  return bytes.compare(start, 0, length, 0, length) === 0
}

// Version 1: a line

const PROXY = Buffer.from('PROXY ', 'latin1')
/** With its CRLF (section 2.1). */
const LINE_BYTES_MAX = 107
const LINE = /^PROXY (TCP4|TCP6) ([0-9a-fA-F.:]+) ([0-9a-fA-F.:]+) (\d{1,5}) (\d{1,5})$/
const UNKNOWN_LINE = /^PROXY UNKNOWN(?: [\x20-\x7e]*)?$/

function parseVersion1(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  const end = bytes.subarray(0, LINE_BYTES_MAX).indexOf('\r\n')
  if (end === -1) return bytes.length < LINE_BYTES_MAX ? 'incomplete' : 'malformed'
  const line = bytes.toString('latin1', 0, end)
  const length = end + 2
  if (UNKNOWN_LINE.test(line)) return { namesNobody: true, bytes: length }
  const [, family, source = '', destination = '', sourcePort, destinationPort] =
    LINE.exec(line) ?? []
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6
  if (family === undefined || !isAddress(source) || !isAddress(destination)) return 'malformed'
  if (!isPort(sourcePort) || !isPort(destinationPort)) return 'malformed'
  return { peerAddress: withoutMapping(source.toLowerCase()), bytes: length }
}

function isPort(text = ''): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535
}

// Version 2: a fixed head, addresses, and type-length-value items

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const HEAD_BYTES = 16
const COMMAND = { local: 0x20, proxy: 0x21 } as const
const TCP4 = { code: 0x11, addressBytes: 4 } as const
const TCP6 = { code: 0x21, addressBytes: 16 } as const
const UNSPECIFIED = 0x00
const PORT_BYTES = 2

function parseVersion2(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  if (bytes.length < HEAD_BYTES) return 'incomplete'
  const command = bytes[12]
  const end = HEAD_BYTES + bytes.readUInt16BE(14)
  if (command !== COMMAND.local && command !== COMMAND.proxy) return 'malformed'
  if (end > LIMITS.proxyHeaderBytesMax) return 'malformed'
  if (bytes.length < end) return 'incomplete'
  // What a balancer says about its own connection is to be skipped whole (section 2.2).
  if (command === COMMAND.local || bytes[13] === UNSPECIFIED)
    return { namesNobody: true, bytes: end }
  const family = [TCP4, TCP6].find(({ code }) => code === bytes[13])
  if (family === undefined) return 'malformed'
  const itemsAt = HEAD_BYTES + 2 * (family.addressBytes + PORT_BYTES)
  if (itemsAt > end) return 'malformed'
  const items = readItems(bytes, itemsAt, end)
  if (items === undefined) return 'malformed'
  if (items.checksumAt !== -1 && !hasChecksum(bytes.subarray(0, end), items.checksumAt))
    return 'malformed'
  const source = bytes.subarray(HEAD_BYTES, HEAD_BYTES + family.addressBytes)
  return {
    peerAddress: family === TCP4 ? source.join('.') : textOfIpv6(source),
    isSecure: items.isSecure,
    bytes: end,
  }
}

const ITEM = { checksum: 0x03, tls: 0x20 } as const
const ITEM_HEAD_BYTES = 3
const CLIENT_SPOKE_TLS = 0x01

function readItems(bytes: Buffer, from: number, to: number) {
  let isSecure = false
  let checksumAt = -1
  for (let at = from; at < to;) {
    if (at + ITEM_HEAD_BYTES > to) return undefined
    const type = bytes[at]
    const length = bytes.readUInt16BE(at + 1)
    const valueAt = at + ITEM_HEAD_BYTES
    at = valueAt + length
    if (at > to) return undefined
    if (type === ITEM.tls) {
      if (length < 5) return undefined
      isSecure = (bytes[valueAt]! & CLIENT_SPOKE_TLS) !== 0
    } else if (type === ITEM.checksum) {
      if (length !== 4 || checksumAt !== -1) return undefined
      checksumAt = valueAt
    }
  }
  return { isSecure, checksumAt }
}

/** Two groups that differ in no bit have one spelling: RFC 5952, by Node's own hand. */
function textOfIpv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_item, index) =>
    bytes.readUInt16BE(index * 2).toString(16),
  )
  const bare = new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.test(bare)
  return mapped ? bytes.subarray(12).join('.') : bare
}

/** CRC-32C over the header with zeros in place of the checksum (section 2.2.3). */
function hasChecksum(header: Buffer, checksumAt: number): boolean {
  const blank = Buffer.from(header)
  blank.fill(0, checksumAt, checksumAt + 4)
  return crc32c(blank) === header.readUInt32BE(checksumAt)
}

const CASTAGNOLI_REVERSED = 0x82f63b78

/** At most two kilobytes, once per connection: a table would not be worth its place. */
export function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++)
      crc = (crc & 1) === 1 ? (crc >>> 1) ^ CASTAGNOLI_REVERSED : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
