/**
 * Spans of requests, for a collector. Which requests have one is chance and a rate, and nothing that
 * comes from outside: a `traceparent` says which trace a request belongs to, and its sampled flag says
 * nothing to us, or anybody could have all of a flood exported.
 */
import { randomBytes } from 'node:crypto'
import {
  createSpanSender,
  nanoseconds,
  SPAN_ERROR,
  SPAN_KINDS,
  spanNumber,
  spanText as text,
  type SpanSenderWorld,
} from '../../shared/span-sender.ts'
import { spanIdOf, traceIdOf } from '../../shared/trace-context.ts'
import type { RequestContext } from '../request/context.ts'
import type { ExchangeOutcome } from '../wire/protocol.ts'

interface TraceExportWorld extends Omit<SpanSenderWorld, 'program' | 'instanceId'> {
  /** The share of requests that get a span, from 0 to 1. */
  readonly sample: number
  readonly gatewayId: string
  readonly random?: () => number
}

export type TraceExport = ReturnType<typeof createTraceExport>

export function createTraceExport(world: TraceExportWorld) {
  const { sample, gatewayId, clock, random = Math.random } = world
  const sender = createSpanSender({ ...world, program: 'gateway', instanceId: gatewayId })

  return {
    add(context: RequestContext, outcome: ExchangeOutcome, ms: number): void {
      if (sample < 1 && random() >= sample) return
      if (!sender.mayBegin()) return
      const endMs = clock.nowMs()
      sender.add(spanOf(context, outcome, { startMs: endMs - ms, endMs }))
    },
    dropped: sender.dropped,
    flush: sender.flush,
    close: sender.close,
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
    kind: SPAN_KINDS.server,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: [
      text('http.request.method', head.method),
      text('server.address', head.host),
      text('url.path', context.path),
      spanNumber('http.response.status_code', outcome.status),
      text('client.address', clientAddress),
      text('tenant_id', tenant.tenantId),
      text('request_id', requestId),
      text('decision', decision),
      ...(reason === '' ? [] : [text('reason', reason)]),
      ...(outcome.failure === null ? [] : [text('error.type', outcome.failure.code)]),
    ],
    status: outcome.status >= 500 || outcome.isCut ? SPAN_ERROR : {},
  }
}
