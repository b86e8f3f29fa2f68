/** Networks as people write them, and whether an address is in one of them. */
import { BlockList, isIP } from 'node:net'

interface Network {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** `192.0.2.0/24`, `2001:db8::/32` or an address alone. A mapped address is the IPv4 one. */
export function parseNetwork(text: string): Network | undefined {
  const [spelled = '', length, ...more] = text.split('/')
  if (more.length > 0 || spelled.includes('%')) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(spelled)?.[1]
  const address = mapped ?? spelled
  const version = isIP(address)
  if (version === 0) return undefined
  const most = version === 4 ? 32 : 128
  if (length === undefined) return { address, bits: most, family: `ipv${version as 4 | 6}` }
  if (!/^\d{1,3}$/.test(length)) return undefined
  const bits = Number(length) - (mapped === undefined ? 0 : 96)
  if (bits < 0 || bits > most) return undefined
  return { address, bits, family: `ipv${version as 4 | 6}` }
}

/** Whether an address is in one of the networks; never for what is no address. */
export type NetworkList = (address: string) => boolean

export const isAddress = (text: string): boolean => isIP(text) !== 0

/** Throws for an entry that cannot be read: a list that leaves one out says something else. */
export function networkList(entries: readonly string[]): NetworkList {
  const list = new BlockList()
  for (const entry of entries) {
    const network = parseNetwork(entry)
    if (network === undefined) throw new Error(`${entry} is no network`)
    list.addSubnet(network.address, network.bits, network.family)
  }
  return (address) => {
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** This machine, as one end of a connection names the other. */
export const isLoopback = networkList(['127.0.0.0/8', '::1/128'])
