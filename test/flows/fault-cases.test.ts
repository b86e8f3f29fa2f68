// long: control planes on a database that is cut off, held, late, full, failing, read-only, or shared by many gateways; clocks that are set
/** `npm run faults -- --cases …`, for as long as a test may take. */
import t from 'tap'
import { CASES } from '../../bench/faults/cases.ts'
import { NO_STRACE } from '../support/failing-calls.ts'
import { NO_POSTGRES } from '../support/postgres.ts'
import { NO_SMALL_DISK } from '../support/small-disk.ts'
import { NO_STEPPED_CLOCK } from '../support/stepped-clock.ts'

const ON_SQLITE: ReadonlySet<string> = new Set(['full', 'sync', 'read-only', 'clocks'])

for (const [name, run] of Object.entries(CASES)) {
  const skip =
    (!ON_SQLITE.has(name) && NO_POSTGRES) ||
    (name.startsWith('full') && NO_SMALL_DISK) ||
    (/^(?:sync|read-only$)/.test(name) && NO_STRACE) ||
    (name.startsWith('clocks') && NO_STEPPED_CLOCK) ||
    false
  t.test(`nothing is lost, and all goes on by itself: ${name}`, { skip }, async (t) => {
    const { findings, slow, figures, failed } = await run(t, { seconds: 4, gateways: 12 })
    t.comment({ figures, slow, failed: [...failed] })
    t.strictSame(findings, [])
  })
}
