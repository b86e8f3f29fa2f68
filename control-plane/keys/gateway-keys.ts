/**
 * A key per gateway, shown once and kept as a hash: it stands for one gateway id and no other, and
 * is revoked alone. A gateway has two of them while one replaces the other, so that it is never
 * without (.docs/decisions/0029-a-key-per-gateway.md).
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteGatewayKey,
  deleteKeylessGateway,
  deleteKeylessGatewaysBefore,
  findGatewayKey,
  gatewayKeysOf,
  insertGatewayKey,
  keylessGatewaysSince,
  updateGatewayKey,
  upsertKeylessGateways,
  type GatewayKeyRow,
} from '../store/queries/gateway-keys.ts'
import type { Enforced } from '../store/enforced.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import type { TicketSecret } from './ticket-secret.ts'
import type { Vault } from './vault.ts'

export type GatewayKey = Readonly<Omit<GatewayKeyRow, 'keyHash'>>

export interface MadeGatewayKey extends GatewayKey {
  readonly key: string
}

interface GatewayKeysWorld {
  readonly store: Store
  readonly clock: Clock
  readonly vault: Pick<Vault, 'hash'>
  readonly tickets: Pick<TicketSecret, 'replace'>
  /** Of the fleet listener's certificate: a key says whom it may be shown to. */
  readonly fingerprint: string
  /** Called after the commit: whoever has come in with them goes out, and the others share anew. */
  readonly onRevoked: (
    keyIds: readonly string[],
    ticketSecret: string,
    gatewayId: string,
  ) => void | Promise<void>
  readonly onRemoved: (gatewayId: string) => void | Promise<void>
  /** Waits until the other gateways go by all of that. */
  readonly enforced: (gatewayId: string) => Promise<Enforced>
}

/** Found by search engines for secrets, and told from other keys by people. */
const PREFIX = 'gwk_'

export type GatewayKeys = ReturnType<typeof createGatewayKeys>

export function createGatewayKeys(world: GatewayKeysWorld) {
  const { store, clock, vault, tickets, fingerprint, onRevoked, onRemoved, enforced } = world
  const hashOf = (key: string) => vault.hash(`gateway_keys/${key}`)

  async function revoke(gatewayId: string, actor: Actor, keyId?: string) {
    const { revoked, secret } = await store.change(async (change) => {
      change.touchFleet(keyId === undefined ? gatewayId : undefined)
      const keys = await gatewayKeysOf(change.queries, gatewayId)
      const meant = keys.map((key) => key.keyId).filter((one) => (keyId ?? one) === one)
      const wasKeyless =
        keyId === undefined && (await deleteKeylessGateway(change.queries, gatewayId))
      if (meant.length === 0 && !wasKeyless) throw new Refusal('gateway_not_found')
      for (const one of meant) {
        await deleteGatewayKey(change.queries, one)
        await audit(change, actor, 'revoked', gatewayId, one)
      }
      return { revoked: meant, secret: await tickets.replace(change) }
    })
    await onRevoked(revoked, secret, gatewayId)
  }

  return {
    async make(gatewayId: string, actor: Actor): Promise<MadeGatewayKey> {
      const key = `${PREFIX}${randomBytes(32).toString('base64url')}.${fingerprint}`
      const keyId = randomBytes(6).toString('hex')
      return store.change(async (change) => {
        const { queries, nowMs } = change
        const all = await gatewayKeysOf(queries)
        const own = all.filter((one) => one.gatewayId === gatewayId)
        if (own.length >= LIMITS.gatewayKeysMax) throw new Refusal('gateway_keys_full')
        if (own.length === 0 && countGateways(all) >= LIMITS.fleetGatewaysKnownMax)
          throw new Refusal('gateways_full')
        const made = { keyId, gatewayId, createdAt: nowMs, lastUsedAt: null }
        await insertGatewayKey(queries, { ...made, keyHash: hashOf(key) })
        await audit(change, actor, 'created', gatewayId, keyId)
        return { ...made, key }
      })
    },

    find: (key: string): Promise<GatewayKey | undefined> => findGatewayKey(store.read, hashOf(key)),

    /** By gateway, the oldest first. */
    list: (): Promise<GatewayKey[]> => gatewayKeysOf(store.read),

    async hasOwn(gatewayId: string): Promise<boolean> {
      return (await gatewayKeysOf(store.read, gatewayId)).length > 0
    },

    /** False: it has been revoked meanwhile. Alone with the writer, as revoking is. */
    use: (keyId: string): Promise<boolean> =>
      store.change(({ queries, nowMs }) => updateGatewayKey(queries, keyId, { lastUsedAt: nowMs })),

    /** These are here with the key of this machine. */
    async areHereKeyless(gatewayIds: readonly string[]): Promise<void> {
      if (gatewayIds.length === 0) return
      await store.change(({ queries, nowMs }) =>
        upsertKeylessGateways(
          queries,
          gatewayIds.map((gatewayId) => ({ gatewayId, seenAt: nowMs })),
        ),
      )
    },

    /** Gateways that have been connected with a key that still counts, or lately without their own. */
    async seen(): Promise<string[]> {
      const used = (await gatewayKeysOf(store.read)).filter(({ lastUsedAt }) => lastUsedAt !== null)
      const sinceMs = clock.nowMs() - LIMITS.keylessGatewayKeptMs
      const keyless = await keylessGatewaysSince(store.read, sinceMs, LIMITS.fleetGatewaysKnownMax)
      return [...new Set([...used.map(({ gatewayId }) => gatewayId), ...keyless])]
    },

    pruneKeyless: pruneWith(store, deleteKeylessGatewaysBefore, LIMITS.keylessGatewayKeptMs),

    async revoke(gatewayId: string, keyId: string, actor: Actor): Promise<Enforced> {
      await revoke(gatewayId, actor, keyId)
      return enforced(gatewayId)
    },

    /** The gateway is no part of the fleet any more. */
    async remove(gatewayId: string, actor: Actor): Promise<Enforced> {
      await revoke(gatewayId, actor)
      await onRemoved(gatewayId)
      return enforced(gatewayId)
    },
  }
}

function countGateways(keys: readonly GatewayKey[]): number {
  return new Set(keys.map(({ gatewayId }) => gatewayId)).size
}

function audit(change: Change, actor: Actor, what: string, gatewayId: string, keyId: string) {
  const content = { gateway_id: gatewayId, key_id: keyId }
  return change.audit(actor, { action: `gateway_key.${what}`, content })
}
