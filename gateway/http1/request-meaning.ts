/** What the lines of a head mean together: whose it is, how long its body is, what happens after. */
import { flat } from '../../shared/enforcement/flat.ts'
import { agreesWith, isOriginForm, readAbsoluteForm } from '../../shared/enforcement/target.ts'
import { hostOfAuthority } from '../../shared/hosts.ts'
import { connectionOptions, withoutNominated } from '../wire/connection-options.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import type { Notes } from './request-fields.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'
import { opensWebSocket } from '../wire/websocket-request.ts'

/** RFC 9112 section 3.2: exactly one Host, valid. HTTP/1.0 may leave it out and has no tenant. */
export function settleHost(
  head: ParsedHead,
  notes: Notes,
  previous: ParsedHead | null,
): Refusal | null {
  if (notes.hosts === 0) return head.isHttp10 ? null : REFUSALS.host
  if (notes.hosts > 1) return REFUSALS.host
  // one of HTTP/1.0 before it may have had none
  if (previous !== null && previous.host !== '' && previous.authority === head.authority) {
    head.authority = previous.authority
    head.host = previous.host
    return null
  }
  const host = hostOfAuthority(head.authority)
  if (host === undefined) return REFUSALS.host
  head.authority = flat(head.authority)
  head.host = host
  return null
}

/** `*` with OPTIONS; absolute-form that agrees with Host becomes origin-form (RFC 9112 3.2.2). */
export function settleTarget(head: ParsedHead): Refusal | null {
  if (head.target === '*') return head.method === 'OPTIONS' ? null : REFUSALS.target
  const form = readAbsoluteForm(head.target, head.method)
  if (form === undefined) return REFUSALS.target
  if (head.authority === '') {
    head.authority = form.authority
    head.host = form.host
  }
  if (!agreesWith(form, head.authority)) return REFUSALS.hostMismatch
  head.target = form.target
  return head.target === '*' || isOriginForm(head.target) ? null : REFUSALS.target
}

/** RFC 9112 section 6.3, and stricter: a length is said once, and in one way. */
export function settleFraming(head: ParsedHead, notes: Notes): Refusal | null {
  if (notes.lengths === 0 && notes.codings === 0) return null
  if (notes.lengths > 1 || (notes.lengths === 1 && notes.codings > 0)) return REFUSALS.framing
  if (notes.lengths === 1) {
    head.hasLength = true
    return head.bodyLength < 0 ? REFUSALS.framing : null
  }
  if (notes.codings > 1 || notes.coding === '' || head.isHttp10) return REFUSALS.framing
  if (notes.coding.toLowerCase() !== 'chunked') return REFUSALS.coding
  head.bodyLength = -1
  return null
}

/** Keep-alive, nominated lines, upgrade, expectation: all that is between us and this client. */
export function settleConnection(head: ParsedHead, notes: Notes): Refusal | null {
  let wantsUpgrade = false
  if (notes.connection === '') {
    head.keepsAlive = !head.isHttp10
  } else if (notes.connection === 'keep-alive') {
    head.keepsAlive = true
  } else {
    const options = connectionOptions(notes.connection)
    if (options === null) return REFUSALS.connection
    head.keepsAlive = !options.has('close') && (!head.isHttp10 || options.has('keep-alive'))
    wantsUpgrade = options.has('upgrade')
    head.keptLines = withoutNominated(head.keptLines, options)
  }
  if (notes.takesTrailers) head.keptLines += 'TE: trailers\r\n'
  head.isUpgrade =
    wantsUpgrade &&
    notes.upgrade.toLowerCase() === 'websocket' &&
    head.method === 'GET' &&
    head.bodyLength === 0 &&
    !head.isHttp10 &&
    opensWebSocket(head.keptLines)
  // Whatever is answered but a 101 is the last answer: bytes behind it may be meant as frames.
  if (head.isUpgrade) head.keepsAlive = false
  if (notes.expect === '') return null
  if (notes.expect.toLowerCase() !== '100-continue') return REFUSALS.expectation
  head.expectsContinue = !head.isHttp10 && head.bodyLength !== 0
  return null
}
