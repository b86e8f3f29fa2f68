/**
 * Hostnames that a tenant's administrators add. One is among the tenant's hostnames, and so served and
 * ordered a certificate for, once it was shown to be theirs; from then on it is theirs until it is
 * removed, and nobody else can ask for it. What an operator adds needs no proof.
 */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { HOSTNAME, isPublicName } from '../../shared/hosts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { boundedMap } from '../concurrency/bounded-map.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import { pauseMs } from '../outbound/proof-schedule.ts'
import {
  beginHostnameLook,
  deleteHostnameClaim,
  deleteHostnameClaimsBefore,
  dueHostnameClaims,
  hostnameClaimsOf,
  insertHostnameClaim,
  ownerOfHostname,
  type HostnameClaim,
} from '../store/queries/hostname-claims.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Store } from '../store/store.ts'
import { found } from '../tenants/alter.ts'
import type { Tenants } from '../tenants/tenants.ts'
import type { LookForProof } from './proof.ts'

interface HostnamesWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'addProvenHostname' | 'removeHostname'>
  readonly look: LookForProof
  readonly clock: Clock
  readonly log: Pick<Logger, 'error'>
}

const DUE_AT_ONCE = 32
const JOB: Actor = { name: 'service', requestId: '' }
const WISH = 'a public DNS name like app.example.com'

export function createHostnames({ store, tenants, look, clock, log }: HostnamesWorld) {
  const looks = createFairSemaphore({ concurrency: LIMITS.hostnameLooksAtOnceMax })

  async function claimOf(tenantId: string, hostname: string): Promise<HostnameClaim> {
    const claims = await hostnameClaimsOf(store.read, tenantId)
    const claim = claims.find((one) => one.hostname === hostname)
    if (claim === undefined) throw new Refusal('hostname_not_found')
    return claim
  }

  /** Written down before anybody is asked: whoever comes at the same moment finds it begun. */
  async function lookAt(claim: HostnameClaim, actor: Actor): Promise<boolean> {
    const nowMs = clock.nowMs()
    const times = { lookedAt: nowMs, dueAt: nowMs + pauseMs(claim.looks + 1) }
    const isOurs = await store.changeOf(claim.tenantId, ({ queries }) =>
      beginHostnameLook(queries, claim, times),
    )
    if (!isOurs) return false
    const how = await looks.take(() => look(claim.hostname, claim.token), claim.tenantId)
    if (how === undefined) return false
    await tenants.addProvenHostname(claim, how, actor)
    return true
  }

  return {
    remove: tenants.removeHostname,
    list: (tenantId: string) => hostnameClaimsOf(store.read, tenantId),

    async claim(tenantId: string, text: string, actor: Actor): Promise<HostnameClaim> {
      const hostname = text.trim().toLowerCase()
      if (!HOSTNAME.test(hostname) || !isPublicName(hostname)) throw wrong(`Expected ${WISH}.`)
      return store.change(async (change) => {
        const { queries, nowMs } = change
        const tenant = found(await findTenant(queries, tenantId))
        const claims = await hostnameClaimsOf(queries, tenantId)
        const all = [...tenant.hostnames, ...claims.map((one) => one.hostname)]
        if (all.includes(hostname)) throw wrong('This hostname is already in the list.')
        if ((await ownerOfHostname(queries, hostname)) !== undefined)
          throw new Refusal('hostname_taken', { field: 'hostname' })
        const isFull =
          claims.length >= LIMITS.hostnameClaimsPerTenantMax ||
          all.length >= LIMITS.hostnamesPerTenantMax
        if (isFull) throw new Refusal('hostname_claims_full')
        const claim: HostnameClaim = {
          tenantId,
          hostname,
          token: randomBytes(32).toString('base64url'),
          createdAt: nowMs,
          dueAt: nowMs + pauseMs(1),
          looks: 0,
          lookedAt: null,
        }
        await insertHostnameClaim(queries, claim)
        await change.audit(actor, { action: 'hostname.claimed', tenantId, content: { hostname } })
        return claim
      })
    },

    /** Now, as somebody wishes: whether it was shown to be theirs. */
    async check(tenantId: string, hostname: string, actor: Actor): Promise<boolean> {
      const claim = await claimOf(tenantId, hostname)
      const againMs = (claim.lookedAt ?? 0) + LIMITS.hostnameLookAgainMsMin
      if (clock.nowMs() < againMs) throw new Refusal('hostname_just_checked')
      return lookAt(claim, actor)
    },

    async withdraw(tenantId: string, hostname: string, actor: Actor): Promise<void> {
      const { token } = await claimOf(tenantId, hostname)
      await store.change(async (change) => {
        if (!(await deleteHostnameClaim(change.queries, tenantId, hostname, token))) return
        await change.audit(actor, { action: 'hostname.withdrawn', tenantId, content: { hostname } })
      })
    },

    isDue: async () => (await dueHostnameClaims(store.read, clock.nowMs(), 1)).length > 0,
    async lookAtDue(isClosed: () => boolean): Promise<void> {
      const due = await dueHostnameClaims(store.read, clock.nowMs(), DUE_AT_ONCE)
      await boundedMap(LIMITS.hostnameLooksAtOnceMax, due, async (claim) => {
        try {
          if (!isClosed()) await lookAt(claim, JOB)
        } catch (error) {
          // somebody else has it meanwhile, or it would be one too many: what waits goes on waiting
          if (!(error instanceof Refusal))
            log.error({ error, hostname: claim.hostname }, 'a hostname could not be checked')
        }
      })
    },

    prune: pruneWith(store, deleteHostnameClaimsBefore, LIMITS.hostnameClaimKeptMs),
  }
}

const wrong = (detail: string) => new Refusal('field_invalid', { field: 'hostname' }, detail)
