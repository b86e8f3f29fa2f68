/** Every gateway that there is: those that have connected, and those that only have a key yet. */
import type { GatewayKey } from '../keys/gateway-keys.ts'
import type { GatewayStatus } from './gateway-registry.ts'

export interface ListedKey {
  readonly key_id: string
  readonly created_at: string
  readonly last_used_at: string | null
}

export type ListedGateway = Omit<GatewayStatus, 'version' | 'connected_at' | 'last_seen_at'> & {
  /** null: not seen since the control plane runs. */
  readonly version: string | null
  readonly connected_at: string | null
  readonly last_seen_at: string | null
  readonly keys: readonly ListedKey[]
}

export function fleetOf(
  seen: readonly GatewayStatus[],
  keys: readonly GatewayKey[],
  newestRevision: number,
): ListedGateway[] {
  const byGateway = Map.groupBy(keys, ({ gatewayId }) => gatewayId)
  const known = new Set(seen.map(({ gateway_id: id }) => id))
  const unseen = [...byGateway].flatMap(([id, own]) =>
    known.has(id) ? [] : [unseenGateway(id, own, newestRevision)],
  )
  const listed = seen.map((gateway) => ({
    ...gateway,
    keys: (byGateway.get(gateway.gateway_id) ?? []).map(listedKey),
  }))
  return [...listed, ...unseen].sort((a, b) => a.gateway_id.localeCompare(b.gateway_id))
}

function unseenGateway(
  gateway_id: string,
  keys: readonly GatewayKey[],
  newestRevision: number,
): ListedGateway {
  const lastMs = Math.max(0, ...keys.map(({ lastUsedAt }) => lastUsedAt ?? 0))
  return {
    gateway_id,
    version: null,
    connected: false,
    key_id: null,
    connected_at: null,
    last_seen_at: lastMs === 0 ? null : iso(lastMs),
    revision: 0,
    lag: newestRevision,
    applied_at: null,
    durable: true,
    rejections: [],
    keys: keys.map(listedKey),
  }
}

function listedKey({ keyId, createdAt, lastUsedAt }: GatewayKey): ListedKey {
  return {
    key_id: keyId,
    created_at: iso(createdAt),
    last_used_at: lastUsedAt === null ? null : iso(lastUsedAt),
  }
}

const iso = (ms: number) => new Date(ms).toISOString()
