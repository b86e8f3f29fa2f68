/**
 * Programs beside applications without an open port. Each joins once with a token and is known by
 * the keys that it makes itself; who they are is in the tenant's snapshot, so gateways let them in
 * without asking us (.docs/decisions/0046-how-a-connector-joins.md).
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { importConnectorKey } from '../../shared/connector/handshake.ts'
import { isRequestSignedBy } from '../../shared/connector/requests.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import type { Vault } from '../keys/vault.ts'
import {
  connectorKeysOf,
  connectorsOf,
  deleteConnector,
  deleteConnectorKey,
  findConnector,
  insertConnector,
  insertConnectorKey,
  updateConnector,
  updateConnectorKey,
  type ConnectorKeyRow,
} from '../store/queries/connectors.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { found } from '../tenants/alter.ts'
import { requireRoom } from '../tenants/published-size.ts'
import type { Authority } from './authority.ts'
import { createChallenges } from './challenges.ts'
import { statusOf, type ConnectorStatus } from './connector-status.ts'
import type { GatewayDoors } from './gateway-doors.ts'
import { requireConnectorMode, type JoinToken, type JoinTokens } from './join-tokens.ts'
import type { ConnectorPresence } from './presence.ts'
import type { TellOfConnector } from './presence-events.ts'

interface Joining {
  readonly publicKey: string
  readonly name: string
  readonly program: string
  readonly requestId: string
}

interface Signed {
  readonly connectorId: string
  readonly keyId: string
  readonly challenge: string
  readonly signature: string
  readonly nextPublicKey?: string | undefined
  readonly authority?: string | undefined
  readonly requestId: string
}

interface ConnectorsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly joinTokens: JoinTokens
  readonly authority: Authority
  readonly gatewayDoors: Pick<GatewayDoors, 'list'>
  readonly presence: Pick<ConnectorPresence, 'of' | 'uncounted'>
  readonly tell: TellOfConnector
}

export type Connectors = ReturnType<typeof createConnectors>

export function createConnectors(world: ConnectorsWorld) {
  const { store, clock, joinTokens, authority, gatewayDoors, presence, tell } = world
  const challenges = createChallenges(world)
  const rates = createRateLimits(clock)

  /** For whom the token is, if somebody may join with it. */
  async function requireToken(queries: Queries, token: string, publicKey: string, nowMs: number) {
    const row = await joinTokens.find(queries, token, nowMs)
    if (row === undefined) throw new Refusal('connector_token_invalid')
    if ((await findTenant(queries, row.tenantId))?.mode !== 'connector')
      throw new Refusal('connector_token_invalid')
    const joined = await joinedBefore(queries, row, publicKey)
    if (joined === undefined && row.usesLeft === 0) throw new Refusal('connector_token_invalid')
    return { row, joined }
  }

  /** One whose answer was lost asks again with the same key, and costs the token nothing. */
  async function joinedBefore(queries: Queries, token: JoinToken, publicKey: string) {
    for (const { connectorId, tokenId } of await connectorsOf(queries, token.tenantId)) {
      if (tokenId !== token.tokenId) continue
      const keys = await connectorKeysOf(queries, connectorId)
      const key = keys.find((one) => one.publicKey === publicKey)
      if (key !== undefined) return key
    }
    return undefined
  }

  async function admit(change: Change, token: JoinToken, joining: Joining) {
    const { queries, nowMs } = change
    const { tenantId, tokenId } = token
    const { publicKey, name, program } = joining
    if ((await connectorsOf(queries, tenantId)).length >= LIMITS.connectorsPerTenantMax)
      throw new Refusal('connectors_full')
    const connectorId = `con_${randomBytes(8).toString('hex')}`
    const times = { joinedAt: nowMs, seenAt: nowMs }
    await joinTokens.spend(change, token)
    const told = { presence: 'disconnected', presenceAt: null, requests: 0, authority: '' }
    await insertConnector(queries, {
      ...{ connectorId, tenantId, tokenId, name, program },
      ...times,
      ...told,
    })
    const key = { ...newKey(nowMs, publicKey), tenantId, connectorId, isNext: false }
    await insertConnectorKey(queries, key)
    await requireRoom(queries, tenantId)
    await change.touch(tenantId)
    const content = { connector_id: connectorId, name, program, token_id: tokenId }
    const actor = actorOf(connectorId, joining.requestId)
    await change.audit(actor, { action: 'connector.joined', tenantId, content })
    await tell(change, { tenantId, connectorId, name }, 'connector_joined')
    return key
  }

  /** Who is unknown, who was revoked and who signs with another key are told the same. */
  async function requireSigned(queries: Queries, kind: 'state' | 'leave', asked: Signed) {
    const { connectorId, keyId, challenge, nextPublicKey, authority: theirs, signature } = asked
    const connector = await findConnector(queries, connectorId)
    const keys = await connectorKeysOf(queries, connectorId)
    const key = keys.find((one) => one.keyId === keyId)
    const tenant = connector && (await findTenant(queries, connector.tenantId))
    const isOurs = challenges.isGood(challenge, connectorId)
    if (connector === undefined || key === undefined || tenant?.mode !== 'connector' || !isOurs)
      throw new Refusal('connector_refused')
    const request = { kind, challenge, connectorId, keyId, nextPublicKey, authority: theirs }
    if (!isRequestSignedBy(request, signature, importConnectorKey(key.publicKey)))
      throw new Refusal('connector_refused')
    return { connector, key, keys }
  }

  /** The key that it signs with is the one that counts; another one may come to be beside it. */
  async function moveOn(change: Change, asked: Signed): Promise<string | undefined> {
    const { queries, nowMs } = change
    const { connector, key, keys } = await requireSigned(queries, 'state', asked)
    const { connectorId, tenantId } = connector
    const { nextPublicKey: publicKey } = asked
    const { authority: confirmed = connector.authority } = asked
    await updateConnector(queries, connectorId, { seenAt: nowMs, authority: confirmed })
    const told = (keyId: string) => ({
      tenantId,
      content: { connector_id: connectorId, key_id: keyId, name: connector.name },
    })
    const actor = actorOf(connectorId, asked.requestId)
    if (key.isNext) {
      for (const other of keys)
        if (other.keyId !== key.keyId) await deleteConnectorKey(queries, other.keyId)
      await updateConnectorKey(queries, key.keyId, { isNext: false })
      await change.touch(tenantId)
      await change.audit(actor, { action: 'connector.key_replaced', ...told(key.keyId) })
    }
    if (publicKey === undefined) return undefined
    const left = key.isNext ? [key] : keys
    const known = left.find((one) => one.publicKey === publicKey)
    if (known !== undefined) return known.keyId
    for (const other of left)
      if (other.keyId !== key.keyId) await deleteConnectorKey(queries, other.keyId)
    const next = { ...newKey(nowMs, publicKey), tenantId, connectorId, isNext: true }
    await insertConnectorKey(queries, next)
    await change.touch(tenantId)
    await change.audit(actor, { action: 'connector.key_added', ...told(next.keyId) })
    return next.keyId
  }

  async function documentFor(tenantId: string, connectorId: string) {
    const listed = await gatewayDoors.list(connectorId)
    return authority.sign({ tenant_id: tenantId, connector_id: connectorId, ...listed })
  }

  async function remove(change: Change, actor: Actor, how: 'left' | 'revoked', ids: Ids) {
    const { tenantId, connectorId } = ids
    const gone = await deleteConnector(change.queries, tenantId, connectorId)
    if (gone === undefined) throw new Refusal('connector_not_found')
    await change.touch(tenantId)
    const content = { connector_id: connectorId, name: gone.name }
    await change.audit(actor, { action: `connector.${how}`, tenantId, content })
    await tell(change, { tenantId, connectorId, name: gone.name }, `connector_${how}`)
  }

  return {
    challenge: (connectorId: string): string => challenges.make(connectorId),

    /** Nothing is written, and nobody waits, for a token that is none. */
    async join(token: string, joining: Joining) {
      const { publicKey } = joining
      await requireToken(store.read, token, publicKey, clock.nowMs())
      const { tenantId, connectorId, keyId } = await store.change(async (change) => {
        const { row, joined } = await requireToken(change.queries, token, publicKey, change.nowMs)
        return joined ?? admit(change, row, joining)
      })
      const { document, signer } = await documentFor(tenantId, connectorId)
      return { tenantId, connectorId, keyId, document, authority: signer }
    },

    /** Which gateways there are; `nextKeyId` of a rotation. Written is only what is new. */
    async state(asked: Signed) {
      const { connector, key } = await requireSigned(store.read, 'state', asked)
      const { tenantId, connectorId, seenAt } = connector
      // each new key is two entries of the audit trail, and another state for all gateways
      rates.take('of a connector', connectorId, LIMITS.rateConnectorOwn)
      const isOld = clock.nowMs() - seenAt >= LIMITS.connectorSeenEveryMs
      const { authority: confirmed = connector.authority } = asked
      const isNews = asked.nextPublicKey !== undefined || confirmed !== connector.authority
      const isWritten = isOld || key.isNext || isNews
      const nextKeyId = isWritten
        ? await store.change((change) => moveOn(change, asked))
        : undefined
      return { ...(await documentFor(tenantId, connectorId)), nextKeyId }
    },

    async leave(asked: Signed): Promise<void> {
      await requireSigned(store.read, 'leave', asked)
      await store.change(async (change) => {
        const { connector } = await requireSigned(change.queries, 'leave', asked)
        const actor = actorOf(connector.connectorId, asked.requestId)
        await remove(change, actor, 'left', connector)
      })
    },

    /** The first to join comes first. */
    async list(tenantId: string): Promise<ConnectorStatus[]> {
      await requireConnectorMode(store.read, tenantId)
      const rows = await connectorsOf(store.read, tenantId)
      const here = Map.groupBy(presence.of(tenantId), ({ connectorId }) => connectorId)
      const nowMs = clock.nowMs()
      return rows.map((row) => {
        const { connectorId } = row
        const uncounted = presence.uncounted(connectorId)
        return statusOf(row, here.get(connectorId) ?? [], { nowMs, uncounted })
      })
    },

    /** Its connections end as soon as the gateways hear of it. Whatever mode the tenant is in by now. */
    async revoke(tenantId: string, connectorId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        await remove(change, actor, 'revoked', { tenantId, connectorId })
      })
    },
  }
}

type Ids = Pick<ConnectorKeyRow, 'tenantId' | 'connectorId'>

const newKey = (createdAt: number, publicKey: string) => ({
  keyId: `cok_${randomBytes(8).toString('hex')}`,
  publicKey,
  createdAt,
})

const actorOf = (connectorId: string, requestId: string): Actor => ({
  name: `connector:${connectorId}`,
  requestId,
})
