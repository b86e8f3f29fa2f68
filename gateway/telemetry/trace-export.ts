/**
 * Spans of requests, sent to a collector as OTLP/HTTP in JSON (opentelemetry.io/docs/specs/otlp). Which
 * requests have one is chance and a rate, and nothing that comes from outside: a `traceparent` says
 * which trace a request belongs to, and its sampled flag says nothing to us, or anybody could have all
 * of a flood exported. Nothing waits for the collector; what it does not take is dropped and counted.
 */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { VERSION } from '../../shared/version.ts'
import type { RequestContext } from '../request/context.ts'
import { spanIdOf, traceIdOf } from '../request/trace.ts'
import type { ExchangeOutcome } from '../wire/protocol.ts'

const SEND_EVERY_MS = 5 * SECOND_MS
const SEND_MS_MAX = 10 * SECOND_MS
const LAST_SEND_MS_MAX = SECOND_MS
const TEXT_CHARACTERS_MAX = 1024
/** A span of a server, in the words of OTLP. */
const SERVER = 2
const ERROR = 2

interface TraceSettings {
  /** Of the collector, like `http://127.0.0.1:4318`. */
  readonly endpoint: string
  /** The share of requests that get a span, from 0 to 1. */
  readonly sample: number
}

interface TraceExportWorld extends TraceSettings {
  readonly gatewayId: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly random?: () => number
  readonly fetch?: typeof fetch
  readonly everyMs?: number
}

export type TraceExport = ReturnType<typeof createTraceExport>

export function createTraceExport(world: TraceExportWorld) {
  const { endpoint, sample, gatewayId, clock, log, random = Math.random } = world
  const { everyMs = SEND_EVERY_MS } = world
  const send = world.fetch ?? fetch
  const resource = {
    attributes: [
      text('service.name', 'sign-in-protection-gateway'),
      text('service.version', VERSION),
      text('service.instance.id', gatewayId),
    ],
  }
  const waiting: unknown[] = []
  let [dropped, second, inSecond] = [0, 0, 0]
  let isFailing = false
  let sending: Promise<void> | undefined

  function mayBegin(nowMs: number): boolean {
    const now = Math.floor(nowMs / SECOND_MS)
    if (now !== second) [second, inSecond] = [now, 0]
    return ++inSecond <= LIMITS.traceSpansPerSecondMax
  }

  async function sendAll(timeoutMs: number): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.splice(0, LIMITS.traceSpansPerRequestMax)
      const scopeSpans = [{ scope: { name: 'gateway', version: VERSION }, spans }]
      try {
        const answer = await send(`${endpoint}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
          redirect: 'error',
          signal: AbortSignal.timeout(timeoutMs),
        })
        await answer.body?.cancel()
        if (!answer.ok) throw new Error(`status ${answer.status}`)
        if (isFailing) log.info({ endpoint }, 'the collector takes traces again')
        isFailing = false
      } catch (error) {
        dropped += spans.length
        if (!isFailing) log.warn({ endpoint, error, dropped }, 'traces are lost')
        isFailing = true
        return
      }
    }
  }

  const round = (timeoutMs = SEND_MS_MAX) =>
    (sending ??= sendAll(timeoutMs).finally(() => (sending = undefined)))
  const timer = setInterval(() => void round(), everyMs)
  timer.unref()

  return {
    add(context: RequestContext, outcome: ExchangeOutcome, ms: number): void {
      if (sample < 1 && random() >= sample) return
      const endMs = clock.nowMs()
      if (!mayBegin(endMs) || waiting.length >= LIMITS.traceSpansHeldMax) return void dropped++
      waiting.push(spanOf(context, outcome, { startMs: endMs - ms, endMs }))
    },
    /** Spans that nobody has got. */
    dropped: () => dropped,
    /** Sends what there is; for tests. */
    flush: () => round(),
    async close(): Promise<void> {
      clearInterval(timer)
      await sending
      await round(LAST_SEND_MS_MAX)
    },
  }
}

function spanOf(
  context: RequestContext,
  outcome: ExchangeOutcome,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
) {
  const { traceparent, head, tenant, decision, reason, requestId, clientAddress } = context
  const isFromOutside = head.traceparent === traceparent
  return {
    traceId: traceIdOf(traceparent),
    // what we have started ourselves is handed on as this very span
    spanId: isFromOutside ? randomBytes(8).toString('hex') : spanIdOf(traceparent),
    ...(isFromOutside && { parentSpanId: spanIdOf(traceparent) }),
    name: head.method,
    kind: SERVER,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: [
      text('http.request.method', head.method),
      text('server.address', head.host),
      text('url.path', context.path),
      { key: 'http.response.status_code', value: { intValue: String(outcome.status) } },
      text('client.address', clientAddress),
      text('tenant_id', tenant.tenantId),
      text('request_id', requestId),
      text('decision', decision),
      ...(reason === '' ? [] : [text('reason', reason)]),
      ...(outcome.failure === null ? [] : [text('error.type', outcome.failure.code)]),
    ],
    status: outcome.status >= 500 || outcome.isCut ? { code: ERROR } : {},
  }
}

const text = (key: string, value: string) => ({
  key,
  value: { stringValue: value.slice(0, TEXT_CHARACTERS_MAX) },
})

/** Whole microseconds are exact in a number, nanoseconds since 1970 are not. */
const nanoseconds = (ms: number) => `${Math.round(ms * 1000)}000`
