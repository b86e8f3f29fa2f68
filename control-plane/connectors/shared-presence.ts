/**
 * Which connectors are at the gateways of other control planes on the same database. Each writes
 * down what its own gateways tell it, a row for a tenant at a gateway, and reads what the others
 * wrote; a row of the gateway itself is renewed with it, and says who tells of it. A gateway that
 * has gone to another control plane is that one's, as soon as it has said more there.
 */
import { randomUUID } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { ConnectorHere } from '../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deletePresenceBefore,
  deletePresenceOf,
  OF_GATEWAY,
  presenceOfGateway,
  presenceSince,
  upsertPresence,
  type PresenceRow,
} from '../store/queries/connector-presence.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'
import type { ConnectorPresence } from './presence.ts'

interface Own {
  heardMs: number
  writtenMs: number
  /** Tenants of which there is something to write. */
  dirty: Set<string>
  /** Nothing that is written of it counts any more. */
  isNew: boolean
}

/** What stands in the row of a gateway. */
interface Told {
  readonly nodeId: string
  readonly sinceMs: number
}

/** As often as gateways renew what they have said. */
const RENEW_MS = 5 * SECOND_MS
/** A change may take so long from its time to its commit. */
const LATE_MS = 10 * SECOND_MS

export function createSharedPresence({
  store,
  clock,
  presence,
}: {
  readonly store: Store
  readonly clock: Clock
  readonly presence: Pick<ConnectorPresence, 'onReceive' | 'at' | 'put' | 'forgetOld'>
}) {
  const nodeId = randomUUID()
  const own = new Map<string, Own>()
  /** Of others: when each was told anew, and the time of each row that was read. */
  const toldSinceMs = new Map<string, number>()
  const readMs = new Map<string, number>()
  let newestMs = 0

  presence.onReceive((gatewayId, { is_full: isFull, here, gone }) => {
    const before = own.get(gatewayId)
    const one = before ?? { heardMs: 0, writtenMs: 0, dirty: new Set(), isNew: true }
    own.set(gatewayId, one)
    one.heardMs = clock.nowMs()
    one.isNew ||= isFull
    for (const { tenant_id: tenantId } of [...here, ...gone]) one.dirty.add(tenantId)
  })

  async function write(): Promise<void> {
    for (const [gatewayId, one] of own) {
      const nowMs = clock.nowMs()
      if (nowMs - one.heardMs >= LIMITS.connectorPresenceMs) {
        own.delete(gatewayId) // it is quiet, or elsewhere
        continue
      }
      const isRenewal = one.heardMs > one.writtenMs && nowMs - one.writtenMs >= RENEW_MS
      if (one.isNew || one.dirty.size > 0 || isRenewal) await writeOne(gatewayId, one)
    }
  }

  async function writeOne(gatewayId: string, one: Own): Promise<void> {
    const { dirty, isNew } = one
    Object.assign(one, { dirty: new Set(), isNew: false })
    try {
      await store.change(async ({ queries, nowMs: at }) => {
        const byTenant = Map.groupBy(presence.at(gatewayId), ({ tenantId }) => tenantId)
        if (isNew) await deletePresenceOf(queries, gatewayId)
        const sinceMs = isNew ? at : (toldSinceMs.get(gatewayId) ?? at)
        toldSinceMs.set(gatewayId, sinceMs)
        const told: Told = { nodeId, sinceMs }
        const rows = [...(isNew ? byTenant.keys() : dirty)].map((tenantId) => ({
          ...{ gatewayId, tenantId, at },
          content: byTenant.get(tenantId) ?? [],
        }))
        await upsertPresence(queries, [
          ...rows,
          { gatewayId, tenantId: OF_GATEWAY, at, content: told },
        ])
        one.writtenMs = at
      })
    } catch (error) {
      for (const tenantId of dirty) one.dirty.add(tenantId)
      one.isNew ||= isNew
      throw error
    }
  }

  async function read(): Promise<void> {
    const rows = await presenceSince(store.read, newestMs - LATE_MS)
    const ofGateways = rows.filter(({ tenantId }) => tenantId === OF_GATEWAY)
    for (const { gatewayId, content, at } of ofGateways) {
      const told = content as Told
      if (told.nodeId === nodeId || at <= (own.get(gatewayId)?.heardMs ?? 0)) continue
      own.delete(gatewayId)
      const isAnew = toldSinceMs.get(gatewayId) !== told.sinceMs
      toldSinceMs.set(gatewayId, told.sinceMs)
      const all = isAnew ? await presenceOfGateway(store.read, gatewayId) : []
      presence.put(gatewayId, at, contentOf(all), isAnew)
    }
    for (const row of rows) {
      newestMs = Math.max(newestMs, row.at)
      const key = `${row.gatewayId} ${row.tenantId}`
      const isNews = row.tenantId !== OF_GATEWAY && readMs.get(key) !== row.at
      if (!isNews || own.has(row.gatewayId)) continue
      readMs.set(key, row.at)
      presence.put(row.gatewayId, row.at, contentOf([row]), false)
    }
  }

  return {
    async run(): Promise<void> {
      presence.forgetOld()
      await write()
      await read()
    },
    prune: pruneWith(store, deletePresenceBefore, LIMITS.connectorGatewayKeptMs),
  }
}

const contentOf = (rows: readonly PresenceRow[]) =>
  new Map(
    rows
      .filter(({ tenantId }) => tenantId !== OF_GATEWAY)
      .map(({ tenantId, content }) => [tenantId, content as readonly ConnectorHere[]]),
  )
