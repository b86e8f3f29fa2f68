/** A hostname that has a certificate, until it is time for the next one. */
import type { Logger } from 'pino'
import { DAY_MS, type Clock } from '../../shared/clock.ts'
import type { AcmeOrder, advanceAcmeOrder } from '../store/queries/acme-orders.ts'
import { findCertificate } from '../store/queries/certificates.ts'
import type { Store } from '../store/store.ts'
import { readCertificate } from '../tenants/certificates.ts'
import type { Authorities } from './authorities.ts'
import { renewalIdOf } from './csr.ts'
import { problemIn } from './problem.ts'
import { askAgainMs, renewalAt } from './schedule.ts'

type Next = Promise<AcmeOrder | undefined>

interface WatchingWorld {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly authorities: Pick<Authorities, 'find'>
  readonly random: () => number
  readonly log: Pick<Logger, 'warn'>
  readonly write: (row: AcmeOrder, changes: Parameters<typeof advanceAcmeOrder>[2]) => Next
  /** What was ordered for others and names this hostname, too; undefined: nothing that is newer. */
  readonly adopt: (row: AcmeOrder) => Next
}

export function createWatching(world: WatchingWorld) {
  const { store, clock, authorities, random, log, write, adopt } = world

  async function watch(row: AcmeOrder): Next {
    const nowMs = clock.nowMs()
    const waiting = { step: 'waiting', dueAt: nowMs } as const
    if (row.follows !== null) return watchSource(row, row.follows)
    if (row.renewAt !== null && row.renewAt <= nowMs) return write(row, waiting)
    const known = await findCertificate(store.read, row.hostname)
    if (known?.isOrdered !== true) return write(row, waiting)
    const leaf = readCertificate(known.certificatePem)
    const life = { startMs: leaf.validFromDate.getTime(), endMs: leaf.validToDate.getTime() }
    const { window, retryAfterMs } = await suggested(row, known.certificatePem)
    const renewAt = renewalAt(life, row.renewAt, window, random)
    return write(row, { renewAt, dueAt: Math.min(renewAt, nowMs + askAgainMs(retryAfterMs)) })
  }

  /** Of one that others have, too: who has ordered it renews it, and wakes those who follow. */
  async function watchSource(row: AcmeOrder, follows: string): Next {
    const adopted = await adopt(row)
    if (adopted !== undefined) return adopted
    const nowMs = clock.nowMs()
    const known = await findCertificate(store.read, row.hostname)
    const source = await findCertificate(store.read, follows)
    const alone = { follows: null, dueAt: nowMs } as const
    if (known?.certificatePem !== source?.certificatePem || known === undefined)
      return write(row, alone)
    const leaf = readCertificate(known.certificatePem)
    const endMs = leaf.validToDate.getTime()
    const leastMs = endMs - (endMs - leaf.validFromDate.getTime()) / 10
    if (leastMs <= nowMs) return write(row, { ...alone, step: 'waiting' })
    return write(row, { dueAt: Math.round(Math.min(nowMs + DAY_MS, leastMs)) })
  }

  /** An authority that cannot say it now is asked later; nothing hangs on it. */
  async function suggested(row: AcmeOrder, certificatePem: string) {
    const authority = authorities.find(row.issuedBy)
    const renewalId = renewalIdOf(certificatePem)
    if (authority === undefined || renewalId === undefined) return {}
    try {
      const window = await authority.client.renewal(renewalId)
      return { window, retryAfterMs: window?.retryAfterMs }
    } catch (error) {
      const { message, retryAfterMs } = problemIn(error)
      log.warn({ hostname: row.hostname, reason: message }, 'no word when to renew a certificate')
      return { retryAfterMs }
    }
  }

  return { watch }
}
