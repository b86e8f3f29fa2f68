/** Has the application really agreed to a WebSocket, and to this one? RFC 6455 section 4.1. */
import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { onlyValue, valuesOf } from '../wire/websocket-request.ts'
import { parseResponseHead, type ResponseFault } from '../upstream/response-head.ts'
import { trimmed } from '../wire/grammar.ts'
import type { ResponseHead } from '../wire/response-head.ts'

/** The head as `http` read it, read once more by the reader that all answers go through. */
export function readHead(response: IncomingMessage): ResponseHead | ResponseFault {
  const { statusCode = 0, statusMessage = '', httpVersion } = response
  const text = `HTTP/${httpVersion} ${statusCode} ${statusMessage}\r\n${linesOf(response)}\r\n`
  const bytes = Buffer.from(text, 'latin1')
  return parseResponseHead(bytes, 0, bytes.length, 'GET') ?? 'not a whole head'
}

/**
 * What is wrong with a 101, or undefined. A status alone is no agreement: an application can be
 * made to repeat one that an attacker chose, and what follows would be a tunnel into it.
 */
export function faultOfAgreement(response: IncomingMessage, key: string): string | undefined {
  const lines = linesOf(response)
  if (onlyValue(lines, 'upgrade')?.toLowerCase() !== 'websocket') return 'no Upgrade: websocket'
  const options = valuesOf(lines, 'connection').join(',').toLowerCase().split(',')
  if (!options.some((option) => trimmed(option, 0, option.length) === 'upgrade'))
    return 'no Connection: Upgrade'
  if (onlyValue(lines, 'sec-websocket-accept') !== acceptOf(key))
    return 'wrong Sec-WebSocket-Accept'
  return undefined
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The RFC's hash. It proves that the other side speaks WebSocket, and keeps no secret. */
const acceptOf = (key: string): string => hash('sha1', key + GUID, 'base64')

function linesOf({ rawHeaders }: IncomingMessage): string {
  let lines = ''
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`
  return lines
}
