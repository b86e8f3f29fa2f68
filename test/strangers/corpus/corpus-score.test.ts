/**
 * How much of public applications is found right: framework, place, entry, port, health path, edit. They
 * are read and edited in a copy, and nothing of them is ever run. A score may rise, and not fall.
 */
// long: fetches two hundred applications of others
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../../support/control-plane.ts'
import { fetchStranger, missingOf, unpack } from '../stranger.ts'
import { countRight, report, scoreOf, type Score, type Scored } from './score.ts'
import { SETS } from './sets.ts'

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
