/** One list of all gateways, of what each control plane says of those that it has or had. */
import type { GatewayStatus } from './gateway-registry.ts'
import type { PeerGateway } from './peers.ts'

/** Where several know it, whoever is connected to it; then who was so last. */
export function fleetWide(
  own: readonly GatewayStatus[],
  others: readonly PeerGateway[],
  newestRevision: number,
): GatewayStatus[] {
  if (others.length === 0) return [...own]
  const byId = new Map<string, GatewayStatus>()
  const all = [...own, ...others.map((one) => ofPeer(one, newestRevision))]
  for (const one of all) {
    const known = byId.get(one.gateway_id)
    if (known === undefined || isBetter(one, known)) byId.set(one.gateway_id, one)
  }
  return [...byId.values()].sort((a, b) => a.gateway_id.localeCompare(b.gateway_id))
}

function isBetter(one: GatewayStatus, other: GatewayStatus): boolean {
  if (one.connected !== other.connected) return one.connected
  return one.connected_at > other.connected_at
}

function ofPeer({ isLost, ...one }: PeerGateway, newestRevision: number): GatewayStatus {
  const lag = Math.max(0, newestRevision - one.revision)
  return { ...one, connected: one.connected && !isLost, lag }
}

/** Who was at another control plane, and counts: with a key of its own, as long as that does. */
export function missedIn(others: readonly PeerGateway[], withKeys: readonly string[]): string[] {
  return others
    .filter(({ key_id, gateway_id }) => key_id === null || withKeys.includes(gateway_id))
    .map(({ gateway_id }) => gateway_id)
}
