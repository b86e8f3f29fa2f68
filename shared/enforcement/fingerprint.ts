/**
 * What a session is bound to: browser family and system, and the client's network. Coarse on
 * purpose: an update of the browser or a new address from the same provider is the same client.
 */
import { groupsOfIpv6 } from '../client-address.ts'

const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ['edge', /\bEdgA?\//],
  ['opera', /\bOPR\//],
  ['samsung', /\bSamsungBrowser\//],
  ['firefox', /\b(?:Firefox|FxiOS)\//],
  ['chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['safari', /\bSafari\//],
]
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ['ios', /\b(?:iPhone|iPad|iPod)\b/],
  ['android', /\bAndroid\b/],
  ['windows', /\bWindows\b/],
  ['mac', /\bMac OS X\b/],
  ['linux', /\bLinux\b/],
]

export function fingerprintOf(userAgent: string, clientAddress: string): string {
  return `${familyOf(userAgent)}/${networkOf(clientAddress)}`
}

/** Nobody knows where a client of an unreadable network is: it equals no other, nor itself. */
export function isSameClient(one: string, other: string): boolean {
  return one === other && isReadable(one)
}

export const isReadable = (fingerprint: string): boolean => !fingerprint.endsWith(NOWHERE)

/** `firefox-linux`; programs by their own name. */
export function familyOf(userAgent: string): string {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  if (browser !== undefined) return `${browser}-${system ?? 'other'}`
  return /^[A-Za-z0-9._-]{1,40}/.exec(userAgent)?.[0].toLowerCase() ?? 'none' // `curl/8.1` → curl
}

const UNREADABLE = 'unreadable'
const NOWHERE = `/${UNREADABLE}`

/** Whether both are known, and the same. */
export function isSameNetwork(one: string, other: string): boolean {
  const network = networkOf(one)
  return network !== UNREADABLE && network === networkOf(other)
}

/** /24 of IPv4, /48 of IPv6. Two of them are compared by the functions above. */
export function networkOf(address: string): string {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.\d{1,3}$/.exec(address)
  if (v4) return `${v4[1]}.${v4[2]}.${v4[3]}.0-24`
  if (!address.includes(':')) return UNREADABLE
  const groups = groupsOfIpv6(address.split('%')[0] ?? '')
  if (groups.length !== 8) return UNREADABLE
  return `${groups
    .slice(0, 3)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join('-')}-48`
}
