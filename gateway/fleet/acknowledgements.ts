/**
 * What the control plane is told about what it has sent: how far this gateway has come, what it
 * enforces, and how much more it takes. Nothing is claimed before all workers serve it.
 */
import type { UpMessage } from '../../shared/fleet/snapshot.ts'
import type { LastKnownGood } from '../last-known-good/last-known-good.ts'

interface AcknowledgementsWorld {
  readonly disk: Pick<LastKnownGood, 'isHealthy'>
  readonly send: (message: UpMessage) => unknown
}

export function createAcknowledgements({ disk, send }: AcknowledgementsWorld) {
  let everythingServed: Promise<unknown> = Promise.resolve()
  let revokedServed: Promise<unknown> = Promise.resolve()
  let consumed = 0

  function countConsumed() {
    consumed += 1
    if (consumed > 1) return
    setImmediate(() => {
      send({ type: 'consumed', messages: consumed })
      consumed = 0
    })
  }

  return {
    /** Something has been handed on, to the workers and to the disk. */
    settle(served: Promise<void>, saved: Promise<boolean>) {
      everythingServed = Promise.all([everythingServed, served, saved])
    },
    /** The same, of what ends sessions. */
    settleRevoked(served: Promise<void>, saved: Promise<boolean>) {
      revokedServed = Promise.all([revokedServed, served, saved])
    },
    /** Once all that was handed on is served: tells of it, and then whether it lies on the disk. */
    applied(
      reached: { readonly epoch: string; readonly revision: number },
      whenDurable: () => void,
    ) {
      void everythingServed.then(() => {
        const isDurable = disk.isHealthy()
        send({ type: 'applied', ...reached, is_durable: isDurable })
        if (isDurable) whenDurable()
      })
    },
    /** Only now is anybody told that a session has ended: it stays so, whoever is killed next. */
    revokedApplied(sequence: number) {
      if (sequence === 0) return
      void revokedServed.then(() =>
        send({ type: 'revoked_applied', sequence, is_durable: disk.isHealthy() }),
      )
    },
    /** The control plane may send as much again, once the workers have dealt with it. */
    consume(served: Promise<unknown> | null) {
      if (served === null) return countConsumed()
      void served.then(countConsumed)
    },
    settled: () => everythingServed.then(() => {}),
  }
}
