/** What is known of every gateway, connected or not, for the console and for receipts. */
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

export interface Rejection {
  readonly tenant_id: string
  readonly revision: number
  readonly reason: string
  readonly at: string
}

export interface GatewayStatus {
  readonly gateway_id: string
  readonly version: string
  readonly connected: boolean
  /** Which of its own keys it has connected with; null: with that of the control plane's machine. */
  readonly key_id: string | null
  readonly connected_at: string
  readonly last_seen_at: string
  /** The last revision that all of its workers serve. */
  readonly revision: number
  /** How many revisions it is behind. */
  readonly lag: number
  /** When it last said so; null: not yet, since this program runs. */
  readonly applied_at: string | null
  /** Whether its disk holds what it serves; false means that a restart asks for it again. */
  readonly durable: boolean
  readonly rejections: readonly Rejection[]
}

interface Entry {
  readonly version: string
  readonly keyId: string | null
  readonly connectedMs: number
  isConnected: boolean
  seenMs: number
  revision: number
  appliedMs: number | undefined
  isDurable: boolean
  readonly rejections: Map<string, Rejection>
}

export function createGatewayRegistry(clock: Clock) {
  const entries = new LRUCache<string, Entry>({ max: LIMITS.fleetGatewaysKnownMax })
  const iso = (ms: number) => new Date(ms).toISOString()

  return {
    /** `revision` is what it surely serves already. */
    connected(gatewayId: string, version: string, revision: number, keyId: string | null = null) {
      const nowMs = clock.nowMs()
      entries.set(gatewayId, {
        version,
        revision,
        keyId,
        connectedMs: nowMs,
        isConnected: true,
        seenMs: nowMs,
        appliedMs: entries.get(gatewayId)?.appliedMs,
        isDurable: true,
        rejections: entries.get(gatewayId)?.rejections ?? new Map<string, Rejection>(),
      })
    },
    disconnected(gatewayId: string) {
      const entry = entries.get(gatewayId)
      if (entry !== undefined) entry.isConnected = false
    },
    /** It is no part of the fleet any more. */
    forget: (gatewayId: string) => void entries.delete(gatewayId),
    seen(gatewayId: string) {
      const entry = entries.get(gatewayId)
      if (entry !== undefined) entry.seenMs = clock.nowMs()
    },
    applied(gatewayId: string, revision: number, isDurable: boolean) {
      const entry = entries.get(gatewayId)
      if (entry === undefined) return
      entry.revision = revision
      entry.appliedMs = clock.nowMs()
      entry.isDurable = isDurable
    },
    rejected(gatewayId: string, tenantId: string, revision: number, reason: string) {
      const rejections = entries.get(gatewayId)?.rejections
      if (rejections === undefined) return
      rejections.delete(tenantId)
      rejections.set(tenantId, {
        tenant_id: tenantId,
        revision,
        reason,
        at: iso(clock.nowMs()),
      })
      const oldest = rejections.keys().next().value
      if (rejections.size > LIMITS.fleetRejectionsKeptMax && oldest !== undefined)
        rejections.delete(oldest)
    },
    /** A newer state of the tenant is on its way: what was wrong with the older one is past. */
    forgive(tenantId: string) {
      for (const entry of entries.values()) entry.rejections.delete(tenantId)
    },
    revisionOf: (gatewayId: string) => entries.peek(gatewayId)?.revision ?? 0,
    /** Whether it refused this state of the tenant, or a newer one, and goes on with an older. */
    hasRejected(gatewayId: string, tenantId: string, revision: number) {
      const rejection = entries.peek(gatewayId)?.rejections.get(tenantId)
      return rejection !== undefined && rejection.revision >= revision
    },
    rejectionsOf: (gatewayId: string) => [...(entries.peek(gatewayId)?.rejections.values() ?? [])],
    /** Whether its disk holds what it serves. */
    isDurable: (gatewayId: string) => entries.peek(gatewayId)?.isDurable ?? false,
    /** Known, and not connected now. */
    away: () => [...entries].flatMap(([id, { isConnected }]) => (isConnected ? [] : [id])).sort(),
    list: (newestRevision: number, unsendable: readonly Rejection[]): GatewayStatus[] =>
      [...entries.entries()]
        .map(([gateway_id, entry]) => ({
          gateway_id,
          version: entry.version,
          connected: entry.isConnected,
          key_id: entry.keyId,
          connected_at: iso(entry.connectedMs),
          last_seen_at: iso(entry.seenMs),
          revision: entry.revision,
          lag: Math.max(0, newestRevision - entry.revision),
          applied_at: entry.appliedMs === undefined ? null : iso(entry.appliedMs),
          durable: entry.isDurable,
          rejections: [...unsendable, ...entry.rejections.values()],
        }))
        .sort((a, b) => a.gateway_id.localeCompare(b.gateway_id)),
  }
}
