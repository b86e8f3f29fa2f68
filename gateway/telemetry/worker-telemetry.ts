/** What a worker tells of its requests: the log line, the counts, and the trace they belong to. */
import { performance } from 'node:perf_hooks'
import type { Clock } from '../../shared/clock.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { Refusal } from '../wire/refusals.ts'
import type { ExchangeOutcome } from '../wire/protocol.ts'
import { RequestContext, UnservedContext } from '../request/context.ts'
import { createAccessLog } from './access-log.ts'
import type { LineSink } from './line-writer.ts'
import { createTraceStarter } from '../request/trace.ts'
import type { TraceExport } from './trace-export.ts'
import type { RefusalSample } from './refusal-sample.ts'
import { createWorkerCounter, type HopCounts } from './worker-counts.ts'

interface WorkerTelemetryWorld {
  readonly clock: Clock
  readonly lines: LineSink
  /** The share of uneventful requests that get a line, from 0 to 1. */
  readonly sample: number
  readonly random: () => number
  readonly refusals: Pick<RefusalSample, 'add'>
  /** Where spans go; undefined: nowhere. */
  readonly traces?: Pick<TraceExport, 'add'> | undefined
  /** Of the session reader, since the start. */
  /** Of connections between gateways, since the start. */
  readonly hops: () => HopCounts
  readonly verifyStats: { readonly hits: number; readonly misses: number }
}

export function createWorkerTelemetry(world: WorkerTelemetryWorld) {
  const { clock, lines, sample, random, verifyStats, refusals, hops, traces } = world
  const accessLog = createAccessLog({ lines, clock })
  const counter = createWorkerCounter(() => ({
    verifyHits: verifyStats.hits,
    verifyMisses: verifyStats.misses,
    linesDropped: lines.dropped(),
    ...hops(),
  }))

  return {
    isRecorded: sample >= 1 ? () => true : () => random() < sample,
    startTrace: createTraceStarter(),
    onExchangeEnd(exchange: Exchange, outcome: ExchangeOutcome): void {
      const { context } = exchange
      const isServed = context instanceof RequestContext
      const ms = performance.now() - exchange.beganMs
      counter.count({
        tenantId: isServed ? context.tenant.tenantId : '',
        decision: isServed ? context.decision : 'refuse',
        reason: isServed || context instanceof UnservedContext ? context.reason : '',
        status: outcome.status,
        bytes: outcome.bytes,
        isCut: outcome.isCut,
        failureCode: outcome.failure === null ? '' : outcome.failure.code,
        ms,
        upstreamMs: outcome.upstreamMs ?? -1,
      })
      if (isServed && context.decision === 'refuse') refusals.add(refusedRequest(context))
      if (isServed) traces?.add(context, outcome, ms)
      accessLog(exchange, outcome, ms)
    },
    onRefusal: (refusal: Refusal): void => counter.countRefusedHead(refusal.code),
    take: counter.take,
  }
}

const refusedRequest = ({ tenant, reason, path, clientAddress, exchange }: RequestContext) => ({
  tenantId: tenant.tenantId,
  reason,
  path,
  ip: clientAddress,
  host: exchange.head.host,
})
