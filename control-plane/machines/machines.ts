/**
 * A tenant's machines: services, each with at most two secrets that live at once, so that one can follow
 * the other without a gap. Who has a right one is decided where requests are, by what the snapshot
 * says (.docs/decisions/0079-machines.md); a secret is shown once and kept as its hash.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { DAY_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { LRUCache } from 'lru-cache'
import { findAccessRules } from '../store/queries/access.ts'
import {
  deleteService,
  deleteServiceSecret,
  deleteServiceSecretsOf,
  findService,
  insertService,
  insertServiceAssertion,
  insertServiceSecret,
  deleteServiceAssertionsEndedBefore,
  deleteServiceUsesBefore,
  deleteServiceUsesOf,
  noteMachineUse,
  noteSecretEnds,
  servicesAmong,
  servicesIdentifiedBefore,
  serviceSecretsEndedUnnoted,
  serviceSecretsOf,
  servicesOf,
  serviceUsesSince,
  updateService,
  type MachineUse,
  type ServiceRow,
  type ServiceSecretRow,
} from '../store/queries/services.ts'
import type { PublicJwk } from '../store/service-tables.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Store } from '../store/store.ts'
import { createAlter, found } from '../tenants/alter.ts'
import { requireRoom } from '../tenants/published-size.ts'
import { servicesIn } from '../tenants/service-rules.ts'

export interface Machine extends ServiceRow {
  /** Without what opens anything. */
  readonly secrets: readonly MachineSecret[]
  /** In how many rules it is named. */
  readonly isNamed: boolean
  /** How many of its requests were let in, within a day or a little more. */
  readonly requests: number
}

/** What a secret that somebody shows, or a key that they have signed with, is worth. */
export type ShownSecret =
  | { readonly kind: 'good'; readonly secretId: string; readonly endsAt: number }
  | { readonly kind: 'unknown' | 'ended' | 'disabled' }

interface MachineSecret extends Pick<
  ServiceSecretRow,
  'secretId' | 'createdAt' | 'endsAt' | 'usedAt'
> {
  /** Of a key: how it signs; null: it is a secret. */
  readonly keyAlg: PublicJwk['alg'] | null
}

/** One that has not been revoked. */
export interface MachineKey {
  readonly secretId: string
  readonly endsAt: number
  readonly key: PublicJwk
}

export type Machines = ReturnType<typeof createMachines>

interface NewCredential {
  readonly secret: string
  readonly seconds: number
  readonly publicKey: PublicJwk | null
}

const JOB: Actor = { name: 'service', requestId: '' }
const SECRET_BYTES = 32
const ID_BYTES = 8

export function createMachines({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  const alter = createAlter(store)
  /** When it was last told that a secret was shown for a token. */
  const told = new LRUCache<string, number>({ max: LIMITS.serviceUsesRememberedMax })

  async function all(queries: Queries, tenantId: string): Promise<Machine[]> {
    const secrets = Map.groupBy(await serviceSecretsOf(queries, tenantId), (row) => row.serviceId)
    const rules = await findAccessRules(queries, tenantId)
    const named = servicesIn(rules?.content.rules ?? [])
    const requests = await serviceUsesSince(queries, tenantId, clock.nowMs() - DAY_MS)
    return (await servicesOf(queries, tenantId)).map((service) => ({
      ...service,
      secrets: (secrets.get(service.serviceId) ?? []).map(
        ({ secretId, createdAt, endsAt, usedAt, publicKey }) => {
          return { secretId, createdAt, endsAt, usedAt, keyAlg: publicKey?.alg ?? null }
        },
      ),
      isNamed: named.has(service.serviceId),
      requests: requests.get(service.serviceId) ?? 0,
    }))
  }

  async function requireOne(queries: Queries, tenantId: string, serviceId: string) {
    const one = (await all(queries, tenantId)).find((machine) => machine.serviceId === serviceId)
    if (one === undefined) throw new Refusal('service_not_found')
    return one
  }

  async function add(
    { tenantId, serviceId }: Pick<ServiceRow, 'tenantId' | 'serviceId'>,
    { secret, seconds, publicKey }: NewCredential,
    actor: Actor,
  ): Promise<MachineSecret> {
    const secretId = `ssk_${randomBytes(ID_BYTES).toString('hex')}`
    const action = publicKey === null ? 'service.secret_created' : 'service.key_added'
    let times = { createdAt: 0, endsAt: 0 }
    await alter(tenantId, actor, action, async ({ queries, nowMs }) => {
      const { name, secrets } = await requireOne(queries, tenantId, serviceId)
      const isLiving = ({ endsAt }: MachineSecret) => endsAt > nowMs
      for (const ended of secrets.filter((one) => !isLiving(one)))
        await deleteServiceSecret(queries, tenantId, ended.secretId)
      if (secrets.filter(isLiving).length >= LIMITS.serviceSecretsMax)
        throw new Refusal('service_secrets_full')
      times = { createdAt: nowMs, endsAt: nowMs + seconds * SECOND_MS }
      const secretHash = createHash('sha256').update(secret).digest('base64url')
      const named = { secretId, tenantId, serviceId, secretHash, publicKey }
      await insertServiceSecret(queries, { ...named, ...times, usedAt: null, isEndNoted: false })
      const endsAt = new Date(times.endsAt).toISOString()
      const how = publicKey === null ? {} : { alg: publicKey.alg }
      return { service_id: serviceId, name, secret_id: secretId, ends_at: endsAt, ...how }
    })
    return { secretId, ...times, usedAt: null, keyAlg: publicKey?.alg ?? null }
  }

  function worthOf(
    service: ServiceRow | undefined,
    secret: ServiceSecretRow | undefined,
  ): ShownSecret {
    if (service === undefined || secret === undefined) return { kind: 'unknown' }
    const { secretId, endsAt } = secret
    // a token is good for a second at least
    if (endsAt - clock.nowMs() < 2 * SECOND_MS) return { kind: 'ended' }
    return service.isDisabled ? { kind: 'disabled' } : { kind: 'good', secretId, endsAt }
  }

  return {
    /** The oldest first. */
    async list(tenantId: string): Promise<Machine[]> {
      found(await findTenant(store.read, tenantId))
      return all(store.read, tenantId)
    },

    async one(tenantId: string, serviceId: string): Promise<Machine> {
      found(await findTenant(store.read, tenantId))
      return requireOne(store.read, tenantId, serviceId)
    },

    async create(tenantId: string, name: string, actor: Actor): Promise<Machine> {
      const serviceId = `svc_${randomBytes(ID_BYTES).toString('hex')}`
      await alter(tenantId, actor, 'service.created', async ({ queries, nowMs }) => {
        if ((await servicesOf(queries, tenantId)).length >= LIMITS.servicesPerTenantMax)
          throw new Refusal('services_full')
        const times = { createdAt: nowMs, identityAt: nowMs, seenAt: null }
        const row = { serviceId, tenantId, name, isDisabled: false, seenIp: null, ...times }
        await insertService(queries, row)
        await requireRoom(queries, tenantId)
        return { service_id: serviceId, name }
      })
      return requireOne(store.read, tenantId, serviceId)
    },

    /** The secret itself is nowhere else, then or later. */
    async addSecret(
      tenantId: string,
      serviceId: string,
      seconds: number,
      actor: Actor,
    ): Promise<MachineSecret & { readonly secret: string }> {
      const secret = `sms_${randomBytes(SECRET_BYTES).toString('base64url')}`
      const made = await add({ tenantId, serviceId }, { secret, seconds, publicKey: null }, actor)
      return { ...made, secret }
    },

    /** Beside secrets, and counted as one: tokens name it, and end with it, as they do with those. */
    async addKey(
      tenantId: string,
      serviceId: string,
      { key, seconds }: { readonly key: PublicJwk; readonly seconds: number },
      actor: Actor,
    ): Promise<MachineSecret> {
      const secret = randomBytes(SECRET_BYTES).toString('base64url') // which nobody knows
      return add({ tenantId, serviceId }, { secret, seconds, publicKey: key }, actor)
    },

    /**
     * undefined: there is no such machine. First what lives longest: the same key may have been added
     * once more, and it is worth what the later one says.
     */
    async keysOf(tenantId: string, serviceId: string): Promise<readonly MachineKey[] | undefined> {
      if ((await findService(store.read, tenantId, serviceId)) === undefined) return undefined
      const rows = await serviceSecretsOf(store.read, tenantId)
      return rows
        .filter((row) => row.serviceId === serviceId)
        .sort((a, b) => b.endsAt - a.endsAt)
        .flatMap(({ secretId, endsAt, publicKey: key }) =>
          key === null ? [] : { secretId, endsAt, key },
        )
    },

    /** Of a key that has signed: as `shown` of a secret. */
    async proven(tenantId: string, serviceId: string, secretId: string): Promise<ShownSecret> {
      const rows = await serviceSecretsOf(store.read, tenantId)
      const row = rows.find((one) => one.serviceId === serviceId && one.secretId === secretId)
      return worthOf(await findService(store.read, tenantId, serviceId), row)
    },

    /** False: this assertion has been here, at whichever control plane. */
    async isFirstUse(tenantId: string, serviceId: string, jti: string, endsAt: number) {
      const text = `${serviceId} ${jti}`
      const assertionHash = createHash('sha256').update(text).digest('base64url')
      return store.change(({ queries }) =>
        insertServiceAssertion(queries, { tenantId, assertionHash, endsAt }),
      )
    },

    async revokeSecret(tenantId: string, serviceId: string, secretId: string, actor: Actor) {
      await alter(tenantId, actor, 'service.secret_revoked', async ({ queries }) => {
        const { name, secrets } = await requireOne(queries, tenantId, serviceId)
        if (!secrets.some((one) => one.secretId === secretId))
          throw new Refusal('service_secret_not_found')
        await deleteServiceSecret(queries, tenantId, secretId)
        return { service_id: serviceId, name, secret_id: secretId }
      })
    },

    /** What is left out stays. */
    async update(
      tenantId: string,
      serviceId: string,
      { name, isDisabled }: { name?: string | undefined; isDisabled?: boolean | undefined },
      actor: Actor,
    ): Promise<Machine> {
      await alter(tenantId, actor, 'service.changed', async ({ queries }) => {
        const before = await requireOne(queries, tenantId, serviceId)
        const next = { name: name ?? before.name, isDisabled: isDisabled ?? before.isDisabled }
        if (next.name === before.name && next.isDisabled === before.isDisabled) return undefined
        await updateService(queries, tenantId, serviceId, next)
        return { service_id: serviceId, name: next.name, is_disabled: next.isDisabled }
      })
      return requireOne(store.read, tenantId, serviceId)
    },

    /** One that rules name would leave them speaking of nobody. */
    async remove(tenantId: string, serviceId: string, actor: Actor): Promise<void> {
      await alter(tenantId, actor, 'service.deleted', async ({ queries }) => {
        const { name, isNamed } = await requireOne(queries, tenantId, serviceId)
        if (isNamed) throw new Refusal('service_used')
        await deleteServiceSecretsOf(queries, tenantId, serviceId)
        await deleteServiceUsesOf(queries, tenantId, serviceId)
        await deleteService(queries, tenantId, serviceId)
        return { service_id: serviceId, name }
      })
    },

    /** One that is not there and one with another secret are the same. */
    async shown(tenantId: string, serviceId: string, text: string): Promise<ShownSecret> {
      const given = createHash('sha256').update(text).digest()
      const service = await findService(store.read, tenantId, serviceId)
      const secret = (await serviceSecretsOf(store.read, tenantId)).find(
        (one) =>
          one.serviceId === serviceId &&
          timingSafeEqual(Buffer.from(one.secretHash, 'base64url'), given),
      )
      return worthOf(service, secret)
    },

    /** It comes every ten minutes at most, and is told now and then. */
    async tokenGiven(use: Omit<MachineUse, 'atMs' | 'requests'>): Promise<void> {
      const nowMs = clock.nowMs()
      const toldMs = told.get(use.secretId) ?? -Infinity
      if (nowMs - toldMs < LIMITS.serviceUseToldSeconds * SECOND_MS) return
      told.set(use.secretId, nowMs)
      await store.change(({ queries }) =>
        noteMachineUse(queries, { ...use, atMs: nowMs, requests: 0 }),
      )
    },

    /** What gateways report, many at a time; no gateway has to hear of it. */
    async used(reports: readonly MachineUse[]): Promise<void> {
      if (reports.length === 0) return
      const latestMs = clock.nowMs() // a gateway's clock may run ahead
      await store.change(async ({ queries }) => {
        for (const report of reports)
          await noteMachineUse(queries, { ...report, atMs: Math.min(report.atMs, latestMs) })
      })
    },

    prune: pruneWith(store, deleteServiceUsesBefore, LIMITS.serviceUsesKeptMs),
    pruneAssertions: pruneWith(store, deleteServiceAssertionsEndedBefore, 0),

    /** A secret or key that has ended by itself is in the audit trail, as one that somebody ends. */
    async noteEnded(limit: number): Promise<number> {
      if ((await serviceSecretsEndedUnnoted(store.read, clock.nowMs(), 1)).length === 0) return 0
      return store.change(async ({ queries, nowMs, auditEach }) => {
        const ended = await serviceSecretsEndedUnnoted(queries, nowMs, limit)
        await noteSecretEnds(
          queries,
          ended.map(({ secretId }) => secretId),
        )
        const ids = new Set(ended.map(({ serviceId }) => serviceId))
        const services = await servicesAmong(queries, [...ids])
        const entries = ended.flatMap(({ tenantId, serviceId, secretId, endsAt }) => {
          const service = services.get(serviceId)
          if (service?.tenantId !== tenantId) return []
          const ends_at = new Date(endsAt).toISOString()
          const content = {
            service_id: serviceId,
            name: service.name,
            secret_id: secretId,
            ends_at,
          }
          return { action: 'service.secret_ended', tenantId, content }
        })
        await auditEach(JOB, entries)
        return ended.length
      })
    },

    /** Applications are to know each for a week from now on; answers for how many that was due. */
    async renewIdentities(limit: number): Promise<number> {
      const before = clock.nowMs() - LIMITS.serviceIdentityRenewedMs
      if ((await servicesIdentifiedBefore(store.read, before, 1)).length === 0) return 0
      return store.change(async ({ queries, nowMs, touch }) => {
        const due = await servicesIdentifiedBefore(
          queries,
          nowMs - LIMITS.serviceIdentityRenewedMs,
          limit,
        )
        for (const { tenantId, serviceId } of due)
          await updateService(queries, tenantId, serviceId, { identityAt: nowMs })
        for (const tenantId of new Set(due.map((one) => one.tenantId)))
          if ((await findTenant(queries, tenantId)) !== undefined) await touch(tenantId)
        return due.length
      })
    },
  }
}
