/**
 * How much of public applications is found right: framework, place, entry, port, health path, edit. They
 * are read and edited in a copy, and nothing of them is ever run. A score may rise, and not fall.
 */
// long: fetches two hundred applications of others
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../../support/control-plane.ts'
import { fetchStrangers, missingOf, unpack } from '../stranger.ts'
import { countRight, report, scoreOf, type Score, type Scored } from './score.ts'
import { SETS } from './sets.ts'

for (const [title, expected, before] of SETS)
  t.test(`applications ${title}`, async (t) => {
    const folder = temporaryFolder(t)
    const tarballs = await fetchStrangers(expected, folder).catch(missingOf)
    if (!Array.isArray(tarballs)) {
      t.pass('they are scored', { skip: tarballs.missing })
      return
    }
    const scored: Scored[] = []
    for (const [at, one] of expected.entries()) {
      const own = join(folder, String(at))
      await unpack(tarballs[at]!, join(own, 'unpacked'))
      scored.push(await scoreOf(one, join(own, 'unpacked'), join(own, 'copy')))
    }
    const [score = '', ...details] = report(title, scored)
    t.comment(score)
    for (const line of details) t.comment(line)
    const now = countRight(scored)
    for (const [name, count] of Object.entries(before))
      t.ok(now[name as keyof Score] >= count, `${name}: ${now[name as keyof Score]} of ${count}`)
  })
