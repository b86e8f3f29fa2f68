/** A connector as people see it: what is kept of it, and what the gateways say of it now. */
import { mergeHere } from '../../shared/fleet/connector-presence.ts'
import type { ConnectorRow } from '../store/queries/connectors.ts'
import type { ConnectorAtGateway } from './presence.ts'

export type ConnectorStatus = ReturnType<typeof statusOf>

/** `uncounted`: requests that are not written down yet. */
export function statusOf(
  row: ConnectorRow,
  at: readonly ConnectorAtGateway[],
  { nowMs, uncounted }: { readonly nowMs: number; readonly uncounted: number },
) {
  const { tenantId, connectorId, name, joinedAt, seenAt } = row
  const requests = row.requests + uncounted
  const kept = { tenantId, connectorId, name, joinedAt, seenAt, requests }
  const [first, ...others] = at
  const gateways = at.toSorted((a, b) => (a.gatewayId < b.gatewayId ? -1 : 1))
  if (first === undefined)
    return {
      ...kept,
      program: row.program,
      state: 'disconnected' as const,
      reason: null,
      // A moment ago it was here, and nobody has written down yet that it is not.
      lastSeenAt: row.presence === 'disconnected' ? row.presenceAt : nowMs,
      roundTripMs: null,
      lastError: null,
      gateways,
    }
  const { state, reason, program, roundTripMs, lastError } = mergeHere([first, ...others])
  const live = { state, reason, program, roundTripMs, lastError }
  return { ...kept, ...live, lastSeenAt: nowMs, gateways }
}
