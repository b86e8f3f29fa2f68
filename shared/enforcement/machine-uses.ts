/**
 * What machines do, on its way to the control plane: when each of their secrets was last used, from
 * where, and how often. The first request is told at once and the rest now and then, however busy a
 * machine is; what nobody asked for any more since is told by `flush`.
 */
import { LIMITS } from '../limits.ts'
import type { MachinePass } from './machines.ts'

export interface MachineUse {
  readonly tenantId: string
  readonly serviceId: string
  readonly secretId: string
  readonly atSeconds: number
  /** Of the last of them. */
  readonly ip: string
  readonly requests: number
}

interface Counted {
  readonly tenantId: string
  readonly serviceId: string
  toldSeconds: number
  atSeconds: number
  ip: string
  /** Since they were told last. */
  requests: number
}

export const USES_TOLD_MS = LIMITS.serviceUseToldSeconds * 1000

export function createMachineUses(tell: (use: MachineUse) => void) {
  const bySecret = new Map<string, Counted>()

  function send(secretId: string, counted: Counted): void {
    const { tenantId, serviceId, atSeconds, ip, requests } = counted
    counted.toldSeconds = atSeconds
    counted.requests = 0
    tell({ tenantId, serviceId, secretId, atSeconds, ip, requests })
  }

  /** One leaves for each that comes, when there are very many. */
  function begin(tenantId: string, { serviceId, secretId }: MachinePass): Counted {
    const [oldest] = bySecret
    if (bySecret.size >= LIMITS.serviceUsesRememberedMax && oldest !== undefined) {
      if (oldest[1].requests > 0) send(...oldest)
      bySecret.delete(oldest[0])
    }
    const whose = { tenantId, serviceId }
    const counted = { ...whose, toldSeconds: -Infinity, atSeconds: 0, ip: '', requests: 0 }
    bySecret.set(secretId, counted)
    return counted
  }

  return {
    /** Runs for each request of a machine. */
    note(tenantId: string, pass: MachinePass, ip: string, nowSeconds: number): void {
      const { secretId } = pass
      const counted = bySecret.get(secretId) ?? begin(tenantId, pass)
      counted.atSeconds = nowSeconds
      counted.ip = ip
      counted.requests++
      if (nowSeconds - counted.toldSeconds >= LIMITS.serviceUseToldSeconds) send(secretId, counted)
    },
    flush(): void {
      for (const [secretId, counted] of bySecret) if (counted.requests > 0) send(secretId, counted)
    },
  }
}
