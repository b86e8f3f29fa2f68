/** The document of `/status`, which the command `status` shows. */
import type { Counts } from './counts.ts'
import type { Health } from './health.ts'

/** What it is, besides what its tunnel knows. Nothing of it is secret. */
export interface LocalFacts {
  readonly tenantId: string
  readonly connectorId: string
  readonly program: string
  /** Without a name, a password, or a path. */
  readonly origin: string
  readonly listSequence: number
  /** When the control plane last confirmed the list, by `nowMs`; undefined: not since the start. */
  readonly listConfirmedMs: number | undefined
  /** Why it could not be asked the last time; '' where it could. */
  readonly controlPlaneProblem: string
}

interface StatusWorld {
  readonly facts: LocalFacts
  readonly health: Health
  readonly counts: Counts
  readonly startedMs: number
  readonly nowMs: number
}

export function statusView({ facts, health, counts, startedMs, nowMs }: StatusWorld) {
  const { listConfirmedMs } = facts
  return {
    tenant_id: facts.tenantId,
    connector_id: facts.connectorId,
    version: facts.program,
    origin: facts.origin,
    process_id: process.pid,
    up_seconds: Math.round((nowMs - startedMs) / 1000),
    ...health,
    opened: counts.opened,
    list: {
      sequence: facts.listSequence,
      confirmed_seconds_ago:
        listConfirmedMs === undefined ? null : Math.round((nowMs - listConfirmedMs) / 1000),
    },
    /** Why the control plane could not be asked. */
    control_plane_problem: facts.controlPlaneProblem,
  }
}
