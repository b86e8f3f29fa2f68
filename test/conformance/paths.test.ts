/** Every sample of a path that tries to get round the decision, with and without a session. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Case, Outcome, Required } from './case.ts'
import { runTable } from './table.ts'
import { AS, headOf, HOST, startWorld, type As } from './world.ts'

type Verdict = 'sealed-404' | 'reject-400' | 'session' | 'public'

interface PathCase {
  readonly id: string
  readonly target: string
  readonly require: Verdict
  readonly allow: readonly Verdict[]
  readonly why: string
  readonly forwarded_target_if_public?: string
}

interface HeadCase {
  readonly method?: string
  readonly header?: string
  readonly value?: string
  readonly target: string
  readonly require: Verdict
}

const file = new URL('../fixtures/path-bypass-cases.json', import.meta.url)
const fixture = JSON.parse(
  readFileSync(file, 'utf8')
    .replaceAll('app.acme.test', HOST)
    .replaceAll('APP.ACME.TEST', HOST.toUpperCase()),
) as { cases: PathCase[]; header_and_method_cases: HeadCase[] }

function outcomeOf(verdict: Verdict, as: As, isSignedIn: boolean): Outcome {
  switch (verdict) {
    case 'sealed-404':
      return 'sealed_404'
    case 'reject-400':
      return 'refused_400'
    case 'public':
      return 'forward'
    case 'session':
      if (isSignedIn) return 'forward'
      return as === 'navigation' ? 'sign_in_redirect' : 'sign_in_401'
  }
}

/** Whoever comes and however they ask: four cells of each case. */
const VISITORS = [false, true].flatMap((isSignedIn) => AS.map((as) => ({ as, isSignedIn })))
const told = (as: As, isSignedIn: boolean) => `${isSignedIn ? 'signed in' : 'nobody'}, ${as}`

t.test('a path that tries to get round the decision', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session()
  const cases = fixture.cases.flatMap((given) =>
    VISITORS.map(({ as, isSignedIn }): Case => {
      const { id, target, allow, why, forwarded_target_if_public: forwarded = target } = given
      const outcomes = allow.map((verdict) => outcomeOf(verdict, as, isSignedIn))
      const identity = isSignedIn ? { user: 'ada', verified: 'true' } : { user: '', verified: '' }
      return {
        name: `${id} ${target} (${why}) · ${told(as, isSignedIn)}`,
        ask: headOf({ target, as, cookie: isSignedIn ? cookie : '' }),
        required: {
          outcome: outcomes,
          ...(outcomes.includes('forward') && {
            application: { target: isSignedIn ? target : forwarded, foreign: [], ...identity },
          }),
        },
      }
    }),
  )
  await runTable(t, world.targets, cases)
})

t.test('a method or a header that asks for another decision', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session()
  const cases = fixture.header_and_method_cases.flatMap((given) =>
    VISITORS.map(({ as, isSignedIn }): Case => {
      const { method = 'GET', header, value, target, require } = given
      const outcome = outcomeOf(require, as, isSignedIn)
      const lines = header === undefined ? [] : [`${header}: ${value}`]
      const ask = headOf({ method, target, as, lines, cookie: isSignedIn ? cookie : '' })
      const name = `${method} ${target} ${lines.join()} · ${told(as, isSignedIn)}`
      // HTTP knows no such method, and neither do we
      if (method === 'GETX')
        return { name, ask, required: { outcome: 'refused_501' }, nodeAnswers: 400 }
      const application = outcome === 'forward' ? { method, target, foreign: [] } : null
      return { name, ask, required: { outcome, application } satisfies Required }
    }),
  )
  await runTable(t, world.targets, cases)
})

t.test(
  'a sealed page under another name, and the data of pages below an excluded prefix',
  async (t) => {
    const world = await startWorld(t, { state: { excluded: ['/health', '/_next'] } })
    const cookie = world.session()
    const names = ['/_next/data/b1/admin.json', '/_next/data/b1/en/admin.json', '/admin.html', '/admin.json', '/admin.data', '/admin::$INDEX_ALLOCATION/x', '/index.php/admin', '/page-data/admin/page-data.json', '/%C3%A0dmin', '/adm%C4%B0n'] // prettier-ignore
    const sealed = names.flatMap((target) =>
      VISITORS.map(({ as, isSignedIn }): Case => {
        const name = `${target} · ${told(as, isSignedIn)}`
        const ask = headOf({ target, as, cookie: isSignedIn ? cookie : '' })
        return { name, ask, required: { outcome: 'sealed_404', application: null } }
      }),
    )
    const open = { outcome: 'forward', application: { user: '' } } as const
    await runTable(t, world.targets, [
      ...sealed,
      { name: 'what is built', ask: headOf({ target: '/_next/static/x.js' }), required: open },
      ...['/_next/data/b1/work.json', '/_next/image?url=%2Fx.png'].flatMap((target): Case[] => [
        {
          name: `${target} · nobody`,
          ask: headOf({ target }),
          required: { outcome: 'sign_in_401' },
        },
        {
          name: `${target} · signed in`,
          ask: headOf({ target, cookie }),
          required: { outcome: 'forward', application: { user: 'ada' } },
        },
      ]),
    ])
  },
)
