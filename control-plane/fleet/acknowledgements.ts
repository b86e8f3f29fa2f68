/** Waiting for gateways to have something, so that a caller can say how far a change has got. */
import { LIMITS } from '../../shared/limits.ts'
import type { Receipt } from '../store/enforced.ts'

export interface RevokedUpTo {
  /** For gateways that are connected here. */
  readonly sequence: number
  /** For those that are at other control planes; null: there are none. */
  readonly position: number | null
}

interface AcknowledgementSources {
  connected(): readonly string[]
  hasApplied(gatewayId: string, revision: number): boolean
  hasRejected(gatewayId: string, tenantId: string, revision: number): boolean
  hasRevoked(gatewayId: string, upTo: RevokedUpTo): boolean
}

export function createAcknowledgements(sources: AcknowledgementSources) {
  type Waiting = Set<{ look: () => void; finish: () => void }>
  const changes: Waiting = new Set()
  // apart: however many wait to be told of a change, nobody is told of a revocation too early
  const revocations: Waiting = new Set()

  function wait(
    waiting: Waiting,
    has: (gatewayId: string) => boolean,
    timeoutMs: number,
  ): Promise<Receipt> {
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
    applied: (revision: number, timeoutMs: number) =>
      wait(changes, (gatewayId) => sources.hasApplied(gatewayId, revision), timeoutMs),
    /** The same, by those who have not rejected what it says of this tenant. */
    taken: (tenantId: string, revision: number, timeoutMs: number) =>
      wait(
        changes,
        (gatewayId) =>
          sources.hasApplied(gatewayId, revision) &&
          !sources.hasRejected(gatewayId, tenantId, revision),
        timeoutMs,
      ),
    revoked: (upTo: RevokedUpTo, timeoutMs: number) =>
      wait(revocations, (gatewayId) => sources.hasRevoked(gatewayId, upTo), timeoutMs),
    isWaitedFor: () => revocations.size + changes.size > 0,
    /** Looks again; to be called whenever a gateway has come further or has gone. */
    check() {
      for (const waiting of [revocations, changes]) for (const waiter of waiting) waiter.look()
    },
    close() {
      for (const waiting of [revocations, changes]) for (const waiter of waiting) waiter.finish()
    },
  }
}
