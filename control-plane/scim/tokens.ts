/** What a provider shows when it pushes people: made for one tenant, shown once, found by its hash. */
import { randomBytes } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { findConnection } from '../store/queries/connections.ts'
import {
  deleteScimToken,
  deleteScimTokensBefore,
  findScimToken,
  insertScimToken,
  scimTokensOf,
  updateScimToken,
  type ScimTokenRow,
} from '../store/queries/scim-tokens.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Store } from '../store/store.ts'
import { found } from '../tenants/alter.ts'

export type ScimToken = Readonly<Omit<ScimTokenRow, 'tokenHash'>>

interface NewScimToken {
  readonly name: string
  readonly expiresIn: number
  readonly connectionId: string | null
}

/** Found by search engines for secrets, and told from other keys by people. */
const PREFIX = 'scim_'

export type ScimTokens = ReturnType<typeof createScimTokens>

export function createScimTokens({
  store,
  vault,
  clock,
}: {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
}) {
  const hashOf = (token: string) => vault.hash(`scim_tokens/${token}`)

  return {
    async make(tenantId: string, asked: NewScimToken, actor: Actor) {
      const token = PREFIX + randomBytes(32).toString('base64url')
      const { name, expiresIn, connectionId } = asked
      return store.change(async (change) => {
        const { queries, nowMs } = change
        found(await findTenant(queries, tenantId))
        const alive = (await scimTokensOf(queries, tenantId)).filter(isAlive(nowMs))
        if (alive.length >= LIMITS.scimTokensPerTenantMax) throw new Refusal('scim_tokens_full')
        if (
          connectionId !== null &&
          (await findConnection(queries, tenantId, connectionId)) === undefined
        )
          throw new Refusal('connection_not_found', { field: 'connection_id' })
        const made = {
          ...{ tokenId: `spt_${randomBytes(8).toString('hex')}`, tenantId, name, connectionId },
          ...{ createdAt: nowMs, expiresAt: nowMs + expiresIn * SECOND_MS, lastUsedAt: null },
        }
        await insertScimToken(queries, { ...made, tokenHash: hashOf(token) })
        const content = { token_id: made.tokenId, name, expires_in: expiresIn }
        await change.audit(actor, { action: 'scim_token.created', tenantId, content })
        return { ...made, token }
      })
    },

    /** Those that still work, the oldest first. */
    async list(tenantId: string): Promise<ScimToken[]> {
      found(await findTenant(store.read, tenantId))
      return (await scimTokensOf(store.read, tenantId))
        .filter(isAlive(clock.nowMs()))
        .map(openPartOf)
    },

    async remove(tenantId: string, tokenId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        if (!(await deleteScimToken(change.queries, tenantId, tokenId)))
          throw new Refusal('scim_token_not_found')
        const content = { token_id: tokenId }
        await change.audit(actor, { action: 'scim_token.deleted', tenantId, content })
      })
    },

    /** undefined: none of this tenant, or it has expired. That it was used is noted now and then. */
    async find(tenantId: string, token: string): Promise<ScimToken | undefined> {
      const row = await findScimToken(store.read, tenantId, hashOf(token))
      const nowMs = clock.nowMs()
      if (row === undefined || !isAlive(nowMs)(row)) return undefined
      if (nowMs - (row.lastUsedAt ?? 0) >= LIMITS.scimTokenUsedEveryMs)
        await store.changeOf(tenantId, async ({ queries }) => {
          await updateScimToken(queries, row.tokenId, { lastUsedAt: nowMs })
        })
      return openPartOf(row)
    },

    prune: pruneWith(store, deleteScimTokensBefore, 0),
  }
}

const isAlive =
  (nowMs: number) =>
  ({ expiresAt }: Pick<ScimTokenRow, 'expiresAt'>) =>
    expiresAt > nowMs

function openPartOf({ tokenHash: _hash, ...open }: ScimTokenRow): ScimToken {
  return open
}
