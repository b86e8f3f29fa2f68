// long: control planes on a database that is cut off, held, late, full, or shared by many gateways
/** `npm run faults -- --cases …`, for as long as a test may take. */
import t from 'tap'
import { CASES } from '../../bench/faults/cases.ts'
import { NO_POSTGRES } from '../support/postgres.ts'
import { NO_SMALL_DISK } from '../support/small-disk.ts'

for (const [name, run] of Object.entries(CASES)) {
  const skip =
    (name !== 'full' && NO_POSTGRES) || (name.startsWith('full') && NO_SMALL_DISK) || false
  t.test(`nothing is lost, and all goes on by itself: ${name}`, { skip }, async (t) => {
    const { findings, slow, figures, failed } = await run(t, { seconds: 4, gateways: 12 })
    t.comment({ figures, slow, failed: [...failed] })
    t.strictSame(findings, [])
  })
}
