/**
 * How far all gateways are: those that are connected here, and those at other control planes, which
 * count alike for whoever waits for an answer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Enforced, Receipt } from '../store/enforced.ts'
import type { Nodes } from '../store/engine.ts'
import type { GatewayProgress } from '../store/nodes.ts'
import { createAcknowledgements, type RevokedUpTo } from './acknowledgements.ts'
import type { GatewayKeyRegistry } from './admission.ts'
import { fleetWide, missedIn } from './fleet-wide.ts'
import type { GatewayLink } from './gateway-link.ts'
import type { createGatewayRegistry, Rejection } from './gateway-registry.ts'
import { createHeardPositions } from './heard-positions.ts'
import { followPeers, NO_PEERS } from './peers.ts'

interface EverywhereWorld {
  readonly links: ReadonlyMap<string, GatewayLink>
  readonly registry: ReturnType<typeof createGatewayRegistry>
  /** Of tenants: what no gateway is sent. */
  readonly unsendable: ReadonlyMap<string, Rejection>
  readonly keys: Pick<GatewayKeyRegistry, 'seen'>
  readonly log: Logger
  readonly nodes: Nodes | undefined
  /** Others go on, and this one cannot hear of them. */
  readonly onCutOff: () => void
}

export function acknowledgeEverywhere(world: EverywhereWorld) {
  const { links, registry, unsendable, keys, log, nodes, onCutOff } = world
  const heard = createHeardPositions()
  const arriving = new Set<string>()
  const peers =
    nodes === undefined
      ? NO_PEERS
      : followPeers({
          nodes,
          log,
          own: ownProgress,
          ownStatus: () => registry.list(0, []),
          onChange: () => acknowledgements.check(),
          isWaitedFor: () => acknowledgements.isWaitedFor(),
          onCutOff() {
            log.error('the database cannot be read: gateways are sent to other control planes')
            onCutOff()
          },
        })
  const acknowledgements = createAcknowledgements({
    connected: () => [
      ...new Set([...links.keys(), ...peers.connected().map(({ gatewayId }) => gatewayId)]),
    ],
    hasApplied: (gatewayId, revision) =>
      registry.revisionOf(gatewayId) >= revision ||
      peers.progressOf(gatewayId).some((there) => there.revision >= revision),
    hasRejected: (gatewayId, tenantId, revision) =>
      (unsendable.get(tenantId)?.revision ?? -1) >= revision ||
      registry.hasRejected(gatewayId, tenantId, revision) ||
      peers
        .progressOf(gatewayId)
        .some(({ rejected }) => rejected.some(([id, at]) => id === tenantId && at >= revision)),
    hasRevoked: (gatewayId, { sequence, position }) =>
      (links.get(gatewayId)?.hasRevoked(sequence) ?? false) ||
      (position !== null &&
        peers.progressOf(gatewayId).some((there) => there.position >= position)),
  })

  /** For other control planes. */
  function ownProgress(): GatewayProgress[] {
    return [...new Set([...links.keys(), ...arriving])].map((gatewayId) => ({
      gatewayId,
      revision: registry.revisionOf(gatewayId),
      isDurable: registry.isDurable(gatewayId),
      position: heard.of((sequence) => links.get(gatewayId)?.hasRevoked(sequence) ?? false),
      isRevokedDurable: links.get(gatewayId)?.isRevokedDurable() ?? true,
      rejected: registry
        .rejectionsOf(gatewayId)
        .map(({ tenant_id, revision }) => [tenant_id, revision] as const),
    }))
  }

  /** Whoever has come to another control plane by now counts; nobody waits longer for that. */
  async function withPeers(timeoutMs: number, wait: (leftMs: number) => Promise<Receipt>) {
    const startedMs = performance.now()
    if (nodes !== undefined)
      await Promise.race([peers.refresh(), sleep(timeoutMs, undefined, { ref: false })])
    const receipt = wait(Math.max(0, timeoutMs - (performance.now() - startedMs)))
    peers.waiting()
    return receipt
  }

  /** With whom a restart may make forget it, and who is not there to be asked. */
  async function tellAll(
    receipt: Receipt,
    isDurableHere: (id: string) => boolean,
    isDurableThere: (there: GatewayProgress) => boolean,
  ): Promise<Enforced> {
    const isDurable = (id: string) =>
      links.has(id) ? isDurableHere(id) : peers.progressOf(id).some(isDurableThere)
    const notDurable = receipt.applied.filter((id) => !isDurable(id))
    const seen = await keys.seen()
    const known = new Set([...registry.away(), ...missedIn(peers.statuses(), seen), ...seen])
    for (const id of [...receipt.applied, ...receipt.pending]) known.delete(id)
    return { ...receipt, notDurable, unreachable: [...known].sort() }
  }

  return {
    /** Before it is told what is revoked: from then on others wait for it. */
    async arrives(gatewayId: string) {
      arriving.add(gatewayId)
      await peers.told()
      arriving.delete(gatewayId)
    },
    /** To be called whenever a gateway has come further, has come or has gone. */
    progressed() {
      acknowledgements.check()
      peers.progressed()
    },
    gateways(newestRevision: number) {
      const own = registry.list(newestRevision, [...unsendable.values()])
      return fleetWide(own, peers.statuses(), newestRevision)
    },
    applied: (revision: number, timeoutMs: number): Promise<Receipt> =>
      withPeers(timeoutMs, (leftMs) => acknowledgements.applied(revision, leftMs)),
    async taken(tenantId: string, revision: number, timeoutMs: number): Promise<Enforced> {
      const receipt = await withPeers(timeoutMs, (leftMs) =>
        acknowledgements.taken(tenantId, revision, leftMs),
      )
      const isThere = ({ isDurable }: GatewayProgress) => isDurable
      return tellAll(receipt, (gatewayId) => registry.isDurable(gatewayId), isThere)
    },
    async revoked(upTo: RevokedUpTo, timeoutMs: number): Promise<Enforced> {
      const receipt = await withPeers(timeoutMs, (leftMs) => acknowledgements.revoked(upTo, leftMs))
      const isHere = (gatewayId: string) => links.get(gatewayId)?.isRevokedDurable() !== false
      return tellAll(receipt, isHere, ({ isRevokedDurable }) => isRevokedDurable)
    },
    /** All that others have revoked up to this position has gone to every gateway, by this number. */
    heard(position: number, sequence: number) {
      heard.add(position, sequence)
      if (links.size > 0) peers.progressed()
    },
    /** Another log begins. */
    startOver: () => heard.clear(),
    async close() {
      acknowledgements.close()
      await peers.close()
    },
  }
}
