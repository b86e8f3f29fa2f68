/**
 * The time of the database server, for all control planes that use it: leases, lockouts, rates and
 * the lives of codes compare times that others have written, and two machines may differ by minutes.
 * Between two looks it goes on evenly, whatever becomes of the machine's own clock.
 */
import { SECOND_MS, steadyMs as ownSteadyMs, type Clock } from '../../../shared/clock.ts'
import { sql } from '../drizzle.ts'
import type { Queries } from '../engine.ts'

interface ServerClock extends Clock {
  /** Asks the server once; as often as it says it does so by itself. */
  look(): Promise<void>
  close(): void
}

const EVERY_MS = 10 * SECOND_MS

/** In whole milliseconds. */
export async function askServer(queries: Queries): Promise<number> {
  const now = sql`(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS now`
  const [row] = await queries.select({ ms: sql<number>`now.ms` }).from(now)
  if (row === undefined) throw new Error('the server did not say what time it is')
  return row.ms
}

export async function followServerClock(
  ask: () => Promise<number>,
  steadyMs: () => number = ownSteadyMs,
): Promise<ServerClock> {
  let aheadMs: number | undefined

  /** When the server looked at its clock lies between question and answer; no more than that is known. */
  async function look() {
    const askedMs = steadyMs()
    const serverMs = await ask()
    const least = serverMs - steadyMs()
    const most = serverMs + 1 - askedMs
    aheadMs = Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2))
  }

  await look()
  const looking = setInterval(() => void look().catch(() => {}), EVERY_MS).unref()
  return {
    nowMs: () => Math.floor(steadyMs() + (aheadMs ?? 0)),
    steadyMs,
    look,
    close: () => clearInterval(looking),
  }
}
