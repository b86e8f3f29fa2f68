/**
 * Who is the client? The peer, unless the peer is one of the operator's own proxies: then the first
 * address from the right that is not. What cannot be read is not believed (CVE-2023-36456).
 */
import { isIP } from 'node:net'
import { networkList } from './networks.ts'

export interface ClientAddress {
  readonly address: string
  /** What goes on in X-Forwarded-For: the believed part of the chain and the peer. */
  readonly chain: string
  /** Whether the peer's word on the protocol counts. */
  readonly isPeerTrusted: boolean
  /** A proxy that is trusted says who it is, and nobody can read that: `address` is the proxy's. */
  readonly isUnread: boolean
}

/** Peers without an address, as they stand among trusted proxies: on a unix socket (nginx's word), */
export const UNIX_SOCKETS = 'unix:'
/** and where a framework does not tell who asks (RFC 7239, section 6.2). */
export const UNKNOWN_PEER = 'unknown'

/** `''` is neither of them: a client that has gone is no proxy, and its own word is not believed. */
export const isNameless = (peer: string) => peer === UNIX_SOCKETS || peer === UNKNOWN_PEER

export type AddressReader = (peer: string, forwardedFor: string) => ClientAddress

export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  if (trustedProxies.length === 0) return (peer) => stranger(isNameless(peer) ? '' : peer)
  const nameless = trustedProxies.filter(isNameless)
  const isInNetwork = networkList(trustedProxies.filter((entry) => !isNameless(entry)))
  const isTrusted = (peer: string) =>
    isNameless(peer) ? nameless.includes(peer) : isInNetwork(peer)

  return (peer, forwardedFor) => {
    const peerAddress = isNameless(peer) ? '' : peer
    if (!isTrusted(peer)) return stranger(peerAddress)
    const believed = peerAddress === '' ? [] : [peerAddress]
    let isUnread = false
    for (const hop of forwardedFor.split(',').reverse()) {
      const address = plainAddress(withoutPort(hop.trim()))
      isUnread = address === undefined && forwardedFor !== ''
      if (address === undefined) break
      believed.unshift(address)
      if (!isTrusted(address)) break
    }
    const address = believed[0] ?? peerAddress
    return { address, chain: believed.join(', '), isPeerTrusted: true, isUnread }
  }
}

/** Whoever speaks for itself: nothing that it says of others is believed. */
export const stranger = (address: string): ClientAddress => ({
  address,
  chain: '',
  isPeerTrusted: false,
  isUnread: false,
})

/** Some proxies write where it came from to the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const [, address] =
    /^(?:\[([0-9a-f:.]+)\](?::\d{1,5})?)$/i.exec(hop) ?? /^([0-9.]+):\d{1,5}$/.exec(hop) ?? []
  return address ?? hop
}

/** `::ffff:10.0.0.1` → `10.0.0.1`, so that one client has one spelling. */
export function plainAddress(text: string): string | undefined {
  const bare = text.trim().replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(bare) === 0 ? undefined : bare
}

/** A mapped IPv4 address is written as IPv4, and no zone behind it: one client, one spelling. */
export function withoutMapping(address: string): string {
  return (address.split('%')[0] ?? '').replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase()
}

/**
 * One IPv6 client has a whole /64 of addresses (RFC 6177): that is who is counted, as
 * `2001:db8:1:2::/64`. Whatever cannot be read is counted as it is.
 */
export const countedAs = (address: string): string => networkOf(address, 4)

/**
 * A whole site, which gets up to a /48 (RFC 6177), and some give one to anybody: for what one client
 * could hold by itself with the 256 or 65,536 networks in it.
 */
export const countedWidelyAs = (address: string): string => networkOf(address, 3)

/** `2001:db8::1` → all eight, as they were written. */
export function groupsOfIpv6(address: string): string[] {
  const [left = '', right] = address.split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length
  return [...head, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail]
}

function networkOf(address: string, groupCount: number): string {
  if (isIP(address) !== 6) return address
  const network = groupsOfIpv6(address)
    .slice(0, groupCount)
    .map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/${16 * groupCount}`
}
