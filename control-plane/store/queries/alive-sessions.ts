/** The sessions of a tenant that are alive, as they are listed. */
import { LIMITS } from '../../../shared/limits.ts'
import { and, desc, eq, gte, lt, lte, or, type SQL } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { isAliveIn, type SessionRow } from './sessions.ts'

const table = schema.sessions

/** Which of the sessions that are alive: all of a tenant, or of some people, or from an address. */
export type AliveFilter =
  | { readonly kind: 'all' }
  | { readonly kind: 'people'; readonly userIds: readonly string[] }
  | { readonly kind: 'address'; readonly ip: string }
  | { readonly kind: 'network'; readonly network: Network }

/** A range of addresses, and how the text of each of them begins. */
export interface Network {
  readonly beginning: string
  readonly has: (ip: string) => boolean
}

interface AliveSessions {
  readonly rows: SessionRow[]
  /** The last one that was looked at, where there was no time for those behind it. */
  readonly cutAt?: SessionRow | undefined
}

/** Of the first so many that begin alike; there is no index of numbers. */
async function inNetwork(
  { beginning, has }: Network,
  walk: (areMeant: SQL | undefined, most: number) => Promise<SessionRow[]>,
  limit: number,
): Promise<AliveSessions> {
  const isAlike = and(gte(table.ip, beginning), lt(table.ip, `${beginning}\u{10ffff}`))
  const most = LIMITS.sessionsLookedThroughMax
  const looked = await walk(isAlike, most + 1)
  const rows = looked.slice(0, most).filter(({ ip }) => has(ip))
  return {
    rows: rows.slice(0, limit),
    // where there are as many as were asked for, the list goes on behind the last of them
    cutAt: looked.length > most && rows.length < limit ? looked[most - 1] : undefined,
  }
}

/** The one that lasts longest first; each kind along an index of its own. */
export async function aliveSessionsBefore(
  queries: Queries,
  tenantId: string,
  filter: AliveFilter,
  nowMs: number,
  before: { readonly expiresAt: number; readonly sid: string } | undefined,
  limit: number,
): Promise<AliveSessions> {
  const walk = async (areMeant: SQL | undefined, most = limit) =>
    await queries
      .select()
      .from(table)
      .where(
        and(
          isAliveIn(tenantId, nowMs),
          areMeant,
          before && lte(table.expiresAt, before.expiresAt),
          before &&
            or(
              lt(table.expiresAt, before.expiresAt),
              and(eq(table.expiresAt, before.expiresAt), lt(table.sid, before.sid)),
            ),
        ),
      )
      .orderBy(desc(table.expiresAt), desc(table.sid))
      .limit(most)
  if (filter.kind === 'network') return inNetwork(filter.network, walk, limit)
  if (filter.kind === 'all') return { rows: await walk(undefined) }
  if (filter.kind === 'address') return { rows: await walk(eq(table.ip, filter.ip)) }
  const each = await Promise.all(filter.userIds.map((userId) => walk(eq(table.userId, userId))))
  const isBefore = (a: SessionRow, b: SessionRow) =>
    a.expiresAt === b.expiresAt ? a.sid > b.sid : a.expiresAt > b.expiresAt
  const rows = each.flat().sort((a, b) => (isBefore(a, b) ? -1 : 1))
  return { rows: rows.slice(0, limit) }
}
