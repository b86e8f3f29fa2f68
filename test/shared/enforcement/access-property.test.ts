/**
 * As many as one likes: `node test/shared/enforcement/access-property.test.ts --cases 100000 --seed 7`
 */
import { parseArgs } from 'node:util'
import t from 'tap'
import { compareRandomRules } from '../../support/access-comparison.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '5000' }, seed: { type: 'string', default: '1' } },
  strict: false,
})
const cases = Number(values.cases)

t.test('random rules are decided as a plain judge decides them', { timeout: 0 }, async (t) => {
  const { differences, tally } = compareRandomRules(cases, Number(values.seed))
  t.same(differences, [])
  t.ok(tally.open > cases / 20 && tally.closed > cases / 20, JSON.stringify(tally))
})
