/**
 * Where gateways say that they are dialled, and the one number that rises whenever their list
 * changes. Who was here within the last hour is named: a control plane that comes back before its
 * gateways must not tell connectors that there are none.
 */
import { createHash } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { GatewayList } from '../../shared/connector/requests.ts'
import type { GatewayDoor } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { eq } from '../store/drizzle.ts'
import {
  deleteGatewayDoor,
  deleteGatewayDoorsBefore,
  gatewayDoorsSince,
  updateGatewayDoor,
  upsertGatewayDoor,
} from '../store/queries/connectors.ts'
import { schema } from '../store/schema.ts'
import type { Queries } from '../store/sqlite.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'

const FACT = 'connector_gateways'

export type ListedGateways = Pick<GatewayList, 'gateways' | 'sequence'>

export type GatewayDoors = ReturnType<typeof createGatewayDoors>

export function createGatewayDoors({ store, clock }: { store: Store; clock: Clock }) {
  const forgetOld = pruneWith(store, deleteGatewayDoorsBefore, LIMITS.connectorGatewayKeptMs)

  async function gatewaysAt(queries: Queries, nowMs: number) {
    const sinceMs = nowMs - LIMITS.connectorGatewayKeptMs
    const rows = await gatewayDoorsSince(queries, sinceMs, LIMITS.connectorGatewaysMax)
    return rows.map(({ gatewayId, address, certificate }) => ({
      gateway_id: gatewayId,
      address,
      certificate,
    }))
  }

  async function listed(queries: Queries, nowMs: number) {
    const gateways = await gatewaysAt(queries, nowMs)
    const digest = createHash('sha256').update(JSON.stringify(gateways)).digest('base64url')
    const [row] = await queries.select().from(schema.facts).where(eq(schema.facts.name, FACT))
    const [sequence = '0', known] = row?.value.split(' ') ?? []
    return { gateways, digest, sequence: Number(sequence), isKnown: digest === known }
  }

  return {
    /** It has connected; without a door it is none that connectors dial. */
    async connected(gatewayId: string, door: GatewayDoor | undefined): Promise<void> {
      await store.change(async ({ queries, nowMs }) => {
        if (door === undefined) await deleteGatewayDoor(queries, gatewayId)
        else await upsertGatewayDoor(queries, { gatewayId, ...door, seenAt: nowMs })
      })
    },

    /** It is no part of the fleet any more. */
    async forget(gatewayId: string): Promise<void> {
      await store.change(({ queries }) => deleteGatewayDoor(queries, gatewayId))
    },

    /** Those that are connected still have been seen just now. */
    async refresh(gatewayIds: readonly string[]): Promise<void> {
      if (gatewayIds.length === 0) return
      await store.change(async ({ queries, nowMs }) => {
        for (const gatewayId of gatewayIds)
          await updateGatewayDoor(queries, gatewayId, { seenAt: nowMs })
      })
    },

    prune: forgetOld,

    /** It rises by our clock as well, so that a database from a backup does not fall behind. */
    async list(): Promise<ListedGateways> {
      const now = await listed(store.read, clock.nowMs())
      if (now.isKnown) return { gateways: now.gateways, sequence: now.sequence }
      return store.change(async ({ queries, nowMs }) => {
        const { gateways, digest, isKnown, ...last } = await listed(queries, nowMs)
        if (isKnown) return { gateways, sequence: last.sequence }
        const sequence = Math.max(last.sequence + 1, Math.floor(nowMs / SECOND_MS))
        const value = `${sequence} ${digest}`
        const { facts } = schema
        await queries
          .insert(facts)
          .values({ name: FACT, value })
          .onConflictDoUpdate({ target: facts.name, set: { value } })
        return { gateways, sequence }
      })
    },
  }
}
