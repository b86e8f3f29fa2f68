/**
 * Other applications that sign people in by a tenant's realm: its clients beside the tenant's own. An
 * administrator registers each, with exact addresses; nobody registers one by themselves.
 */
import { createHash, randomBytes } from 'node:crypto'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { isSameSecret } from '../../keys/vault.ts'
import {
  deleteClientSessionsBefore,
  deleteRealmClient,
  findRealmClient,
  insertRealmClient,
  realmClientsOf,
  type RealmClientRow,
} from '../../store/queries/realm-clients.ts'
import { findTenant, requireTenant } from '../../store/queries/tenants.ts'
import { pruneWith } from '../../store/statements.ts'
import type { Actor, Store } from '../../store/store.ts'

/** Without what shows who it is. */
export type RealmClient = Readonly<Omit<RealmClientRow, 'secretHash'>>

type NewRealmClient = Readonly<
  Pick<
    RealmClientRow,
    'name' | 'redirectUris' | 'postLogoutRedirectUris' | 'backchannelLogoutUri' | 'isToldGroups'
  >
>

export type RealmClients = ReturnType<typeof createRealmClients>

export const isRealmClientId = (text: string): boolean => /^cli_[0-9a-f]{32}$/.test(text)

export function createRealmClients({ store }: { readonly store: Store }) {
  return {
    /** The oldest first. */
    async list(tenantId: string): Promise<readonly RealmClient[]> {
      if ((await findTenant(store.read, tenantId)) === undefined)
        throw new Refusal('tenant_not_found')
      return (await realmClientsOf(store.read, tenantId)).map(openPartOf)
    },

    async get(tenantId: string, clientId: string): Promise<RealmClient> {
      const row = await findRealmClient(store.read, tenantId, clientId)
      if (row === undefined) throw new Refusal('client_not_found')
      return openPartOf(row)
    },

    /** Its secret is nowhere else, then or later. */
    async create(
      tenantId: string,
      wished: NewRealmClient,
      actor: Actor,
    ): Promise<RealmClient & { readonly clientSecret: string }> {
      const clientId = `cli_${randomBytes(16).toString('hex')}`
      const clientSecret = randomBytes(32).toString('base64url')
      return store.change(async (change) => {
        const { queries, nowMs } = change
        await requireTenant(queries, tenantId)
        if ((await realmClientsOf(queries, tenantId)).length >= LIMITS.realmClientsPerTenantMax)
          throw new Refusal('clients_full')
        const row = { ...wished, clientId, tenantId, createdAt: nowMs }
        await insertRealmClient(queries, { ...row, secretHash: hashOf(clientSecret) })
        const content = { client_id: clientId, name: wished.name }
        await change.audit(actor, { action: 'client.created', tenantId, content })
        return { ...row, clientSecret }
      })
    },

    /** Nobody signs in by it any more, and its tokens open nothing here. */
    async remove(tenantId: string, clientId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const row = await findRealmClient(change.queries, tenantId, clientId)
        if (row === undefined) throw new Refusal('client_not_found')
        await deleteRealmClient(change.queries, tenantId, clientId)
        const content = { client_id: clientId, name: row.name }
        await change.audit(actor, { action: 'client.removed', tenantId, content })
      })
    },

    /** undefined: the tenant has no such client. */
    async find(tenantId: string, clientId: string): Promise<RealmClient | undefined> {
      if (!isRealmClientId(clientId)) return undefined
      const row = await findRealmClient(store.read, tenantId, clientId)
      return row && openPartOf(row)
    },

    async isSecret(tenantId: string, clientId: string, shown: string): Promise<boolean> {
      const row = await findRealmClient(store.read, tenantId, clientId)
      return row !== undefined && isSameSecret(hashOf(shown), row.secretHash)
    },

    prune: pruneWith(store, deleteClientSessionsBefore, 0),
  }
}

const hashOf = (secret: string) => createHash('sha256').update(secret).digest('base64url')

function openPartOf({ secretHash: _kept, ...open }: RealmClientRow): RealmClient {
  return open
}
