/** Waiting for gateways to have something, so that a caller can say how far a change has got. */
import { LIMITS } from '../../shared/limits.ts'

export interface Receipt {
  readonly applied: readonly string[]
  /** Connected, but not there yet when the time was up. */
  readonly pending: readonly string[]
}

/** Who refuses what was revoked, by the time that somebody is told that it is. */
export interface Enforced extends Receipt {
  /** Of those that do: would forget it with a restart, since their disks do not take it. */
  readonly notDurable: readonly string[]
  /** Not connected: they serve what they have, and hear of it when they are back. */
  readonly unreachable: readonly string[]
}

export const ENFORCED_BY_NOBODY: Enforced = {
  applied: [],
  pending: [],
  notDurable: [],
  unreachable: [],
}

export function isEverywhere({ pending, notDurable, unreachable }: Enforced): boolean {
  return pending.length + notDurable.length + unreachable.length === 0
}

export interface Receipts {
  applied(revision: number, timeoutMs: number): Promise<Receipt>
  /** The same, by those who have not rejected what it says of this tenant. */
  taken(tenantId: string, revision: number, timeoutMs: number): Promise<Receipt>
  revoked(sequence: number, timeoutMs: number): Promise<Receipt>
  /** Looks again; to be called whenever a gateway has come further or has gone. */
  check(): void
  close(): void
}

export interface ReceiptSources {
  connected(): readonly string[]
  hasApplied(gatewayId: string, revision: number): boolean
  hasRejected(gatewayId: string, tenantId: string, revision: number): boolean
  hasRevoked(gatewayId: string, sequence: number): boolean
}

export function createReceipts(sources: ReceiptSources): Receipts {
  const waiting = new Set<{ look: () => void; finish: () => void }>()

  function wait(has: (gatewayId: string) => boolean, timeoutMs: number): Promise<Receipt> {
    const read = (): Receipt => {
      const connected = sources.connected()
      return {
        applied: connected.filter((gatewayId) => has(gatewayId)),
        pending: connected.filter((gatewayId) => !has(gatewayId)),
      }
    }
    const isThere = () => sources.connected().every((gatewayId) => has(gatewayId))
    // Beyond the limit nobody waits: an answer without a receipt is better than a pile of callers.
    if (isThere() || waiting.size >= LIMITS.fleetReceiptsWaitingMax) return Promise.resolve(read())
    return new Promise((resolve) => {
      const waiter = {
        look: () => void (isThere() && waiter.finish()),
        finish: () => {
          clearTimeout(timer)
          waiting.delete(waiter)
          resolve(read())
        },
      }
      const timer = setTimeout(waiter.finish, timeoutMs)
      waiting.add(waiter)
    })
  }

  return {
    applied: (revision, timeoutMs) =>
      wait((gatewayId) => sources.hasApplied(gatewayId, revision), timeoutMs),
    taken: (tenantId, revision, timeoutMs) =>
      wait(
        (gatewayId) =>
          sources.hasApplied(gatewayId, revision) &&
          !sources.hasRejected(gatewayId, tenantId, revision),
        timeoutMs,
      ),
    revoked: (sequence, timeoutMs) =>
      wait((gatewayId) => sources.hasRevoked(gatewayId, sequence), timeoutMs),
    check() {
      for (const waiter of waiting) waiter.look()
    },
    close() {
      for (const waiter of waiting) waiter.finish()
    },
  }
}
