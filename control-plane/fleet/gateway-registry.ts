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

interface GatewayRegistry {
  /** `revision` is what it surely serves already. */
  connected(gatewayId: string, version: string, revision: number, keyId?: string | null): void
  disconnected(gatewayId: string): void
  /** It is no part of the fleet any more. */
  forget(gatewayId: string): void
  seen(gatewayId: string): void
  applied(gatewayId: string, revision: number, isDurable: boolean): void
  rejected(gatewayId: string, tenantId: string, revision: number, reason: string): void
  /** A newer state of the tenant is on its way: what was wrong with the older one is past. */
  forgive(tenantId: string): void
  revisionOf(gatewayId: string): number
  /** Whether it refused this state of the tenant, or a newer one, and goes on with an older. */
  hasRejected(gatewayId: string, tenantId: string, revision: number): boolean
  /** Whether its disk holds what it serves. */
  isDurable(gatewayId: string): boolean
  /** Known, and not connected now. */
  away(): string[]
  list(newestRevision: number, unsendable: readonly Rejection[]): GatewayStatus[]
}

export function createGatewayRegistry(clock: Clock): GatewayRegistry {
  const entries = new LRUCache<string, Entry>({ max: LIMITS.fleetGatewaysKnownMax })
  const iso = (ms: number) => new Date(ms).toISOString()

  return {
    connected(gatewayId, version, revision, keyId = null) {
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
    disconnected(gatewayId) {
      const entry = entries.get(gatewayId)
      if (entry !== undefined) entry.isConnected = false
    },
    forget: (gatewayId) => void entries.delete(gatewayId),
    seen(gatewayId) {
      const entry = entries.get(gatewayId)
      if (entry !== undefined) entry.seenMs = clock.nowMs()
    },
    applied(gatewayId, revision, isDurable) {
      const entry = entries.get(gatewayId)
      if (entry === undefined) return
      entry.revision = revision
      entry.appliedMs = clock.nowMs()
      entry.isDurable = isDurable
    },
    rejected(gatewayId, tenantId, revision, reason) {
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
    forgive(tenantId) {
      for (const entry of entries.values()) entry.rejections.delete(tenantId)
    },
    revisionOf: (gatewayId) => entries.peek(gatewayId)?.revision ?? 0,
    hasRejected(gatewayId, tenantId, revision) {
      const rejection = entries.peek(gatewayId)?.rejections.get(tenantId)
      return rejection !== undefined && rejection.revision >= revision
    },
    isDurable: (gatewayId) => entries.peek(gatewayId)?.isDurable ?? false,
    away: () => [...entries].flatMap(([id, { isConnected }]) => (isConnected ? [] : [id])).sort(),
    list: (newestRevision, unsendable) =>
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
