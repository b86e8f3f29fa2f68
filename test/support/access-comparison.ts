/** The real judge of access rules against the plain one, of as many random rule sets as are wished. */
import { compileAccess } from '../../shared/enforcement/access-rules.ts'
import { naive, networksOf, randomCase, rulesOf, seeded } from './access-rules.ts'

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
const DIFFERENCES_SHOWN_MAX = 3

export function compareRandomRules(cases: number, seed: number) {
  const random = seeded(seed)
  const tally = { open: 0, closed: 0 }
  const differences: unknown[] = []
  for (let at = 0; at < cases && differences.length < DIFFERENCES_SHOWN_MAX; at++) {
    const { rules, asked, who } = randomCase(random)
    const judge = compileAccess({ ...rulesOf(rules), networks: networksOf(rules) }, () => false)
    const isOpen = judge.judge(asked, who).kind === 'allowed'
    tally[isOpen ? 'open' : 'closed']++
    if (isOpen !== naive(rules, asked, who)) differences.push({ rules, asked, who, isOpen })
    const explained = judge.explain(asked, who)
    if (isOpen !== ['opened', 'unruled'].includes(explained.kind))
      differences.push({ rules, asked, who, explained })
    if (isOpen) continue
    // nobody comes in by spelling it in another way
    const spelled = SPELLINGS[at % SPELLINGS.length]!(asked.path)
    if (judge.judge({ ...asked, path: spelled }, who).kind === 'allowed')
      differences.push({ rules, asked, who, spelled })
  }
  return { differences, tally }
}
