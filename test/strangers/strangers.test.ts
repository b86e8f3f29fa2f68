/**
 * Public applications that were not written for this, from npm: found, edited, installed, started, and
 * put back byte for byte. All of them, without a start: `node test/strangers/run.ts`.
 */
// long: fetches, installs and starts applications of others
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/control-plane.ts'
import { installSdk } from '../support/installed-sdk.ts'
import { BOOTS } from './boots.ts'
import { SETS } from './corpus/sets.ts'
import { problemsOf } from './started.ts'
import { fetchStranger, missingOf } from './stranger.ts'
import { STRANGERS, type Stranger } from './strangers.ts'

/** One of few packages in every run; the others with STRANGERS=name,name, or STRANGERS=all. */
const SMALL = ['json-server']

const { url } = await installSdk(t)

const { STRANGERS: asked } = process.env
const wanted = new Set(
  asked === 'all' ? BOOTS.map(({ name }) => name) : (asked?.split(',') ?? SMALL),
)
/** Those of the corpus are started as well. */
const all = new Map<string, Stranger>(
  [...SETS.flatMap(([, expected]) => expected), ...STRANGERS].map((one) => [one.name, one]),
)
const fetched = await Promise.all(
  [...all.values()]
    .filter(({ name }) => wanted.has(name))
    .map(async (stranger) => {
      const folder = temporaryFolder(t)
      const tarball = await fetchStranger(stranger, folder).catch(missingOf)
      return { ...stranger, folder, tarball }
    }),
)

for (const { name, version, folder, tarball } of fetched) {
  const skip = typeof tarball === 'string' ? false : tarball.missing
  t.test(`${name}@${version}`, { skip }, async (t) => {
    const how = BOOTS.find((boot) => boot.name === name)
    if (how === undefined || typeof tarball !== 'string') throw new Error(`${name} has no boot`)
    t.same(await problemsOf(t, how, tarball, join(folder, 'unpacked'), url), [])
  })
}
