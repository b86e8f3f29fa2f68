/**
 * Which addresses a webhook or a provider may lead to: global unicast and nothing else. A tenant chooses the
 * name, and must not choose our own machine, its neighbours or a cloud's metadata service with it,
 * in any spelling and with any answer of a name server (CVE-2024-29415, CVE-2026-43929).
 */
import { isIP } from 'node:net'
import { networkList, type NetworkList } from '../../shared/networks.ts'
import { LIMITS } from '../../shared/limits.ts'
import { reachOf } from './address-reach.ts'
import type { Resolve } from './resolve-name.ts'

export const isPublicAddress = (address: string): boolean => reachOf(address) === 'public'

export interface ReceiverAddresses {
  /**
   * The addresses behind a host, all of them such that we may go there; else throws. A
   * request goes to one of these and asks no name server again.
   */
  find(host: string): Promise<readonly string[]>
  mayReach(address: string): boolean
}

/** What is wrong with an address, in words for the tenant who wrote it. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

export function createReceiverAddresses(world: {
  readonly resolve: Resolve
  /** CIDRs that the operator opens for test installations. */
  readonly allowPrivate: readonly string[]
}): ReceiverAddresses {
  const isOpened: NetworkList = networkList(world.allowPrivate)
  const mayReach = (address: string) => isOpened(address) || isPublicAddress(address)

  return {
    mayReach,
    async find(host) {
      const bare = host.replace(/^\[(.*)\]$/, '$1')
      const found = isIP(bare) === 0 ? await world.resolve(bare) : [bare]
      if (found.length === 0) throw new AddressRefused('the name does not resolve')
      // one inside address is enough: which of them is taken is not up to us everywhere
      if (found.length > LIMITS.webhookAddressesMax || !found.every(mayReach))
        throw new AddressRefused('the name leads to a network that is not public')
      return found
    },
  }
}

/**
 * As it is kept and asked for: `https`, a host, nothing that names a person. The host is what the
 * URL standard makes of it, so `0x7f.1`, `2130706433` and full-width digits are 127.0.0.1 from here.
 */
export function readReceiverUrl(text: string): URL {
  if (text.length > LIMITS.webhookUrlCharactersMax)
    throw new AddressRefused('the address is too long')
  if (/[\s\\\p{Cc}]/u.test(text) || !/^https:\/\/[^/?#]/i.test(text) || !URL.canParse(text))
    throw new AddressRefused('the address has to begin with https:// and a host')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw new AddressRefused('the address must not hold a name or a password')
  if (url.hash !== '' || text.includes('#'))
    throw new AddressRefused('the address must not have a fragment')
  if (url.hostname.endsWith('.')) throw new AddressRefused('the host must not end with a dot')
  if (url.port === '0') throw new AddressRefused('the port must be from 1 to 65535')
  return url
}
