/**
 * How much of public applications is found right: framework, place, entry, port, health path, edit. They
 * are read and edited in a copy, and nothing of them is ever run. A score may rise, and not fall.
 */
// long: fetches some hundred and eighty applications of others
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../../support/control-plane.ts'
import { fetchStranger, missingOf, unpack } from '../stranger.ts'
import type { Expected } from './expected.ts'
import { EIGHTH_HELD_OUT } from './once-held-out/eighth.ts'
import { FIFTH_HELD_OUT } from './once-held-out/fifth.ts'
import { FIRST_HELD_OUT } from './once-held-out/first.ts'
import { FOURTH_HELD_OUT } from './once-held-out/fourth.ts'
import { SECOND_HELD_OUT } from './once-held-out/second.ts'
import { SEVENTH_HELD_OUT } from './once-held-out/seventh.ts'
import { SIXTH_HELD_OUT } from './once-held-out/sixth.ts'
import { THIRD_HELD_OUT } from './once-held-out/third.ts'
import { countRight, report, scoreOf, type Score, type Scored } from './score.ts'
import { TUNED } from './tuned.ts'

const SETS: readonly (readonly [string, readonly Expected[], Omit<Score, 'shown'>])[] = [
  [
    'developed with',
    TUNED,
    {
      ...{ framework: 19, mount: 19, entry: 19, port: 19, health: 19, everything: 19 },
      ...{ edit: 19, written: 14 },
    },
  ],
  [
    'held out first',
    FIRST_HELD_OUT,
    {
      ...{ framework: 18, mount: 17, entry: 18, port: 18, health: 18, everything: 17 },
      ...{ edit: 17, written: 12 },
    },
  ],
  [
    'held out second',
    SECOND_HELD_OUT,
    {
      ...{ framework: 24, mount: 23, entry: 24, port: 22, health: 25, everything: 22 },
      ...{ edit: 24, written: 20 },
    },
  ],
  [
    'held out third',
    THIRD_HELD_OUT,
    {
      ...{ framework: 12, mount: 12, entry: 12, port: 12, health: 12, everything: 12 },
      ...{ edit: 12, written: 8 },
    },
  ],
  [
    'held out fourth',
    FOURTH_HELD_OUT,
    {
      ...{ framework: 25, mount: 25, entry: 25, port: 25, health: 24, everything: 24 },
      ...{ edit: 25, written: 19 },
    },
  ],
  [
    'held out fifth',
    FIFTH_HELD_OUT,
    {
      ...{ framework: 21, mount: 21, entry: 21, port: 18, health: 21, everything: 18 },
      ...{ edit: 21, written: 12 },
    },
  ],
  [
    'held out sixth',
    SIXTH_HELD_OUT,
    {
      ...{ framework: 20, mount: 19, entry: 20, port: 19, health: 20, everything: 18 },
      ...{ edit: 20, written: 12 },
    },
  ],
  [
    'held out seventh',
    SEVENTH_HELD_OUT,
    {
      ...{ framework: 17, mount: 17, entry: 17, port: 17, health: 16, everything: 16 },
      ...{ edit: 17, written: 12 },
    },
  ],
  [
    'held out eighth',
    EIGHTH_HELD_OUT,
    {
      ...{ framework: 28, mount: 28, entry: 28, port: 28, health: 27, everything: 27 },
      ...{ edit: 28, written: 17 },
    },
  ],
]

const FETCHED_AT_ONCE = 3

for (const [title, expected, before] of SETS)
  t.test(`applications ${title}`, async (t) => {
    const missing: string[] = []
    const scored: Scored[] = []
    const waiting = [...expected]
    const work = async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const folder = temporaryFolder(t)
        const tarball = await fetchStranger(one, folder).catch(missingOf)
        if (typeof tarball !== 'string') missing.push(`${one.name} ${tarball.missing}`)
        else {
          await unpack(tarball, join(folder, 'unpacked'))
          scored.push(await scoreOf(one, join(folder, 'unpacked'), join(folder, 'copy')))
        }
      }
    }
    await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, work))
    if (missing[0] !== undefined) {
      t.pass('they are scored', { skip: missing[0] })
      return
    }
    const [score = '', ...details] = report(title, scored)
    t.comment(score)
    for (const line of details) t.comment(line)
    const now = countRight(scored)
    for (const [name, count] of Object.entries(before))
      t.ok(now[name as keyof Score] >= count, `${name}: ${now[name as keyof Score]} of ${count}`)
  })
