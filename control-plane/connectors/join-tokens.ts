/** What a connector joins with: shown once, found by its hash, good for so many uses and a while. */
import { randomBytes } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import {
  connectorTokensOf,
  deleteConnectorToken,
  deleteConnectorTokensBefore,
  findConnectorToken,
  insertConnectorToken,
  updateConnectorToken,
  type ConnectorTokenRow,
} from '../store/queries/connectors.ts'
import { findTenant, type Tenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { found } from '../tenants/alter.ts'

export type JoinToken = Readonly<Omit<ConnectorTokenRow, 'tokenHash' | 'madeBy'>>

interface NewJoinToken {
  readonly name: string
  readonly uses: number
  readonly expiresIn: number
}

/** Found by search engines for secrets, and told from other keys by people. */
const PREFIX = 'sct_'

export type JoinTokens = ReturnType<typeof createJoinTokens>

export function createJoinTokens(world: { store: Store; vault: Vault; clock: Clock }) {
  const { store, vault, clock } = world
  const hashOf = (token: string) => vault.hash(`connector_tokens/${token}`)
  const isLive = ({ expiresAt }: JoinToken, nowMs: number) => expiresAt > nowMs

  return {
    async make(tenantId: string, asked: NewJoinToken, actor: Actor) {
      const token = PREFIX + randomBytes(32).toString('base64url')
      const tokenId = `cjt_${randomBytes(8).toString('hex')}`
      const { name, uses, expiresIn } = asked
      return store.change(async (change) => {
        const { queries, nowMs } = change
        await requireConnectorMode(queries, tenantId)
        const all = await connectorTokensOf(queries, tenantId)
        if (all.filter(isUsable(nowMs)).length >= LIMITS.connectorTokensPerTenantMax)
          throw new Refusal('connector_tokens_full')
        const expiresAt = nowMs + expiresIn * SECOND_MS
        const made = { tokenId, tenantId, name, uses, usesLeft: uses, createdAt: nowMs, expiresAt }
        const kept = { ...made, tokenHash: hashOf(token), madeBy: actor.id ?? '' }
        await insertConnectorToken(queries, kept)
        const content = { token_id: tokenId, name, uses, expires_in: expiresIn }
        await change.audit(actor, { action: 'connector_token.created', tenantId, content })
        return { ...made, token }
      })
    },

    /** Those that are good for something still, the oldest first. */
    async list(tenantId: string): Promise<JoinToken[]> {
      await requireConnectorMode(store.read, tenantId)
      return (await connectorTokensOf(store.read, tenantId)).filter(isUsable(clock.nowMs()))
    },

    async remove(tenantId: string, tokenId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        if (!(await deleteConnectorToken(change.queries, tenantId, tokenId)))
          throw new Refusal('connector_token_not_found')
        const content = { token_id: tokenId }
        await change.audit(actor, { action: 'connector_token.deleted', tenantId, content })
      })
    },

    /** Used up or not: undefined for one that never was, or has expired. */
    async find(queries: Queries, token: string, nowMs: number): Promise<JoinToken | undefined> {
      const row = await findConnectorToken(queries, hashOf(token))
      return row !== undefined && isLive(row, nowMs) ? row : undefined
    },

    spend: ({ queries }: Change, { tokenId, usesLeft }: JoinToken) =>
      updateConnectorToken(queries, tokenId, { usesLeft: usesLeft - 1 }),

    prune: pruneWith(store, deleteConnectorTokensBefore, 0),
  }
}

const isUsable =
  (nowMs: number) =>
  ({ usesLeft, expiresAt }: JoinToken) =>
    usesLeft > 0 && expiresAt > nowMs

export async function requireConnectorMode(queries: Queries, tenantId: string): Promise<Tenant> {
  const tenant = found(await findTenant(queries, tenantId))
  if (tenant.mode !== 'connector') throw new Refusal('mode_not_connector')
  return tenant
}
