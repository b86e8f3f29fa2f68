/**
 * The projects of the corpus on Next.js. It weighs too much for everybody's `npm ci`, so it is fetched
 * here where npm can be reached; behind a server of their own, and by a proxy.ts that is new.
 */
// long: Next.js builds each of its projects
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { installSdk } from '../../../support/installed-sdk.ts'
import { isNext, nodeFixtures, tellStory } from './corpus.ts'

const PACKAGES = [
  'next@16',
  'react@19',
  'react-dom@19',
  'express@5',
  'typescript@5',
  '@types/react@19',
  '@types/node@24',
]

const folder = temporaryFolder(t)
const missing = fetched(folder)
const sdk = join((await installSdk(t)).folder, 'node_modules', 'service-node')

/** What has a hook of its own is not edited, but shown. */
const SHOWN: ReadonlySet<string> = new Set(['next-middleware', 'next-proxy'])

/** Each is built by Next.js, which takes its time: two in every run, all of them with CORPUS=all. */
const BUILT: ReadonlySet<string> = new Set(['next-app-router', 'next-pages-custom-server'])
const isAsked = (name: string) =>
  process.env['CORPUS'] === 'all' || BUILT.has(name) || SHOWN.has(name)

for (const fixture of nodeFixtures()) {
  const boots = fixture.boots.filter(isNext)
  if (boots.length === 0 || !isAsked(fixture.name)) continue
  t.test(fixture.name, { skip: missing }, async (t) => {
    const packages = { sdk, copied: join(folder, 'node_modules') }
    await tellStory(t, fixture, packages, async (story) => {
      if (SHOWN.has(fixture.name)) {
        const [step] = story.plans.flatMap(({ manual }) => manual)
        t.match(step, { path: /(?:middleware|proxy)\.[jt]s$/, code: /guarded\(request\)/ })
        return
      }
      for (const note of boots)
        await t.test(`${note.command.join(' ')}`, async (t) => {
          const booted = await story.start(t, note)
          const problems = await story.smoke(booted, note)
          t.same(problems, [], problems.length > 0 ? booted.output() : 'it keeps its promises')
        })
    })
  })
}

function fetched(folder: string): string | false {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1']
  try {
    const options = { cwd: folder, timeout: 120_000, stdio: 'pipe' } as const
    execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...PACKAGES], options)
    return false
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr)
    const reason = /^npm error (?!A complete log).+/m.exec(said)?.[0] ?? 'it took too long'
    return `Next.js cannot be fetched from npm: ${reason}`
  }
}
