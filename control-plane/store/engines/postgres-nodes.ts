/**
 * Which control planes share a database, and the log of what each has to hear of the others. A row
 * of the log is written by the change that it tells of; a row of a node by that node alone, at any
 * time, and holds up nobody.
 */
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import type { Revoked } from '../../../shared/fleet/snapshot.ts'
import { sql } from '../drizzle.ts'
import type { Nodes, Queries } from '../engine.ts'
import type { GatewayProgress } from '../nodes.ts'

/** A node is believed gone if it has been silent for so long. */
const LIVE_MS = 5 * SECOND_MS
/** Whoever has read nothing for so long starts over. */
const LOG_KEPT_MS = 10 * MINUTE_MS
/** Until then its gateways are missed, unless they have come to another. */
const ENDED_KEPT_MS = 24 * 60 * MINUTE_MS

export const NOW_MS = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

const LIVE_SINCE_MS = sql`${NOW_MS} - ${LIVE_MS}::bigint`

interface Written {
  readonly tenants: readonly string[]
  readonly revoked: readonly (readonly [string, Revoked])[]
  readonly fleet: boolean
  readonly removed: readonly string[]
}

type NodeRow = [nodeId: string, isLive: number, progress: string, status: string]

export async function joinNodes(
  queries: Queries,
  nodeId: string,
  { host, pid }: { readonly host: string; readonly pid: number },
): Promise<Nodes & { leave(): Promise<void> }> {
  async function say(gateways: readonly GatewayProgress[], status?: readonly unknown[]) {
    const progress = JSON.stringify(gateways)
    const shown = status === undefined ? sql`nodes.status` : sql`${JSON.stringify(status)}`
    await queries.run(sql`INSERT INTO nodes
      (node_id, host, pid, started_at, seen_at, is_ended, progress, status)
      VALUES (${nodeId}, ${host}, ${pid}, ${NOW_MS}, ${NOW_MS}, 0, ${progress}, '[]')
      ON CONFLICT (node_id) DO UPDATE
      SET seen_at = ${NOW_MS}, is_ended = 0, progress = ${progress}, status = ${shown}`)
  }

  await say([])
  return {
    nodeId,
    say,

    async write(given, { tenantIds, revoked, isOfFleet, removedGateways }) {
      const news: Written = {
        tenants: tenantIds,
        revoked: [...revoked],
        fleet: isOfFleet,
        removed: removedGateways,
      }
      const [row] = await given.values<[number]>(sql`WITH next AS (
          INSERT INTO counters (name, value) VALUES ('commit', 1)
          ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value)
        INSERT INTO commits (position, node_id, at, news)
        SELECT value, ${nodeId}, ${NOW_MS}, ${JSON.stringify(news)} FROM next RETURNING position`)
      if (row === undefined) throw new Error('the log of commits did not answer')
      return row[0]
    },

    async head() {
      const [row] = await queries.values<[string | null, number | null]>(
        sql`SELECT (SELECT value FROM facts WHERE name = 'epoch'), (SELECT value FROM counters WHERE name = 'commit')`,
      )
      return { epoch: row?.[0] ?? '', position: row?.[1] ?? 0 }
    },

    async after(position, limit) {
      const rows = await queries.values<[number, string, string]>(
        sql`SELECT position, node_id, news FROM commits WHERE position > ${position} ORDER BY position LIMIT ${limit}`,
      )
      return rows.map(([at, writer, text]) => {
        const { tenants, revoked, fleet, removed } = JSON.parse(text) as Written
        const news = {
          tenantIds: tenants,
          revoked: new Map(revoked),
          isOfFleet: fleet,
          removedGateways: removed,
        }
        return { position: at, nodeId: writer, ...news }
      })
    },

    async others() {
      const rows = await queries.values<NodeRow>(
        sql`SELECT node_id, is_ended = 0 AND seen_at > ${LIVE_SINCE_MS}, progress, status FROM nodes WHERE node_id <> ${nodeId}`,
      )
      return rows.map(([id, isLive, progress, status]) => ({
        nodeId: id,
        isLive: isLive === 1,
        gateways: JSON.parse(progress) as GatewayProgress[],
        status: JSON.parse(status) as unknown[],
      }))
    },

    async prune() {
      await queries.run(sql`DELETE FROM commits WHERE at < ${NOW_MS} - ${LOG_KEPT_MS}::bigint`)
      await queries.run(sql`DELETE FROM nodes WHERE seen_at < ${NOW_MS} - ${ENDED_KEPT_MS}::bigint`)
    },

    /** Its gateways are missed until they have come to another. */
    async leave() {
      await queries.run(sql`UPDATE nodes SET is_ended = 1 WHERE node_id = ${nodeId}`)
    },
  }
}

/** Whether any is there. */
export async function isInUse(queries: Queries): Promise<boolean> {
  const rows = await queries.values(
    sql`SELECT 1 FROM nodes WHERE is_ended = 0 AND seen_at > ${LIVE_SINCE_MS} LIMIT 1`,
  )
  return rows.length > 0
}
