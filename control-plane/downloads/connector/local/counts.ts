/** What has happened since the connector was started, counted from what the tunnel tells. */
import type { TunnelEvent } from '../tunnel/worker-link.ts'

/** A later gateway's reasons must not become series without end. */
const RESULTS = ['opened', 'refused', 'timeout', 'unresolved', 'unreachable', 'other'] as const
type Result = (typeof RESULTS)[number]

export interface Counts {
  /** Connections to the application that gateways asked for, checks among them. */
  readonly opened: Readonly<Record<Result, number>>
  readonly checks: { readonly reached: number; readonly failed: number }
  readonly lost: number
  readonly refused: number
}

export function createCounts() {
  const opened = { opened: 0, refused: 0, timeout: 0, unresolved: 0, unreachable: 0, other: 0 }
  const counts = { opened, checks: { reached: 0, failed: 0 }, lost: 0, refused: 0 }
  return {
    now: (): Counts => structuredClone(counts),
    onEvent(event: TunnelEvent): void {
      if (event.type === 'opened')
        opened[event.isReached ? 'opened' : (resultOf(event.reason) ?? 'other')]++
      else if (event.type === 'checked') counts.checks[event.isReached ? 'reached' : 'failed']++
      else if (event.type === 'lost') counts.lost++
      else if (event.type === 'refused') counts.refused++
    },
  }
}

const resultOf = (reason: string | undefined) => RESULTS.find((known) => known === reason)
