/**
 * A head as HTTP/2 delivers it, read by the very parser that reads HTTP/1: it is written down as a
 * head of HTTP/1.1, which is also how it goes on to the application. So both protocols share one
 * grammar, one table of names and one set of limits, and nothing can be meant in two ways.
 */
import { randomBytes } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import { isOriginForm } from '../../shared/enforcement/target.ts'
import { hostOfAuthority, portOfAuthority } from '../../shared/hosts.ts'
import { isServed } from '../wire/grammar.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import { ParsedHead } from '../wire/parsed-head.ts'
import { onlyValue } from '../wire/websocket-request.ts'
import { isFieldName, isFieldValue } from './protocol/request-fields.ts'
import { parseRequestHead } from '../http1/request-head.ts'

/** `fields`: name, value, name, value. `isWhole`: the request ends with its head. */
export type HeadReader = (fields: readonly string[], isWhole: boolean) => ParsedHead | Refusal

/** RFC 9113 section 8.2.2: what belongs to a connection of HTTP/1 makes a request malformed. */
const OF_CONNECTIONS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

export function createHeadReader(): HeadReader {
  // Every head is written here, one after the other. One byte more tells the limit from beyond it.
  const bytes = Buffer.allocUnsafeSlow(LIMITS.headBytesMax + 1)
  return (fields, isWhole) => {
    const text = headText(fields, isWhole)
    if (typeof text !== 'string') return text
    if (text.length > LIMITS.headBytesMax) return REFUSALS.headTooLarge
    const end = bytes.write(text, 0, 'latin1')
    const head = parseRequestHead(bytes, 0, end, null)
    if (head === null) return REFUSALS.malformed
    // A length that a request without a body cannot have.
    if (isWhole && head instanceof ParsedHead && head.bodyLength > 0) return REFUSALS.framing
    return head
  }
}

interface Pseudo {
  method: string
  protocol: string
  path: string
  authority: string
  scheme: string
}

const PSEUDO: Readonly<Record<string, keyof Pseudo>> = {
  ':method': 'method',
  ':protocol': 'protocol',
  ':path': 'path',
  ':authority': 'authority',
  ':scheme': 'scheme',
}

function headText(fields: readonly string[], isWhole: boolean): string | Refusal {
  const pseudo: Pseudo = { method: '', protocol: '', path: '', authority: '', scheme: '' }
  let cookies = ''
  let host: string | undefined
  let lines = ''
  let hasLength = false
  let isBehindPseudo = false
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!
    const value = fields[at + 1]!
    // A line end that came through would be a header of somebody else's making.
    if (!isFieldValue(value)) return REFUSALS.malformed
    if (name.charCodeAt(0) === 0x3a) {
      const key = PSEUDO[name]
      // Once each, before all others, and none that we do not know (RFC 9113 section 8.3).
      if (key === undefined || pseudo[key] !== '' || value === '' || isBehindPseudo)
        return REFUSALS.malformed
      pseudo[key] = value
      continue
    }
    isBehindPseudo = true
    if (!isFieldName(name) || OF_CONNECTIONS.has(name)) return REFUSALS.malformed
    if (name === 'cookie') {
      // Section 8.2.3: clients send crumbs, for the sake of compression.
      cookies = cookies === '' ? value : `${cookies}; ${value}`
      continue
    }
    if (name === 'host') {
      if (host !== undefined) return REFUSALS.host
      host = value
      continue
    }
    // Only HTTP/1.1 has one: who speaks HTTP/2 has agreed to the protocol already.
    if (name === 'sec-websocket-key') continue
    if (name === 'te' && value !== 'trailers') return REFUSALS.malformed
    if (name === 'content-length') hasLength = true
    lines += `${name}: ${value}\r\n`
  }
  const { path, protocol } = pseudo
  let { method } = pseudo
  if (method === '') return REFUSALS.malformed
  if (protocol !== '') {
    // RFC 8441: a request that is answered by a WebSocket, and never ends with its head.
    if (method !== 'CONNECT' || isWhole || hasLength) return REFUSALS.malformed
    if (protocol !== 'websocket') return REFUSALS.protocolUnknown
    // What asks for another version of it is no other request.
    if (onlyValue(lines, 'sec-websocket-version') !== '13') return REFUSALS.malformed
    method = 'GET'
    lines += `connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ${newKey()}\r\n`
  }
  if (!isServed(method))
    return method === 'CONNECT' || method === 'TRACE' ? REFUSALS.method : REFUSALS.methodUnknown
  if (pseudo.scheme !== 'https') return REFUSALS.malformed
  const isPath = isOriginForm(path) || (path === '*' && method === 'OPTIONS')
  if (!isPath) return REFUSALS.target
  const authority = pseudo.authority === '' ? (host ?? '') : pseudo.authority
  if (host !== undefined && !isSameAuthority(authority, host)) return REFUSALS.hostMismatch
  return (
    `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\n${lines}` +
    (cookies === '' ? '' : `cookie: ${cookies}\r\n`) +
    (isWhole || hasLength || protocol !== '' ? '\r\n' : 'transfer-encoding: chunked\r\n\r\n')
  )
}

/** It proves to the application that it was read, and keeps no secret. */
const newKey = (): string => randomBytes(16).toString('base64')

/** RFC 9113 section 8.3.1: where a request has both, they say the same. */
function isSameAuthority(a: string, b: string): boolean {
  if (a === b) return true
  const host = hostOfAuthority(a)
  if (host === undefined || host !== hostOfAuthority(b)) return false
  return portOfAuthority(a, '443') === portOfAuthority(b, '443')
}
