import t from 'tap'
import { NO_POSTGRES, startPostgres } from '../../support/postgres.ts'
import { testDryRuns } from './dry-run-suite.ts'
import { testOutages } from './outages-suite.ts'
import { testSignIns } from './sign-in-suite.ts'

t.test('PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  testSignIns(t, startPostgres)
  testDryRuns(t, startPostgres)
  testOutages(t, startPostgres)
})
