import t from 'tap'
import { NO_MARIADB, startMariaDb } from '../../support/mariadb.ts'
import { testDryRuns } from './dry-run-suite.ts'
import { testOutages } from './outages-suite.ts'
import { testSignIns } from './sign-in-suite.ts'

t.test('MariaDB, which speaks MySQL', { skip: NO_MARIADB }, async (t) => {
  testSignIns(t, startMariaDb)
  testDryRuns(t, startMariaDb)
  testOutages(t, startMariaDb)
})
