/**
 * How a host is written: the one grammar for requests, SNI, snapshots and settings, so that no two
 * readers can mean different hosts by one text. Every expression is linear.
 */
import { LIMITS } from './limits.ts'

const label = (inner: string) => `[a-z0-9](?:[${inner}]{0,61}[a-z0-9])?`
const namesOf = (inner: string) =>
  new RegExp(`^(?=.{1,253}$)${label(inner)}(?:\\.${label(inner)})*$`)

/** What a tenant can be served at, in lower case. */
export const HOSTNAME = namesOf('a-z0-9-')
/** What a server inside some network may be called: `_` is no part of a host, and in use. */
export const SERVER_NAME = namesOf('a-z0-9_-')

/** Read as an IPv4 address by some and as a name by others (URL standard: ends in a number). */
export const endsInNumber = (name: string): boolean => /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)

const AUTHORITY =
  /^(?:([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)|\[([0-9A-Fa-f:.]+)\])(?::([1-9][0-9]{0,4}))?$/

/**
 * `Example.com:8443` → `example.com`; undefined where the grammar is not met. A trailing dot, an
 * empty port and user information are refused: two spellings of one host are one too many.
 */
export function hostOfAuthority(authority: string): string | undefined {
  if (authority.length > LIMITS.authorityBytesMax) return undefined
  const parts = AUTHORITY.exec(authority)
  if (parts === null) return undefined
  const [, name, literal, port] = parts
  if (port !== undefined && Number(port) > 65535) return undefined
  if (literal === undefined) return name!.toLowerCase()
  return URL.canParse(`http://[${literal}]/`) ? `[${literal.toLowerCase()}]` : undefined
}

/** Of an authority that has a host. */
export const portOfAuthority = (authority: string, otherwise: string): string =>
  /:([0-9]+)$/.exec(authority)?.[1] ?? otherwise

/** RFC 6066 section 3: a DNS name, no address, no trailing dot. '' for anything else. */
export function hostOfSni(name: string | boolean | null | undefined): string {
  if (typeof name !== 'string') return ''
  const host = name.toLowerCase()
  return HOSTNAME.test(host) && !endsInNumber(host) ? host : ''
}

/** RFC 6761 section 6.3, without a trailing dot. */
export const isLocalhost = (name: string): boolean =>
  name === 'localhost' || name.endsWith('.localhost')

/** This machine, and no name server is asked; as `URL` writes a hostname. */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** What reaches nobody but this machine, by whatever name; as `URL` writes a hostname. */
export const isThisMachine = (hostname: string): boolean =>
  isLoopbackHost(hostname) || isLocalhost(hostname)

/** Of any other nobody could show whose it is. */
export const isPublicName = (name: string): boolean =>
  name.includes('.') && !isThisMachine(name) && !endsInNumber(name)
