/** Long: `node test/shared/enforcement/read-alone.test.ts --cases 1000000 --seed 7` */
import { parseArgs } from 'node:util'
import t from 'tap'
import { readAlone } from '../../../shared/enforcement/read-alone.ts'
import { compilePlaces } from '../../../shared/enforcement/access-places.ts'
import { isReadAlike, isUnder, judgeReadings } from '../../../shared/enforcement/path.ts'
import { compareReading } from '../../../shared/enforcement/sealed-segments.ts'
import { seeded } from '../../support/access-rules.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
  strict: false,
})
const cases = Number(values.cases)
const PARTS = [
  ...['a', 'B', 'ab', 'abc', '1', '.', '-', '_', '%20', '%41', '%C3%A9', '%c3%a4', 'x', '.pdf'],
  ...['.php', 'index.', '_next', 'data', 'page-data', '%2e', '%2f', '%25', '~1', ':', '!', '('],
  ...['%e2%92%88', '%e2%85%a0', '%c2%bd', '%cc%81', '%e3%85%a4', '%ef%bd%81', '%c5%bf', '%ff'],
  ...['%e2%84%aa', '%c4%b0', '%cd%ba', '%c0%ae', '%u0061', '%d7%a9', '%e4%b8%ad', '%ef%b7%ba'],
]
const PREFIXES = ['/a', '/ab', '/a/b', '/abc/1', '/x/a', '/a.pdf', '/1', '/cafe', '/a/b/c', '/e', '/i']

t.test('what is read alone is what trying every reading finds', { timeout: 0 }, async (t) => {
  const random = seeded(Number(values.seed))
  const below = (most: number) => Math.floor(random() * most)
  const differences: string[] = []
  let alone = 0
  const find = compilePlaces(PREFIXES.map((path) => ({ path, content: path })))
  for (let at = 0; at < cases && differences.length < 5; at++) {
    const segments = Array.from({ length: 1 + below(4) }, () =>
      Array.from({ length: 1 + below(3) }, () => PARTS[below(PARTS.length)]!).join(''),
    )
    const path = `/${segments.join('/')}${random() < 0.1 ? '/' : ''}`
    const named = readAlone(path)
    if (named === undefined) continue
    alone++
    const tried: string[] = []
    const verdict = judgeReadings(path, (reading) =>
      compareReading(reading, (segmentsThere, passed) => {
        if (passed.size > 0) tried.push('passed')
        tried.push(JSON.stringify(segmentsThere))
        return { isGivenUp: false, isUnderAny: (first) => (first > 0 && tried.push(`${first}`), false) }
      }),
    )
    if (verdict !== 'open') differences.push(`${path} is ${verdict}`)
    if ([...new Set(tried)].join() !== [...new Set(named.map((one) => JSON.stringify(one)))].join())
      differences.push(`${path}: ${tried.join()} and ${JSON.stringify(named)}`)
    for (const prefix of ['', ...PREFIXES])
      if (isUnder(path, prefix) && !isReadAlike(path, prefix))
        differences.push(`${path} is not read alike under ${prefix}`)
    if (find(path) === 'unreadable') differences.push(`${path} is not found`)
  }
  t.same(differences, [])
  t.ok(alone > cases / 20, `${alone} of ${cases}`)
})
