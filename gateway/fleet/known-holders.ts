/**
 * At which gateways tenants' connectors are, in the control plane's words. A control plane that has
 * just begun has not heard all gateways: what it leaves out at first is known for a while longer.
 */
import type { HoldersMessage } from '../../shared/fleet/holders.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RelayChange } from './relay-messages.ts'

interface KnownHoldersWorld {
  readonly relay: (change: RelayChange) => void
  readonly keptMs?: number
}

export function createKnownHolders({
  relay,
  keptMs = LIMITS.connectorPresenceMs,
}: KnownHoldersWorld) {
  let named = new Map<string, readonly string[]>()
  /** Named by a control plane before this one. */
  let before = new Map<string, readonly string[]>()
  let isTold = false
  let timer: NodeJS.Timeout | undefined

  /** Those that are named come first. */
  const of = (tenantId: string): string[] => [
    ...new Set([...(named.get(tenantId) ?? []), ...(before.get(tenantId) ?? [])]),
  ]
  const tell = (tenantIds: Iterable<string>) =>
    relay({ type: 'holders', tenants: [...tenantIds].map((id) => [id, of(id)]) })

  function forgetBefore(): void {
    const forgotten = before
    before = new Map()
    if (forgotten.size > 0) tell(forgotten.keys())
  }

  return {
    receive({ is_first: isFirst, tenants }: HoldersMessage): void {
      isTold = true
      if (isFirst) {
        before = new Map([...before, ...named])
        named = new Map()
        clearTimeout(timer)
        timer = setTimeout(forgetBefore, keptMs).unref()
      }
      for (const [tenantId, gatewayIds] of tenants) {
        if (gatewayIds.length === 0) named.delete(tenantId)
        else named.set(tenantId, gatewayIds)
      }
      tell(tenants.map(([tenantId]) => tenantId))
    },
    /** For a worker that begins. */
    *state(): Iterable<RelayChange> {
      const tenantIds = new Set([...named.keys(), ...before.keys()])
      if (isTold)
        yield { type: 'holders', tenants: [...tenantIds].map((id) => [id, of(id)] as const) }
    },
    close: (): void => clearTimeout(timer),
  }
}
