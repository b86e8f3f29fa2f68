// long: a million random rule sets
/** Each time others, so that a night of them finds what one seed would not; the seed is told. */
import t from 'tap'
import { compareRandomRules } from '../../support/access-comparison.ts'

const CASES = 1_000_000

t.test(
  'a million rule sets are decided as a plain judge decides them',
  { timeout: 0 },
  async (t) => {
    const seed = Date.now() % 2 ** 31
    t.comment(`seed ${seed}`)
    const { differences, tally } = compareRandomRules(CASES, seed)
    t.same(differences, [])
    t.ok(tally.open > CASES / 20 && tally.closed > CASES / 20, JSON.stringify(tally))
  },
)
