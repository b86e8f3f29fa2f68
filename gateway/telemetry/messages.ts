/** Between the primary, which is asked for metrics, and the workers, which have them. */
import type { WorkerCounts } from './worker-counts.ts'

/** How a worker is at this moment. */
export interface WorkerGauges {
  readonly connections: number
  readonly inFlight: number
  readonly webSockets: number
  readonly upstreamSockets: number
  readonly upstreamIdle: number
  readonly upstreamWaiting: number
  /** Connections to connectors that are at other gateways, and those that others have here. */
  readonly hopsOver: number
  readonly hopsServed: number
  /** The longest that the event loop was late since the last report. */
  readonly loopLagMs: number
  readonly cpuMs: number
  readonly residentBytes: number
}

export interface WorkerReport {
  readonly counts: WorkerCounts
  readonly gauges: WorkerGauges
}

export interface AskReport {
  readonly channel: 'telemetry'
  readonly type: 'ask'
}

/** An answer, or unasked: the last words of a worker that ends. */
export interface TellReport {
  readonly channel: 'telemetry'
  readonly type: 'report'
  readonly report: WorkerReport
}

export const ASK_REPORT: AskReport = { channel: 'telemetry', type: 'ask' }

export function isTelemetry(message: unknown): message is AskReport | TellReport {
  return (message as { channel?: unknown } | null)?.channel === 'telemetry'
}
