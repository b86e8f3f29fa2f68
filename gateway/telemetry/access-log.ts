/**
 * One line per request: what was decided, why, and how it went. Never a query, cookie or token.
 * Written by hand, since it is paid for with every request (bench/micro/telemetry.ts): nothing but
 * the path and the host can hold what JSON has to escape.
 */
import type { Clock } from '../../shared/clock.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { ExchangeOutcome } from '../wire/protocol.ts'
import { RequestContext, UnservedContext } from '../request/context.ts'
import { asciiOf, type LineSink } from './line-writer.ts'
import { traceIdOf } from '../../shared/trace-context.ts'

interface AccessLogWorld {
  readonly lines: LineSink
  readonly clock: Clock
}

type AccessLog = (exchange: Exchange, outcome: ExchangeOutcome, ms: number) => void

export function createAccessLog({ lines, clock }: AccessLogWorld): AccessLog {
  const kept = new Map<string, Beginning>()
  return (exchange, outcome, ms) => {
    const { context } = exchange
    if (context instanceof RequestContext) {
      if (!context.isRecorded && isUneventful(context, outcome)) return
      lines.add(servedLine(kept, context, outcome, ms, clock.nowMs()))
    } else lines.add(unservedLine(exchange, outcome, ms, clock.nowMs()))
  }
}

/** Only these are sampled: what was refused, failed or signed somebody in is always told. */
function isUneventful({ decision }: RequestContext, outcome: ExchangeOutcome): boolean {
  return (
    (decision === 'forward' || decision === 'probe') &&
    outcome.status < 500 &&
    !outcome.isCut &&
    outcome.failure === null
  )
}

/**
 * What most lines of a tenant have in common, kept from one to the next: to join strings is what a
 * line costs.
 */
interface Beginning {
  readonly host: string
  readonly method: string
  readonly decision: string
  readonly reason: string
  readonly text: string
}
const BEGINNINGS_MAX = 1000

function beginning(kept: Map<string, Beginning>, context: RequestContext): string {
  const { exchange, tenant, decision, reason } = context
  const { host, method } = exchange.head
  const last = kept.get(tenant.tenantId)
  if (
    last !== undefined &&
    last.reason === reason &&
    last.decision === decision &&
    last.method === method &&
    last.host === host
  )
    return last.text
  const text =
    `{"level":30,"program":"gateway","kind":"request","tenant_id":"${tenant.tenantId}"` +
    `,"decision":"${decision}"${reason === '' ? '' : `,"reason":"${reason}"`}` +
    `,"method":"${method}","host":"${escaped(host)}","path":"`
  if (kept.size >= BEGINNINGS_MAX) kept.clear()
  // Joined for good, or every line would be joined out of these pieces again.
  kept.set(tenant.tenantId, { host, method, decision, reason, text: Buffer.from(text).toString() })
  return text
}

function servedLine(
  kept: Map<string, Beginning>,
  context: RequestContext,
  outcome: ExchangeOutcome,
  ms: number,
  nowMs: number,
): string {
  return (
    beginning(kept, context) +
    escaped(context.path) +
    behindPath(nowMs) +
    context.requestId +
    '","trace_id":"' +
    traceIdOf(context.traceparent) +
    ending(outcome, ms, context.clientAddress)
  )
}

let printedMs = NaN
let printed = ''
/** Many lines have the same millisecond, and a number so large is slow to print. */
function behindPath(nowMs: number): string {
  if (nowMs !== printedMs) {
    printedMs = nowMs
    printed = `","time":${Math.floor(nowMs)},"request_id":"`
  }
  return printed
}

function unservedLine(
  { head, context, peerAddress }: Exchange,
  outcome: ExchangeOutcome,
  ms: number,
  nowMs: number,
): string {
  const path = head.target.split('?', 1)[0] ?? ''
  return (
    `{"level":30,"program":"gateway","kind":"request","time":${Math.floor(nowMs)}` +
    (context instanceof UnservedContext ? `,"request_id":"${context.requestId}"` : '') +
    `,"method":"${escaped(head.method)}","host":"${escaped(head.host)}","path":"${escaped(path)}"` +
    `,"decision":"refuse"` +
    (context instanceof UnservedContext ? `,"reason":"${context.reason}` : ',"reason":"') +
    ending(outcome, ms, peerAddress)
  )
}

function ending(outcome: ExchangeOutcome, ms: number, client: string): string {
  const { status, bytes, isCut, failure, upstreamMs = -1 } = outcome
  return (
    (STATUS_TEXTS[status] ?? statusText(status)) +
    `${bytes},"ms":${decimals(ms)}` +
    (upstreamMs >= 0 ? `,"upstream_ms":${decimals(upstreamMs)}` : '') +
    `,"client":"${client}` +
    (isCut || failure !== null ? trouble(isCut, failure) : '"}\n')
  )
}

const trouble = (isCut: boolean, failure: ExchangeOutcome['failure']): string =>
  `"${isCut ? ',"cut":true' : ''}${failure === null ? '' : `,"failure":"${failure.code}"`}}\n`

const statusText = (status: number): string => `","status":${status},"bytes":`
const STATUS_TEXTS = Array.from({ length: 600 }, (_item, status) => statusText(status))

const THOUSANDTHS = Array.from({ length: 1000 }, (_item, index) => String(index).padStart(3, '0'))

/** `1.25` → `1.250`: whole microseconds, without the cost of printing a fraction. */
export function decimals(ms: number): string {
  const us = Math.max(0, Math.round(ms * 1000))
  return `${Math.floor(us / 1000)}.${THOUSANDTHS[us % 1000]}`
}

const NEEDS_ESCAPING = /[^\x20\x21\x23-\x5b\x5d-\x7e]/
/** So that a line always fits into one write to a pipe. */
const TEXT_CHARACTERS_MAX = 1024
const ESCAPED_CHARACTERS_MAX = 256

/** For between the quotes of a JSON string; ASCII only, whatever the text. */
export function escaped(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX && !NEEDS_ESCAPING.test(text)) return text
  const isPlain = !NEEDS_ESCAPING.test(text)
  const charactersMax = isPlain ? TEXT_CHARACTERS_MAX : ESCAPED_CHARACTERS_MAX
  const shown = text.length > charactersMax ? `${text.slice(0, charactersMax)}...` : text
  return isPlain ? shown : asciiOf(JSON.stringify(shown).slice(1, -1))
}
