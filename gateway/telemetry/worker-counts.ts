/**
 * What one worker counts. A request costs two look-ups and a few additions in typed arrays; names
 * and labels come in when somebody asks. Then the worker hands over what was added since the last
 * time, and starts again from nothing.
 */
import { LIMITS } from '../../shared/limits.ts'
import { FORWARD_REASONS, REFUSE_REASONS, SIGN_IN_REASONS } from '../../shared/reasons.ts'
import { createLatency } from './latency.ts'

/** tenant, index of `OUTCOMES`, index of `STATUS_CLASSES`, requests. */
export type RequestCount = readonly [string, number, number, number]

/** Every decision and reason that there is; nothing else can become a label. */
export const OUTCOMES: readonly { readonly decision: string; readonly reason: string }[] = [
  { decision: 'refuse', reason: '' },
  { decision: 'service', reason: '' },
  ...SIGN_IN_REASONS.map((reason) => ({ decision: 'sign_in', reason })),
  ...REFUSE_REASONS.map((reason) => ({ decision: 'refuse', reason })),
  ...FORWARD_REASONS.map((reason) => ({
    decision: reason === 'probe' ? 'probe' : 'forward',
    reason,
  })),
]
const REFUSED = 0
const SERVICE = 1
const OUTCOME_BY_REASON = new Map(
  OUTCOMES.map(({ reason }, index) => [reason, index] as const).slice(2),
)

/** `none`: the client was gone before there was an answer. */
export const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Where tenants beyond the limit are counted; no tenant can be called so. */
export const OTHER_TENANTS = 'other_tenants'

export interface CountedRequest {
  /** '' for a host that is nobody's. */
  readonly tenantId: string
  readonly decision: string
  readonly reason: string
  readonly status: number
  readonly bytes: number
  readonly isCut: boolean
  readonly failureCode: string
  readonly ms: number
  /** -1 where no application was asked. */
  readonly upstreamMs: number
}

/** Connections to connectors: over other gateways, in vain, and for other gateways. */
export interface HopCounts {
  readonly hopsOpened: number
  readonly hopsFailed: number
  readonly hopsServed: number
}

/** Counted elsewhere, since the start of the worker. */
interface RunningTotals extends HopCounts {
  readonly verifyHits: number
  readonly verifyMisses: number
  readonly linesDropped: number
}

export type WorkerCounts = ReturnType<ReturnType<typeof createWorkerCounter>['take']>

export function createWorkerCounter(totals: () => RunningTotals) {
  let rows = new Map<string, Uint32Array>()
  let upstreamErrors: Record<string, number> = {}
  let refusedHeads: Record<string, number> = {}
  const application = createLatency()
  const gateway = createLatency()
  const upstreamFirstByte = createLatency()
  let bytes = 0
  let cut = 0
  let told: RunningTotals = {
    verifyHits: 0,
    verifyMisses: 0,
    linesDropped: 0,
    hopsOpened: 0,
    hopsFailed: 0,
    hopsServed: 0,
  }

  function newRow(tenantId: string): Uint32Array {
    const isFull = rows.size >= LIMITS.countedTenantsMax
    if (isFull && tenantId !== OTHER_TENANTS)
      return rows.get(OTHER_TENANTS) ?? newRow(OTHER_TENANTS)
    const row = new Uint32Array(OUTCOMES.length * STATUS_CLASSES.length)
    rows.set(tenantId, row)
    return row
  }

  function countRows(): RequestCount[] {
    const counts: RequestCount[] = []
    for (const [tenantId, row] of rows)
      for (let slot = 0; slot < row.length; slot++) {
        const count = row[slot]!
        if (count === 0) continue
        const outcome = Math.floor(slot / STATUS_CLASSES.length)
        counts.push([tenantId, outcome, slot % STATUS_CLASSES.length, count])
      }
    rows = new Map()
    return counts
  }

  return {
    count(request: CountedRequest): void {
      const { tenantId, decision, reason, status, failureCode, ms, upstreamMs } = request
      const row = rows.get(tenantId) ?? newRow(tenantId)
      const outcome =
        reason === ''
          ? decision === 'service'
            ? SERVICE
            : REFUSED
          : (OUTCOME_BY_REASON.get(reason) ?? REFUSED)
      row[outcome * STATUS_CLASSES.length + Math.min(5, Math.floor(status / 100))]!++
      bytes += request.bytes
      if (request.isCut) cut++
      if (failureCode !== '') upstreamErrors[failureCode] = (upstreamErrors[failureCode] ?? 0) + 1
      // A WebSocket lasts as long as somebody wants it to.
      if (status !== 101) (decision === 'forward' ? application : gateway).add(ms)
      if (upstreamMs >= 0) upstreamFirstByte.add(upstreamMs)
    },
    countRefusedHead(code: string): void {
      refusedHeads[code] = (refusedHeads[code] ?? 0) + 1
    },
    /** Everything since the last call. */
    take() {
      const now = totals()
      const counts = {
        requests: countRows(),
        application: application.take(),
        gateway: gateway.take(),
        upstreamFirstByte: upstreamFirstByte.take(),
        bytes,
        cut,
        upstreamErrors,
        refusedHeads,
        verifyHits: now.verifyHits - told.verifyHits,
        verifyMisses: now.verifyMisses - told.verifyMisses,
        linesDropped: now.linesDropped - told.linesDropped,
        hopsOpened: now.hopsOpened - told.hopsOpened,
        hopsFailed: now.hopsFailed - told.hopsFailed,
        hopsServed: now.hopsServed - told.hopsServed,
      }
      told = now
      bytes = cut = 0
      upstreamErrors = {}
      refusedHeads = {}
      return counts
    },
  }
}
