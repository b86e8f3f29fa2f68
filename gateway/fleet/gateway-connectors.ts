/**
 * Which tenants have a connector at any worker of this gateway, told to all of its workers: to one
 * that has none yet, it is on its way.
 */
import type { ConnectorNews } from '../../shared/fleet/connector-presence.ts'
import type { RelayChange } from './relay-messages.ts'

export function createGatewayConnectors(relay: (change: RelayChange) => void) {
  /** By tenant; of each, its connectors that take requests, by worker. */
  const byTenant = new Map<string, Map<object, Set<string>>>()

  function set(worker: object, tenantId: string, connectorId: string, isHere: boolean): void {
    const byWorker = byTenant.get(tenantId) ?? new Map<object, Set<string>>()
    const here = byWorker.get(worker) ?? new Set()
    if (isHere) here.add(connectorId)
    else here.delete(connectorId)
    if (here.size > 0) byWorker.set(worker, here)
    else byWorker.delete(worker)
    if (byWorker.size > 0) byTenant.set(tenantId, byWorker)
    else byTenant.delete(tenantId)
  }

  /** What has changed for them by it. */
  function tellChanged(tenantIds: ReadonlySet<string>, change: () => void): void {
    const before = new Set([...tenantIds].filter((id) => byTenant.has(id)))
    change()
    const changed = [...tenantIds].filter((id) => byTenant.has(id) !== before.has(id))
    if (changed.length === 0) return
    relay({ type: 'here', tenants: changed.map((id) => [id, byTenant.has(id)]) })
  }

  return {
    /** Null: that worker is gone. */
    add(worker: object, news: ConnectorNews | null): void {
      if (news === null) {
        const has = [...byTenant].flatMap(([id, byWorker]) => (byWorker.has(worker) ? [id] : []))
        return tellChanged(new Set(has), () => {
          for (const id of has) {
            byTenant.get(id)?.delete(worker)
            if (byTenant.get(id)?.size === 0) byTenant.delete(id)
          }
        })
      }
      const named = new Set([...news.here, ...news.gone].map(({ tenantId }) => tenantId))
      tellChanged(named, () => {
        for (const { tenantId, connectorId, state } of news.here)
          set(worker, tenantId, connectorId, state !== 'draining')
        for (const { tenantId, connectorId } of news.gone) set(worker, tenantId, connectorId, false)
      })
    },
    /** For a worker that begins. */
    *state(): Iterable<RelayChange> {
      if (byTenant.size > 0)
        yield { type: 'here', tenants: [...byTenant.keys()].map((id) => [id, true] as const) }
    },
  }
}
