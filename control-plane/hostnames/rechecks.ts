/**
 * Hostnames that a TXT record has proven, looked at again: who loses a domain, or means to leave, takes
 * the record away, and the next owner must not find the tenant there for ever. Never at once: the record
 * has to be gone for days, by the word of a name server, and the administrators are warned meanwhile.
 * What is stopped waits for its proof as it did at first, so that the record brings it back.
 */
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { boundedMap } from '../concurrency/bounded-map.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import {
  advanceHostnameProof,
  dueHostnameProofs,
  hostnameProofsOf,
  type HostnameProof,
} from '../store/queries/hostname-proofs.ts'
import { afterLook, endsAt } from '../outbound/proof-schedule.ts'
import type { Actor, Store } from '../store/store.ts'
import type { Tenants } from '../tenants/tenants.ts'
import type { LookForRecord } from './proof.ts'

interface RechecksWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'stopUnprovenHostname'>
  readonly record: LookForRecord
  readonly clock: Clock
  readonly log: Pick<Logger, 'error' | 'warn'>
}

const DUE_AT_ONCE = 32
const JOB: Actor = { name: 'service', requestId: '' }

/** A hostname whose record is gone, and when it is served no more. */
export interface UnprovenHostname {
  readonly hostname: string
  readonly token: string
  readonly missingSince: number
  readonly stopsAt: number
}

export function createRechecks({ store, tenants, record, clock, log }: RechecksWorld) {
  const looks = createFairSemaphore({ concurrency: LIMITS.hostnameLooksAtOnceMax })

  async function lookAt(proof: HostnameProof): Promise<void> {
    const { hostname, tenantId, token } = proof
    const state = await looks.take(() => record(hostname, token), tenantId)
    const { changes, isWarned, isOver } = afterLook(proof, state, clock.nowMs())
    if (!isOver || !(await isStopped(proof))) await write(proof, changes, isWarned)
  }

  /** False: its tenant would be left with nothing to be reached by, or somebody was faster. */
  async function isStopped(proof: HostnameProof): Promise<boolean> {
    try {
      await tenants.stopUnprovenHostname(proof, JOB)
      return true
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      log.warn(
        { tenant_id: proof.tenantId, hostname: proof.hostname, reason: error.message },
        'a hostname whose proof is gone could not be stopped',
      )
      return false
    }
  }

  async function write(
    proof: HostnameProof,
    changes: Parameters<typeof advanceHostnameProof>[2],
    isWarned: boolean,
  ): Promise<void> {
    const { hostname, tenantId } = proof
    await store.change(async (change) => {
      if (!(await advanceHostnameProof(change.queries, proof, changes)) || !isWarned) return
      await change.audit(JOB, { action: 'hostname.unproven', tenantId, content: { hostname } })
      log.warn({ tenant_id: tenantId, hostname }, 'the record that proved a hostname is gone')
    })
  }

  return {
    isDue: async () => (await dueHostnameProofs(store.read, clock.nowMs(), 1)).length > 0,
    async lookAtDue(isClosed: () => boolean): Promise<void> {
      const due = await dueHostnameProofs(store.read, clock.nowMs(), DUE_AT_ONCE)
      await boundedMap(LIMITS.hostnameLooksAtOnceMax, due, async (proof) => {
        try {
          if (!isClosed()) await lookAt(proof)
        } catch (error) {
          if (!(error instanceof Refusal))
            log.error(
              { error, hostname: proof.hostname },
              'a hostname could not be looked at again',
            )
        }
      })
    },
    /** Those whose administrators are warned. */
    async unproven(tenantId: string): Promise<UnprovenHostname[]> {
      const nowMs = clock.nowMs()
      return (await hostnameProofsOf(store.read, tenantId)).flatMap((proof) => {
        const { hostname, token, missingSince } = proof
        const stopsAt = endsAt(proof, nowMs)
        if (missingSince === null || stopsAt === undefined) return []
        return [{ hostname, token, missingSince, stopsAt }]
      })
    },
  }
}
