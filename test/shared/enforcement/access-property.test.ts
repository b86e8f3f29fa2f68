/**
 * Long: `node test/shared/enforcement/access-property.test.ts --cases 1000000 --seed 7`
 */
import { parseArgs } from 'node:util'
import t from 'tap'
import { compileAccess } from '../../../shared/enforcement/access-rules.ts'
import { naive, randomCase, rulesOf, seeded } from '../../support/access-rules.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '5000' }, seed: { type: 'string', default: '1' } },
  strict: false,
})
const cases = Number(values.cases)
const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path.toUpperCase(),
  (path) => path.replaceAll('a', '%61'),
  (path) => `/${path}`,
  (path) => `/x/..${path}`,
  (path) => `${path}.json`,
  (path) => `${path};v=1`,
  (path) => `/index.php${path}`,
  (path) => `/a/..${path}`,
]

t.test('random rules are decided as a plain judge decides them', { timeout: 0 }, async (t) => {
  const random = seeded(Number(values.seed))
  const tally = { open: 0, closed: 0 }
  const differences: unknown[] = []
  for (let at = 0; at < cases && differences.length < 3; at++) {
    const { rules, asked, who } = randomCase(random)
    const judge = compileAccess(rulesOf(rules), () => false)
    const isOpen = judge.judge(asked, who).kind === 'allowed'
    tally[isOpen ? 'open' : 'closed']++
    if (isOpen !== naive(rules, asked, who)) differences.push({ rules, asked, who, isOpen })
    if (isOpen) continue
    // nobody comes in by spelling it in another way
    const spelled = SPELLINGS[at % SPELLINGS.length]!(asked.path)
    if (judge.judge({ ...asked, path: spelled }, who).kind === 'allowed')
      differences.push({ rules, asked, who, spelled })
  }
  t.same(differences, [])
  t.ok(tally.open > cases / 20 && tally.closed > cases / 20, JSON.stringify(tally))
})
