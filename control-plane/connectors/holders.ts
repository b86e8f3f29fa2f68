/** At which gateways tenants have connectors, as all gateways are told; what stays is not said again. */
import type { Holders } from '../../shared/fleet/holders.ts'
import { rendezvous } from '../../shared/fleet/rendezvous.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { ConnectorPresence } from './presence.ts'

interface HoldersWorld {
  readonly presence: Pick<ConnectorPresence, 'gatewaysOf' | 'onChange'>
  readonly tell: (changed: readonly Holders[]) => void
}

/** Connectors come in crowds, and most of what they change is not told here. */
const GATHER_MS = 50

export function followHolders({ presence, tell }: HoldersWorld) {
  const told = new Map<string, readonly string[]>()
  const due = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  presence.onChange((tenantIds) => {
    for (const tenantId of tenantIds) due.add(tenantId)
    timer ??= setTimeout(flush, GATHER_MS).unref()
  })

  function flush(): void {
    timer = undefined
    const now = presence.gatewaysOf(due)
    const changed: Holders[] = []
    for (const tenantId of due) {
      const gateways = named(tenantId, now.get(tenantId) ?? [])
      if (gateways.join('\n') === (told.get(tenantId) ?? []).join('\n')) continue
      if (gateways.length === 0) told.delete(tenantId)
      else told.set(tenantId, gateways)
      changed.push([tenantId, gateways])
    }
    due.clear()
    if (changed.length > 0) tell(changed)
  }

  return { all: (): Iterable<Holders> => told }
}

/** The same ones as long as they have it; not the same ones for all tenants. */
function named(tenantId: string, gatewayIds: readonly string[]): string[] {
  const most = LIMITS.holdersNamedMax
  if (gatewayIds.length <= most) return [...gatewayIds].sort()
  return rendezvous(tenantId, gatewayIds, most).sort()
}
