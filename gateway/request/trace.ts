/**
 * W3C Trace Context: a valid `traceparent` from outside goes on as it came, with its `tracestate`;
 * in place of any other a trace is started, and a state without a valid parent is dropped (3.2.1).
 */
import { randomFillSync } from 'node:crypto'

/** What vendors must be able to propagate (3.3.1.5); more may be dropped whole. */
const TRACESTATE_CHARACTERS_MAX = 512
const TRACESTATE = /^[\t\x20-\x7e]+$/

/** Goes on only beside its parent; a list that is too long would have to be cut member by member. */
export function keptTracestate(tracestate: string): string {
  const isKept = tracestate.length <= TRACESTATE_CHARACTERS_MAX && TRACESTATE.test(tracestate)
  return isKept ? tracestate : ''
}

const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
const POOL_BYTES = 8184

/**
 * Starts a trace. Ids need to be unique and not secret, and one is made for most requests: they
 * are cut from a pool of random digits, so that asking for randomness is paid once in 341 times.
 * The flag says whether this gateway writes a line for the request.
 */
export function createTraceStarter(): (isRecorded: boolean) => string {
  const bytes = Buffer.alloc(POOL_BYTES)
  let digits = ''
  let at = 0
  return (isRecorded) => {
    if (at + TRACE_DIGITS + SPAN_DIGITS > digits.length) {
      digits = randomFillSync(bytes).toString('hex')
      at = 0
    }
    const spanAt = at + TRACE_DIGITS
    const traceId = digits.slice(at, spanAt)
    at = spanAt + SPAN_DIGITS
    return `00-${traceId}-${digits.slice(spanAt, at)}-${isRecorded ? '01' : '00'}`
  }
}
