/**
 * E-mail domains of connections: whose people come in by which. One is used once a TXT record below it
 * shows that it is the tenant's, and as long as it is there: it is looked for daily, as for hostnames
 * (`outbound/proof-schedule.ts`). In a realm a domain has one connection.
 */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { boundedMap } from '../concurrency/bounded-map.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import { afterLook, endsAt, pauseMs, PROVEN_PAUSE_MS } from '../outbound/proof-schedule.ts'
import type { RecordState, TxtProofs } from '../outbound/txt-proof.ts'
import {
  advanceDomain,
  deleteDomain,
  domainsOf,
  dueDomains,
  findDomain,
  insertDomain,
  type DomainRow,
} from '../store/queries/connection-domains.ts'
import { findConnection } from '../store/queries/connections.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { readDomain } from './email-domain.ts'

export const domainRecordOf = (domain: string) => `_service-domain.${domain}`
export const domainProofOf = (token: string) => `service-domain=${token}`

export type ConnectionDomain = Readonly<DomainRow> & {
  /** Its record is missing: until when it is used without. */
  readonly stopsAt: number | null
}

interface DomainsWorld {
  readonly store: Store
  readonly records: Pick<TxtProofs, 'state'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'error' | 'warn'>
}

const DUE_AT_ONCE = 32
const JOB: Actor = { name: 'service', requestId: '' }

export function createConnectionDomains({ store, records, clock, log }: DomainsWorld) {
  const looks = createFairSemaphore({ concurrency: LIMITS.hostnameLooksAtOnceMax })

  async function found(tenantId: string, connectionId: string, domain: string) {
    const row = await findDomain(store.read, tenantId, domain)
    if (row?.connectionId !== connectionId) throw new Refusal('domain_not_found')
    return row
  }

  async function lookAt(row: DomainRow, actor: Actor): Promise<boolean> {
    const { domain, tenantId, token } = row
    const state = await looks.take(
      () => records.state(domainRecordOf(domain), domainProofOf(token)),
      tenantId,
    )
    return store.change((change) =>
      row.provenAt === null
        ? lookedFirst(change, row, state, actor)
        : lookedAgain(change, row, state),
    )
  }

  async function lookedFirst(change: Change, row: DomainRow, state: RecordState, actor: Actor) {
    const { nowMs } = change
    const looked = { looks: row.looks + 1, lookedAt: nowMs }
    if (state !== 'there') {
      await advanceDomain(change.queries, row, { ...looked, dueAt: nowMs + pauseMs(looked.looks) })
      return false
    }
    const proven = {
      provenAt: nowMs,
      dueAt: nowMs + PROVEN_PAUSE_MS,
      missingSince: null,
      misses: 0,
    }
    const isOurs = await advanceDomain(change.queries, row, { ...looked, ...proven })
    if (isOurs) await note(change, row, 'domain.proven', actor)
    return true
  }

  /** Whoever sells a domain, or leaves, takes the record away: its next owner's people are not ours. */
  async function lookedAgain(change: Change, row: DomainRow, state: RecordState) {
    const { queries, nowMs } = change
    const { changes, isWarned, isOver } = afterLook(row, state, nowMs)
    const pending = { provenAt: null, looks: 0, dueAt: nowMs + pauseMs(1), missingSince: null }
    const isOurs = await advanceDomain(queries, row, isOver ? { ...changes, ...pending } : changes)
    if (isOurs && (isOver || isWarned)) {
      await note(change, row, isOver ? 'domain.lapsed' : 'domain.unproven', JOB)
      const { tenantId, domain } = row
      log.warn({ tenant_id: tenantId, domain }, 'the record that proved a domain is gone')
    }
    return !isOver
  }

  const note = (
    change: Change,
    { tenantId, domain, connectionId }: DomainRow,
    action: string,
    actor: Actor,
  ) => change.audit(actor, { action, tenantId, content: { domain, connection_id: connectionId } })

  return {
    async list(tenantId: string, connectionId: string): Promise<readonly ConnectionDomain[]> {
      const nowMs = clock.nowMs()
      const rows = await domainsOf(store.read, tenantId)
      return rows
        .filter((row) => row.connectionId === connectionId)
        .map((row) => ({ ...row, stopsAt: endsAt(row, nowMs) ?? null }))
    },

    async add(
      tenantId: string,
      connectionId: string,
      text: string,
      actor: Actor,
    ): Promise<ConnectionDomain> {
      const domain = readDomain(text)
      if (domain === undefined)
        throw new Refusal(
          'field_invalid',
          { field: 'domain' },
          '"domain" must be a domain of email addresses, like example.com.',
        )
      return store.change(async (change) => {
        const { queries, nowMs } = change
        if ((await findConnection(queries, tenantId, connectionId)) === undefined)
          throw new Refusal('connection_not_found')
        const known = await domainsOf(queries, tenantId)
        if (known.some((one) => one.domain === domain))
          throw new Refusal('domain_taken', { field: 'domain' })
        if (known.length >= LIMITS.connectionDomainsPerTenantMax)
          throw new Refusal('domains_exhausted')
        const row: DomainRow = {
          ...{ tenantId, domain, connectionId, turn: 0, looks: 0, misses: 0 },
          token: randomBytes(32).toString('base64url'),
          createdAt: nowMs,
          dueAt: nowMs + pauseMs(1),
          ...{ lookedAt: null, provenAt: null, missingSince: null },
        }
        await insertDomain(queries, row)
        await note(change, row, 'domain.added', actor)
        return { ...row, stopsAt: null }
      })
    },

    /** Now, as somebody wishes: whether it counts. */
    async check(tenantId: string, connectionId: string, domain: string, actor: Actor) {
      const row = await found(tenantId, connectionId, domain)
      if (clock.nowMs() < (row.lookedAt ?? 0) + LIMITS.hostnameLookAgainMsMin)
        throw new Refusal('domain_just_checked')
      return lookAt(row, actor)
    },

    async remove(tenantId: string, connectionId: string, domain: string, actor: Actor) {
      const row = await found(tenantId, connectionId, domain)
      await store.change(async (change) => {
        if (await deleteDomain(change.queries, tenantId, domain, row.token))
          await note(change, row, 'domain.removed', actor)
      })
    },

    isDue: async () => (await dueDomains(store.read, clock.nowMs(), 1)).length > 0,
    async lookAtDue(isClosed: () => boolean): Promise<void> {
      const due = await dueDomains(store.read, clock.nowMs(), DUE_AT_ONCE)
      await boundedMap(LIMITS.hostnameLooksAtOnceMax, due, async (row) => {
        try {
          if (!isClosed()) await lookAt(row, JOB)
        } catch (error) {
          log.error({ error, domain: row.domain }, 'a domain could not be checked')
        }
      })
    },
  }
}
