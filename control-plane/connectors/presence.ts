/**
 * Which connectors are at which gateways right now, as the gateways tell us, or other control planes
 * theirs (`shared-presence.ts`): in memory alone, since each gateway says all of it again when it
 * connects. What is not renewed is over.
 */
import type { Clock } from '../../shared/clock.ts'
import {
  fromPresence,
  type ConnectorHere,
  type ConnectorPresence as Said,
  type ConnectorsMessage,
} from '../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Here } from './here.ts'

export interface ConnectorAtGateway extends ConnectorHere {
  readonly gatewayId: string
}

interface Gateway {
  heardMs: number
  /** It has been quiet too long, but says only what is new when it speaks again. */
  isQuiet: boolean
  readonly here: Here
}

export type ConnectorPresence = ReturnType<typeof createConnectorPresence>

export function createConnectorPresence({ clock }: { readonly clock: Clock }) {
  const gateways = new Map<string, Gateway>()
  /** Answered since that was last written down, by connector. */
  const uncounted = new Map<string, number>()
  const listeners = new Set<(tenantIds: ReadonlySet<string>) => void>()
  const receivers: ((gatewayId: string, message: ConnectorsMessage) => void)[] = []

  function receive(gatewayId: string, message: ConnectorsMessage): void {
    const nowMs = clock.nowMs()
    const before = gateways.get(gatewayId)
    const isNew = before === undefined || message.is_full
    const here = isNew ? new Here() : before.here
    gateways.set(gatewayId, { heardMs: nowMs, isQuiet: false, here })
    const isOtherwise = isNew || before.isQuiet
    const tenants = isOtherwise ? tenantsOf(before) : new Set<string>()
    for (const said of message.here) {
      const { tenant_id: tenantId, connector_id: connectorId } = said
      const isKnown = here.get(tenantId, connectorId) !== undefined
      if (!isKnown && here.size >= LIMITS.connectorsReportedMax) continue
      if (before !== undefined) count(said, before.here.get(tenantId, connectorId)?.requests ?? 0)
      here.set(fromPresence(said, nowMs))
      tenants.add(tenantId)
    }
    for (const { tenant_id: tenantId, connector_id: connectorId } of message.gone)
      if (here.delete(tenantId, connectorId)) tenants.add(tenantId)
    tell(tenants)
    for (const receiver of receivers) receiver(gatewayId, message)
  }

  /** As another control plane tells it, of these tenants; `isAnew`: and there are no others there. */
  function put(
    gatewayId: string,
    heardMs: number,
    ofTenants: ReadonlyMap<string, readonly ConnectorHere[]>,
    isAnew: boolean,
  ): void {
    const before = gateways.get(gatewayId)
    const here = isAnew ? new Here() : (before?.here ?? new Here())
    const others = isAnew || before?.isQuiet === true ? tenantsOf(before) : []
    for (const [tenantId, all] of ofTenants) here.replace(tenantId, all)
    gateways.set(gatewayId, { heardMs, isQuiet: false, here })
    tell(new Set([...ofTenants.keys(), ...others]))
  }

  /**
   * Gateways count what their present connections have answered, so fewer than before means that some
   * have ended. What a gateway says first may be written down already, by us before our start.
   */
  function count({ connector_id: id, requests }: Said, before: number): void {
    if (requests > before) uncounted.set(id, (uncounted.get(id) ?? 0) + requests - before)
  }

  function tell(tenants: ReadonlySet<string>): void {
    if (tenants.size > 0) for (const listener of listeners) listener(tenants)
  }

  /** Gateways that have not renewed what they said. */
  function forgetOld(): void {
    const nowMs = clock.nowMs()
    for (const [gatewayId, gateway] of gateways) {
      const quietMs = nowMs - gateway.heardMs
      if (quietMs >= LIMITS.connectorGatewayKeptMs) gateways.delete(gatewayId)
      if (gateway.isQuiet || quietMs < LIMITS.connectorPresenceMs) continue
      gateway.isQuiet = true
      tell(tenantsOf(gateway))
    }
  }

  return {
    receive,
    put,
    /** Said by a gateway that is connected here. */
    onReceive: (receiver: (typeof receivers)[number]) => void receivers.push(receiver),
    at: (gatewayId: string): readonly ConnectorHere[] => [
      ...(gateways.get(gatewayId)?.here.all() ?? []),
    ],
    /** Tenants whose connectors came, left or changed. */
    onChange: (listener: (tenantIds: ReadonlySet<string>) => void) => void listeners.add(listener),
    /** Of one tenant, at each gateway that has it. */
    of(tenantId: string): ConnectorAtGateway[] {
      forgetOld()
      return [...gateways].flatMap(([gatewayId, { isQuiet, here }]) =>
        isQuiet ? [] : Array.from(here.of(tenantId), (one) => ({ ...one, gatewayId })),
      )
    },
    uncounted: (connectorId: string): number => uncounted.get(connectorId) ?? 0,
    /** What is to be added to what is written down. */
    uncountedAll: (): (readonly [connectorId: string, requests: number])[] => [...uncounted],
    /** It was written down. */
    counted(connectorId: string, requests: number): void {
      const left = (uncounted.get(connectorId) ?? 0) - requests
      if (left > 0) uncounted.set(connectorId, left)
      else uncounted.delete(connectorId)
    },
    /** Where requests of these tenants can go. */
    gatewaysOf(tenantIds: ReadonlySet<string>): Map<string, string[]> {
      const found = new Map<string, string[]>()
      for (const [gatewayId, { isQuiet, here }] of gateways)
        for (const tenantId of isQuiet ? [] : tenantIds) {
          if (![...here.of(tenantId)].some(({ state }) => state !== 'draining')) continue
          found.getOrInsertComputed(tenantId, () => []).push(gatewayId)
        }
      return found
    },
    /** To be called now and then: who has gone quiet is told of by nobody else. */
    forgetOld,
  }
}

const tenantsOf = (gateway: Gateway | undefined) => new Set(gateway?.here.tenants())
