/** Waiting for gateways to have something, so that a caller can say how far a change has got. */
import { LIMITS } from '../../shared/limits.ts'

export interface Receipt {
  readonly applied: readonly string[]
  /** Connected, but not there yet when the time was up. */
  readonly pending: readonly string[]
}

export interface Receipts {
  applied(revision: number, timeoutMs: number): Promise<Receipt>
  revoked(sequence: number, timeoutMs: number): Promise<Receipt>
  /** Looks again; to be called whenever a gateway has come further or has gone. */
  check(): void
  close(): void
}

export interface ReceiptSources {
  connected(): readonly string[]
  hasApplied(gatewayId: string, revision: number): boolean
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
    // Beyond the limit nobody waits: an answer without a receipt is better than a pile of callers.
    if (read().pending.length === 0 || waiting.size >= LIMITS.fleetReceiptsWaitingMax)
      return Promise.resolve(read())
    return new Promise((resolve) => {
      const waiter = {
        look: () => void (read().pending.length === 0 && waiter.finish()),
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
