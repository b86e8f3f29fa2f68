/**
 * W3C Trace Context: a valid `traceparent` from outside goes on as it came, with its `tracestate`;
 * in place of any other a trace is started, and a state without a valid parent is dropped (3.2.1).
 */
import { randomBytes } from 'node:crypto'
import { flat } from '../../shared/enforcement/flat.ts'
import { TRACEPARENT_CHARACTERS } from '../../shared/trace-context.ts'

/** What vendors must be able to propagate (3.3.1.5); more may be dropped whole. */
const TRACESTATE_CHARACTERS_MAX = 512
const TRACESTATE = /^[\t\x20-\x7e]+$/

/** Goes on only beside its parent; a list that is too long would have to be cut member by member. */
export function keptTracestate(tracestate: string): string {
  const isKept = tracestate.length <= TRACESTATE_CHARACTERS_MAX && TRACESTATE.test(tracestate)
  return isKept ? tracestate : ''
}

const TRACE_DIGITS = 32
const TRACE_AND_SPAN_DIGITS = 48
const POOL_BYTES = 8184

/**
 * Starts a trace. Ids need to be unique and not secret, and one is made for most requests: they
 * are cut from a text of 341, so that asking for randomness and putting them together are paid for
 * once for all of these. The flag says whether this gateway writes a line for the request.
 */
export function createTraceStarter(): (isRecorded: boolean) => string {
  const recorded = createPool('01')
  const others = createPool('00')
  return (isRecorded) => (isRecorded ? recorded() : others())
}

function createPool(flags: string): () => string {
  let text = ''
  let at = 0
  return () => {
    if (at === text.length) {
      text = traceparentsOf(randomBytes(POOL_BYTES).toString('hex'), flags)
      at = 0
    }
    at += TRACEPARENT_CHARACTERS
    return text.slice(at - TRACEPARENT_CHARACTERS, at)
  }
}

function traceparentsOf(digits: string, flags: string): string {
  let text = ''
  for (let at = 0; at < digits.length; at += TRACE_AND_SPAN_DIGITS) {
    const spanAt = at + TRACE_DIGITS
    const spanId = digits.slice(spanAt, at + TRACE_AND_SPAN_DIGITS)
    text += `00-${digits.slice(at, spanAt)}-${spanId}-${flags}`
  }
  return flat(text)
}
