/**
 * Where gateways say that they are dialled, and the one number that rises whenever their list
 * changes. Who was here within the last hour is named: a control plane that comes back before its
 * gateways must not tell connectors that there are none. Each connector is told a few of them; the
 * others reach it over these.
 */
import { createHash } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { GatewayList } from '../../shared/connector/requests.ts'
import { rendezvous } from '../../shared/fleet/rendezvous.ts'
import type { FleetGateway, GatewayDoor } from '../../shared/fleet/snapshot.ts'
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
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'

const FACT = 'connector_gateways'

type ListedGateways = Pick<GatewayList, 'gateways' | 'sequence'>

interface Listed extends FleetGateway {
  /** Not long before the one that was heard of last: as far as we know it is there. */
  readonly isRecent: boolean
}

export type GatewayDoors = ReturnType<typeof createGatewayDoors>

export function createGatewayDoors({ store, clock }: { store: Store; clock: Clock }) {
  const forgetOld = pruneWith(store, deleteGatewayDoorsBefore, LIMITS.connectorGatewayKeptMs)

  async function gatewaysAt(queries: Queries, nowMs: number): Promise<Listed[]> {
    const sinceMs = nowMs - LIMITS.connectorGatewayKeptMs
    const rows = await gatewayDoorsSince(queries, sinceMs, LIMITS.connectorDoorsMax)
    const newestMs = Math.max(...rows.map(({ seenAt }) => seenAt))
    return rows.map(({ gatewayId, address, certificate, seenAt }) => ({
      gateway_id: gatewayId,
      address,
      certificate,
      isRecent: newestMs - seenAt < LIMITS.connectorGatewayRecentMs,
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
      await store.change(async ({ queries, nowMs, touchFleet }) => {
        if (door === undefined) return deleteGatewayDoor(queries, gatewayId)
        await upsertGatewayDoor(queries, { gatewayId, ...door, seenAt: nowMs })
        touchFleet()
      })
    },

    /** It is no part of the fleet any more. */
    async forget(gatewayId: string): Promise<void> {
      await store.change(async ({ queries, touchFleet }) => {
        await deleteGatewayDoor(queries, gatewayId)
        touchFleet()
      })
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

    /** Those that all gateways are to know. */
    all: async (): Promise<FleetGateway[]> =>
      (await gatewaysAt(store.read, clock.nowMs())).map(withoutAge),

    /** For this connector. The number rises by our clock as well, so that a database from a backup does not fall behind. */
    async list(connectorId: string): Promise<ListedGateways> {
      const now = await listed(store.read, clock.nowMs())
      const { gateways, sequence } = now.isKnown ? now : await raise()
      return { gateways: chosenFor(connectorId, gateways), sequence }
    },
  }

  function raise() {
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
  }
}

/**
 * The next list has a higher number: something else that is signed with it has changed, or lists may
 * have been given that this database knows nothing of.
 */
export async function raiseListNumber(queries: Queries): Promise<void> {
  const named = eq(schema.facts.name, FACT)
  const [row] = await queries.select().from(schema.facts).where(named)
  if (row === undefined) return // there has been no list
  const [sequence = '0'] = row.value.split(' ')
  await queries
    .update(schema.facts)
    .set({ value: `${sequence} -` })
    .where(named)
}

/** Those that have gone come last: a fleet may have been replaced within the hour. */
function chosenFor(connectorId: string, gateways: readonly Listed[]): FleetGateway[] {
  const most = LIMITS.connectorGatewaysMax
  const namesOf = (isRecent: boolean) =>
    gateways.filter((one) => one.isRecent === isRecent).map(({ gateway_id }) => gateway_id)
  const [recent, gone] = [namesOf(true), namesOf(false)]
  const chosen = rendezvous(connectorId, recent, most)
  const more = rendezvous(connectorId, gone, most - chosen.length)
  const names = new Set([...chosen, ...more])
  return gateways.filter(({ gateway_id }) => names.has(gateway_id)).map(withoutAge)
}

const withoutAge = ({ gateway_id, address, certificate }: Listed): FleetGateway => ({
  gateway_id,
  address,
  certificate,
})
