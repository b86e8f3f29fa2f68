/** The part of an address behind its at sign, as name servers and domains of connections are written. */
import { domainToASCII } from 'node:url'
import { LIMITS } from '../../shared/limits.ts'
import { HOSTNAME, isPublicName } from '../../shared/hosts.ts'

/** Undefined: what nobody could show to be theirs. */
export function readDomain(text: string): string | undefined {
  // what it costs grows with the square of what anybody has typed (RFC 3492)
  if (text.length > LIMITS.emailCharactersMax) return undefined
  const domain = domainToASCII(text.trim().normalize('NFKC').toLowerCase())
  return HOSTNAME.test(domain) && isPublicName(domain) ? domain : undefined
}

export function domainOfAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  return at < 1 ? undefined : readDomain(address.slice(at + 1))
}
