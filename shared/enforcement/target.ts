/**
 * The target of a request and the authority that it is for, as accept-lists: the edge and the
 * middleware refuse the same ones. Every expression is linear.
 */
import { hostOfAuthority, portOfAuthority } from '../hosts.ts'

/**
 * What browsers really send: RFC 3986 plus the few characters that WHATWG URLs leave raw. In the
 * path a raw `\` would be a `/` to some readers, and `#` is nobody's to send.
 */
const PATH = "!$%&'()*+,\\-./0-9:;=@A-Z\\[\\]\\^_a-z{|}~"
const QUERY = '\\x21\\x22\\x24-\\x7e'
export const ORIGIN_FORM = `\\/[${PATH}]*(?:\\?[${QUERY}]*)?`

const ORIGIN_FORM_ONLY = new RegExp(`^${ORIGIN_FORM}$`)
const PERCENT_TRAP = /%(?:00|(?![0-9A-Fa-f]{2}))/
const ABSOLUTE_FORM = /^(https?):\/\/([^/?#]*)(.*)$/i
const DEFAULT_PORTS: Record<string, string> = { http: '80', https: '443' }

export const isOriginForm = (target: string): boolean => ORIGIN_FORM_ONLY.test(target)

/** A cut escape, or `%00`, which ends the path for whoever decodes it into a C string. */
export function hasBrokenEscape(target: string): boolean {
  if (target.indexOf('%') === -1) return false
  const query = target.indexOf('?')
  return PERCENT_TRAP.test(query === -1 ? target : target.slice(0, query))
}

interface AbsoluteForm {
  readonly authority: string
  readonly host: string
  readonly defaultPort: string
  /**
   * False for `http://host?x/admin`, which routers read in more ways than one: find-my-way 8 takes it
   * for `/admin`. Who does not write the target anew must not pass it on.
   */
  readonly hasOneReading: boolean
  /** Path and query, or `*`; not checked. */
  readonly target: string
}

/** RFC 9112 section 3.2.2. What it agrees with is for the caller to ask. */
export function readAbsoluteForm(target: string, method: string): AbsoluteForm | undefined {
  const parts = ABSOLUTE_FORM.exec(target)
  if (parts === null) return undefined
  const [, scheme = '', authority = '', rest = ''] = parts
  const host = hostOfAuthority(authority)
  if (host === undefined) return undefined
  const defaultPort = DEFAULT_PORTS[scheme.toLowerCase()]!
  const path = rest.startsWith('/') ? rest : `/${rest}`
  return {
    hasOneReading: rest === '' || rest.startsWith('/'),
    authority,
    host,
    defaultPort,
    target: rest === '' && method === 'OPTIONS' ? '*' : path,
  }
}

/** Whether a Host value names the same host and port. */
export function agreesWith({ authority, host, defaultPort }: AbsoluteForm, other: string): boolean {
  return (
    host === hostOfAuthority(other) &&
    portOfAuthority(authority, defaultPort) === portOfAuthority(other, defaultPort)
  )
}
