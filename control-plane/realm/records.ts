/**
 * The provider's models in our store. Their ids are bearer secrets (codes, tokens, cookies), so
 * only hashes are kept; their payloads are sealed under the realm, model and record they belong
 * to, so that a row moved to another realm does not open.
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import type { Adapter, AdapterPayload, KoaContextWithOIDC } from 'oidc-provider'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { countedAs } from '../../shared/client-address.ts'
import { LIMITS } from '../../shared/limits.ts'
import { addressOf } from '../listener/client-address.ts'
import type { Vault } from '../keys/vault.ts'
import type { RealmRecord, RecordKey } from '../store/queries/realm-records.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import {
  consumeRecord,
  deleteSurplusOfAccount,
  deleteSurplusOfSite,
  deleteSurplusOpen,
  deleteRecord,
  deleteRecordsOfGrant,
  findRecord,
  findRecordByUid,
  openedByPerson,
  retireRecord,
  upsertRecord,
  upsertSignIn,
} from '../store/queries/realm-records.ts'
import type { Queries } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import { SIGN_IN_SECONDS } from './configuration.ts'
import { errors, Provider } from './oidc.ts'
import { ownerOf } from './sign-in/attempt-state.ts'

/** How long a finished sign-in is remembered, for the back button and the second click. */
export const FINISHED_MS = 30 * MINUTE_MS

interface SignInRecord {
  readonly payload: AdapterPayload
  readonly isFinished: boolean
}

interface RealmRecordsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly tenantId: string
  /** Beside the application, which is configured. */
  readonly otherClients?: Pick<Adapter, 'find'>
  /** A code came a second time: these sessions were made from it (RFC 6749, section 4.1.2). */
  readonly onCodeReused: (sids: readonly string[]) => Promise<void>
  /** Who has signed in with the browser of a request before, as far as that can be told. */
  readonly personAt?: (ctx: KoaContextWithOIDC) => Promise<string | undefined>
  readonly openLimits?: OpenLimits
}

interface Opened {
  readonly record: RealmRecord
  readonly most: number
}

interface Batch {
  readonly opened: Opened[]
  isBegun: boolean
  readonly committed: Promise<void>
}

/** Sign-ins that nobody has answered yet. */
interface OpenLimits {
  readonly perAddressMax: number
  readonly perSiteMax: number
  /** What their browsers have open, and as many again that they have answered. */
  readonly perPersonMax: number
  readonly perTenantMax: number
  readonly tenantEvery: number
}

/** All of a tenant's are counted now and then, since that reads them all. */
const OPEN_LIMITS: OpenLimits = {
  perAddressMax: LIMITS.openSignInsPerAddressMax,
  perSiteMax: LIMITS.openSignInsPerSiteMax,
  perPersonMax: LIMITS.signInsPerPersonMax,
  perTenantMax: LIMITS.openSignInsPerTenantMax,
  tenantEvery: 64,
}

export type RealmRecords = ReturnType<typeof createRealmRecords>

export function createRealmRecords(world: RealmRecordsWorld) {
  const { store, vault, clock, tenantId, openLimits = OPEN_LIMITS } = world
  const { realmRecordsPerPersonMax: recordsPerPersonMax } = LIMITS
  const { perAddressMax, perSiteMax, perPersonMax, perTenantMax, tenantEvery } = openLimits
  let unlooked = 0
  let batch: Batch | undefined

  const hashOf = (kind: string, id: string) => vault.hash(`realm_records/${tenantId}/${kind}/${id}`)
  const keyOf = (model: string, id: string): RecordKey => {
    return { tenantId, model, idHash: hashOf(model, id) }
  }

  function sealed(key: RecordKey, payload: AdapterPayload, expiresAt: number): RealmRecord {
    return {
      ...key,
      payloadSealed: vault.seal(JSON.stringify(payload), PURPOSES.realmRecord(key)),
      grantId: payload.grantId ?? (key.model === 'Grant' ? (payload.jti ?? null) : null),
      uidHash: payload.uid === undefined ? null : hashOf('uid', payload.uid),
      accountId: payload.accountId ?? ownerOf(payload) ?? null,
      sid: sidOf(payload),
      openedBy: null,
      consumedAt: null,
      expiresAt,
    }
  }

  function opened(record: RealmRecord): AdapterPayload {
    const payload = JSON.parse(
      vault.open(record.payloadSealed, PURPOSES.realmRecord(record)),
    ) as AdapterPayload
    if (record.consumedAt === null) return payload
    return { ...payload, consumed: Math.floor(record.consumedAt / SECOND_MS) }
  }

  async function revokeGrant(grantId: string) {
    const gone = await store.changeOf(tenantId, ({ queries }) =>
      deleteRecordsOfGrant(queries, tenantId, grantId),
    )
    const sids = new Set(gone.flatMap((record) => record.sid ?? []))
    if (sids.size > 0) await world.onCodeReused([...sids])
  }

  function adapter(model: string): Adapter {
    return {
      async upsert(id, payload, expiresInSeconds) {
        if (expiresInSeconds === undefined) throw new Error(`a ${model} must not live for ever`)
        const expiresAt = clock.nowMs() + expiresInSeconds * SECOND_MS
        const record = sealed(keyOf(model, id), payload, expiresAt)
        if (model === 'Interaction') return openSignIn(record)
        await store.changeOf(tenantId, async ({ queries }) => {
          await requireTenant(queries, tenantId)
          await upsertRecord(queries, record)
          if (model !== 'Grant') return // of which each sign-in makes one
          for (const model of ['Grant', 'Session'])
            await deleteSurplusOfAccount(queries, { ...record, model }, recordsPerPersonMax)
        })
      },

      async find(id) {
        if (model === 'Client') return world.otherClients?.find(id)
        const record = await findRecord(store.read, keyOf(model, id), clock.nowMs())
        if (record === undefined) return undefined
        if (model === 'Interaction' && record.consumedAt !== null) return undefined
        return opened(record)
      },

      async findByUid(uid) {
        const key = { tenantId, model, uidHash: hashOf('uid', uid) }
        const record = await findRecordByUid(store.read, key, clock.nowMs())
        return record && opened(record)
      },

      findByUserCode: () => Promise.resolve(undefined), // the device flow is off

      /**
       * The provider looks whether a code was used and then marks it, so of many who come at
       * once all would pass: one row update decides who was first (compare CVE-2023-26481).
       */
      async consume(id) {
        const key = keyOf(model, id)
        const first = await store.changeOf(tenantId, ({ queries, nowMs }) =>
          consumeRecord(queries, key, nowMs),
        )
        if (first !== undefined) return
        const used = await findRecord(store.read, key, clock.nowMs())
        if (used?.grantId) await revokeGrant(used.grantId)
        throw new errors.InvalidGrant('authorization code already consumed')
      },

      async destroy(id) {
        const key = keyOf(model, id)
        await store.changeOf(tenantId, ({ queries, nowMs }) =>
          model === 'Interaction'
            ? retireRecord(queries, key, nowMs, nowMs + FINISHED_MS)
            : deleteRecord(queries, key),
        )
      },

      revokeByGrantId: revokeGrant,
    }
  }

  /**
   * Anybody can begin one: each address has so many open, and then its oldest goes. Many share an
   * address, so who has signed in with this browser before counts alone, and no flood of a
   * neighbor throws out their page.
   */
  async function openSignIn(opened: RealmRecord) {
    const { ctx } = Provider // it saves in the middle of a request, and hands on nothing of it
    const userId = ctx && (await world.personAt?.(ctx))
    const address = ctx === undefined ? null : countedAs(addressOf(ctx.req))
    const most = userId === undefined ? perAddressMax : perPersonMax
    const record = { ...opened, openedBy: userId === undefined ? address : openedByPerson(userId) }
    await commitOpened({ record, most })
  }

  /**
   * All that come while the writer is busy share one commit, which costs as much as all else: as
   * many as are worked on at once (`strangersAtOnceMax`).
   */
  function commitOpened(opened: Opened): Promise<void> {
    if (batch?.isBegun === false) {
      batch.opened.push(opened)
      return batch.committed
    }
    const own = { opened: [opened], isBegun: false }
    const committed = store
      .changeOf(tenantId, async ({ queries }) => {
        own.isBegun = true
        await requireTenant(queries, tenantId)
        for (const { record, most } of own.opened) {
          await upsertRecord(queries, record)
          if (record.openedBy !== null) await deleteSurplusOpen(queries, record, most)
          await deleteSurplusOfSite(queries, record, perSiteMax)
          // the first as well: a realm is built anew with every change, and so are its counts
          if (unlooked === 0)
            await deleteSurplusOpen(queries, { ...record, openedBy: null }, perTenantMax)
          unlooked = (unlooked + 1) % tenantEvery
        }
      })
      .finally(() => {
        own.isBegun = true // also where the store has refused to begin
      })
    batch = Object.assign(own, { committed })
    return committed
  }

  async function signInIn(queries: Queries, uid: string): Promise<SignInRecord | undefined> {
    const record = await findRecord(queries, keyOf('Interaction', uid), clock.nowMs())
    if (record === undefined) return undefined
    return { payload: opened(record), isFinished: record.consumedAt !== null }
  }

  return {
    /** What the provider calls an adapter, one per model. */
    adapter,
    /** A sign-in that is under way, or that was finished a short while ago. */
    signIn: (uid: string) => signInIn(store.read, uid),
    /** The same inside of a change, which nobody else's can come between. */
    signInIn,
    /** As one that is under way, for as long as a new one. */
    async saveSignIn(queries: Queries, uid: string, payload: AdapterPayload): Promise<void> {
      const nowMs = clock.nowMs()
      const exp = Math.floor(nowMs / SECOND_MS) + SIGN_IN_SECONDS
      const key = keyOf('Interaction', uid)
      const expiresAt = nowMs + SIGN_IN_SECONDS * SECOND_MS
      const record = sealed(key, { ...payload, consumed: undefined, exp }, expiresAt)
      await upsertSignIn(queries, record)
      await deleteSurplusOfAccount(queries, record, perPersonMax)
    },
  }
}

/** Codes and tokens name their session; the provider's session names it per client. */
function sidOf(payload: AdapterPayload): string | null {
  if (payload.sid !== undefined) return payload.sid
  const [authorization] = Object.values(payload.authorizations ?? {})
  return authorization?.sid ?? null
}
