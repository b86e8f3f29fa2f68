/** Long: `node test/shared/enforcement/read-alone.test.ts --cases 1000000 --seed 7` */
import { parseArgs } from 'node:util'
import t from 'tap'
import { isReadInOrder, readAlone } from '../../../shared/enforcement/read-alone.ts'
import { compilePlaces } from '../../../shared/enforcement/access-places.ts'
import {
  compileSealed,
  isReadAlike,
  isUnder,
  judgeReadings,
} from '../../../shared/enforcement/path.ts'
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
  ...['é', ' ', ';', '\\', '%20.', '.%20'],
  ...['%e2%84%aa', '%c4%b0', '%cd%ba', '%c0%ae', '%u0061', '%d7%a9', '%e4%b8%ad', '%ef%b7%ba'],
]
const PREFIXES = [
  '/a',
  '/ab',
  '/a/b',
  '/abc/1',
  '/x/a',
  '/a.pdf',
  '/1',
  '/cafe',
  '/a/b/c',
  '/e',
  '/i',
]

/** As every reading of a path is held against prefixes: its segments, where it begins, what it leaves out. */
function readingsOf(path: string) {
  const named = new Set<string>()
  let isInOrder = true
  const verdict = judgeReadings(path, (reading) =>
    compareReading(reading, (segments, passed) => {
      if (passed.size > 0) isInOrder = false
      named.add(JSON.stringify(segments))
      const isUnderAny = (first: number) => {
        if (first > 0) isInOrder = false
        return false
      }
      return { isGivenUp: false, isUnderAny }
    }),
  )
  return { verdict, named: [...named], isInOrder }
}

t.test('what is known at once is what trying every reading finds', { timeout: 0 }, async (t) => {
  const random = seeded(Number(values.seed))
  const below = (most: number) => Math.floor(random() * most)
  const differences: string[] = []
  const known = { alone: 0, inOrder: 0 }
  const finders = [PREFIXES, ['/a', '/abc/1'], ['/', '/ab']].map((prefixes) => ({
    prefixes,
    find: compilePlaces(prefixes.map((one) => ({ path: one === '/' ? '' : one, content: one }))),
    seals: prefixes.map((one) => [one, compileSealed([one])] as const),
  }))
  for (let at = 0; at < cases && differences.length < 5; at++) {
    const segments = Array.from({ length: 1 + below(4) }, () =>
      random() < 0.4
        ? (PREFIXES[below(PREFIXES.length)] ?? '').slice(1)
        : Array.from({ length: 1 + below(3) }, () => PARTS[below(PARTS.length)]!).join(''),
    )
    const path = `/${segments.join('/')}${random() < 0.1 ? '/' : ''}`
    const tried = readingsOf(path)
    const alone = readAlone(path)
    if (alone !== undefined) {
      known.alone++
      const written = new Set(alone.map((one) => JSON.stringify(one)))
      if (tried.verdict !== 'open' || !tried.isInOrder)
        differences.push(`${path} is ${tried.verdict}`)
      if (tried.named.join() !== [...written].join())
        differences.push(`${path}: ${tried.named.join()} and ${[...written].join()}`)
    }
    const isInOrder = isReadInOrder(path)
    if (isInOrder) known.inOrder++
    if (isInOrder && (tried.verdict !== 'open' || !tried.isInOrder))
      differences.push(`${path} is not in order`)
    if (alone !== undefined || isInOrder)
      for (const prefix of ['', ...PREFIXES])
        if (isUnder(path, prefix) && !isReadAlike(path, prefix))
          differences.push(`${path} is not read alike under ${prefix}`)
    // a rule holds wherever its path would be sealed
    for (const { find, seals } of finders) {
      const found = find(path)
      if (found === 'unreadable') continue
      const places = [found.place, ...found.others].filter((one) => one !== undefined)
      for (const [prefix, seal] of seals)
        if (seal(path) !== 'open' && !places.some((one) => prefix === '/' || isUnder(one, prefix)))
          differences.push(`${path} goes past ${prefix}: ${JSON.stringify(places)}`)
    }
  }
  t.same(differences, [])
  t.ok(known.alone > cases / 20 && known.inOrder > cases / 20, JSON.stringify(known))
})
