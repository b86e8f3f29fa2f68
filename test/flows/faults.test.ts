// long: kills control planes, a gateway and a database server again and again under load
/** `npm run faults`, for as long as a test may take. */
import t from 'tap'
import { runFaults } from '../../bench/faults/run.ts'
import { NO_POSTGRES } from '../support/postgres.ts'

const KILLS = 6

for (const [database, nodes, skip] of [
  ['sqlite', 1, false],
  ['postgres', 3, NO_POSTGRES],
] as const)
  t.test(`kill -9 at random moments loses nothing on ${database}`, { skip }, async (t) => {
    const seed = Date.now() % 1_000_000
    const { findings, figures, failed } = await runFaults(t, {
      kills: KILLS,
      database,
      nodes,
      seed,
    })
    t.comment({ seed, figures, failed: [...failed] })
    t.strictSame(findings, [])
    t.ok(figures['changes acknowledged'], 'there was something to lose')
  })
