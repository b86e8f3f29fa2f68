// long: three control planes on a database that is cut off, held, or shared by many gateways
/** `npm run faults -- --cases …`, for as long as a test may take. */
import t from 'tap'
import { CASES } from '../../bench/faults/cases.ts'
import { NO_POSTGRES } from '../support/postgres.ts'

for (const [name, run] of Object.entries(CASES))
  t.test(
    `nothing is lost, and all goes on by itself: ${name}`,
    { skip: NO_POSTGRES },
    async (t) => {
      const { findings, slow, figures, failed } = await run(t, { seconds: 4, gateways: 12 })
      t.comment({ figures, slow, failed: [...failed] })
      t.strictSame(findings, [])
    },
  )
