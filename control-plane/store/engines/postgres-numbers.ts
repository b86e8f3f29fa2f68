/**
 * Numbers of events and entries come from sequences, which nobody waits for. Their order is that of
 * asking, not of commits; but whoever has the lock of all knows that nothing else is under way.
 */
import { sql } from '../drizzle.ts'
import type { Numbered, Numbers, Queries } from '../engine.ts'

const SEQUENCES = {
  event: { sequence: 'event_numbers', table: 'outbox' },
  audit: { sequence: 'audit_numbers', table: 'audit' },
} as const satisfies Record<Numbered, { sequence: string; table: string }>

export const numbers: Numbers = {
  async take(queries, kind, count) {
    const next = sql.raw(`nextval('${SEQUENCES[kind].sequence}')`)
    const rows = await queries.values<[number]>(
      sql`SELECT ${next} FROM generate_series(1, ${count}) ORDER BY 1`,
    )
    return rows.map(([number]) => number)
  },

  async skip(queries, by) {
    for (const { sequence, table } of Object.values(SEQUENCES))
      await skipFrom(queries, sequence, table, by)
  },
}

/** From what was given out, or is there: rows may have been copied from another database. */
async function skipFrom(queries: Queries, sequence: string, table: string, by: number) {
  const newest = sql.raw(`greatest(nextval('${sequence}'), (SELECT max(sequence) FROM ${table}))`)
  await queries.values(sql`SELECT setval(${sequence}::regclass, ${newest} + ${by}::bigint)`)
}
