/** Every sample of a token, as the session cookie: who it lets in, and with what reason it does not. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { nothingRevoked } from '../support/fleet-source.ts'
import { newSigningKey } from '../support/tokens.ts'
import type { Case, Cell } from './case.ts'
import { runTable } from './table.ts'
import { samplesOf, type Variant } from './token-samples.ts'
import { AS, CURRENT, headOf, NEXT, startWorld, USER_AGENT, type World } from './world.ts'

interface JwtCase {
  readonly id: string
  readonly construct: string
  readonly expect: 'accept' | 'reject'
  readonly why: string
}

const fixture = JSON.parse(
  readFileSync(new URL('../fixtures/jwt-cases.json', import.meta.url), 'utf8'),
) as { cases: JwtCase[] }

/** Where we refuse what a sample would let us accept. */
const STRICTER: Readonly<Record<string, string>> = {
  'sub-unicode': 'our realms name users in printable ASCII, which fits into a header as it stands',
  'sub-confusable': 'the same: there are no two spellings of one user',
  'exp-leeway': 'there is no leeway on the end of a session',
  'exp-float': 'our realms write whole seconds',
}

const LATE = newSigningKey('late')

/** Something has to happen first; each is made in a test of its own. */
const IN_STEPS = new Set([
  'iat-after-revoked',
  'revoked-proto',
  'replay-after-logout',
  'binding-ip-ua',
  'key-rollover-race',
  'clock-back',
  'size-1m',
])

function casesOf({ id, why }: Pick<JwtCase, 'id' | 'why'>, variants: readonly Variant[]): Case[] {
  return variants.flatMap((variant) =>
    AS.map((as): Case => {
      const { name = '', cookie, lines = [], target = '/', accepted, refused } = variant
      const { userAgent = USER_AGENT } = variant
      const required: Partial<Cell> =
        as === 'navigation'
          ? { outcome: 'sign_in_redirect', application: null }
          : { outcome: 'sign_in_401', reason: `sign_in_required: ${refused}`, application: null }
      return {
        name: `${id} ${name} (${why}) · ${as}`,
        ask: headOf({ target, as, cookie, lines, userAgent }),
        required: accepted === undefined ? required : { outcome: 'forward', application: accepted },
      }
    }),
  )
}

t.test('a token, right or wrong', async (t) => {
  const world = await startWorld(t)
  const variants = samplesOf(world)
  const ids = fixture.cases.map(({ id }) => id)
  t.same([...Object.keys(variants), ...IN_STEPS].sort(), ids.sort(), 'every sample is made')
  for (const sample of fixture.cases) {
    const made = variants[sample.id] ?? []
    const isTaken = made.length > 0 && made.every(({ accepted }) => accepted !== undefined)
    const isLeftToUs = STRICTER[sample.id] !== undefined || sample.id === 'payload-dup-claims'
    if (made.length > 0 && !isLeftToUs) t.equal(isTaken, sample.expect === 'accept', sample.id)
    await runTable(t, world.targets, casesOf(sample, made))
  }
  t.notOk('admin' in {}, 'no claim becomes a property of everything')
})

const step = (id: string, name: string, variant: Variant) => casesOf({ id, why: name }, [variant])
const signedAs = (world: World, sub: string, issuedAgoSeconds: number): Variant => ({
  cookie: world.session({ sub, sid: `sid-of-${sub}`, issuedAgoSeconds }),
  accepted: { user: sub },
})
const refusedFor = (reason: string, { cookie }: Variant): Variant => ({ cookie, refused: reason })

t.test('a revocation is a time, and names are only names', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const odd = ['__proto__', 'constructor', 'hasOwnProperty']
  const subjects = JSON.parse(
    `{${[...odd, 'bob'].map((name) => `"${name}":${now - 100}`).join()}}`,
  ) as Record<string, number>
  const world = await startWorld(t, { revoked: { ...nothingRevoked(), subjects } })
  const spare = world.nowSeconds() - now // the world's clock may have begun a second later
  await runTable(t, world.targets, [
    ...step(
      'iat-after-revoked',
      'before',
      refusedFor('revoked', signedAs(world, 'bob', 101 + spare)),
    ),
    ...step('iat-after-revoked', 'at that time', signedAs(world, 'bob', 100 + spare)),
    ...step('iat-after-revoked', 'after', signedAs(world, 'bob', 99 + spare)),
    ...odd.flatMap((name) => [
      ...step(
        'revoked-proto',
        `${name} before`,
        refusedFor('revoked', signedAs(world, name, 101 + spare)),
      ),
      ...step('revoked-proto', `${name} after`, signedAs(world, name, 99 + spare)),
    ]),
    ...['toString', 'valueOf', 'ada'].flatMap((name) =>
      step('revoked-proto', `${name} was not revoked`, signedAs(world, name, 101)),
    ),
  ])
})

t.test('what happened before', async (t) => {
  const world = await startWorld(t)
  const ada = { cookie: world.session({ sid: 'sid-2' }), accepted: { user: 'ada' } }
  const bob = { cookie: world.session({ sid: 'sid-3' }), accepted: { user: 'ada' } }
  const lateToken = { cookie: world.session({ key: LATE }), accepted: { user: 'ada' } }
  await runTable(t, world.targets, [
    ...step('replay-after-logout', 'before', ada),
    {
      name: 'replay-after-logout: signing out',
      ask: headOf({ target: '/service/logout', as: 'navigation', cookie: ada.cookie }),
      required: { outcome: 'service_303' },
    },
    ...step('replay-after-logout', 'after', refusedFor('revoked', ada)),
    ...step('replay-after-logout', 'another session of the same user', bob),
    ...step(
      'key-rollover-race',
      'a key that nobody has published',
      refusedFor('key_unknown', lateToken),
    ),
  ])
  await world.publish([CURRENT, NEXT, LATE])
  world.setClocks(11)
  await runTable(t, world.targets, step('key-rollover-race', 'a key just published', lateToken))
  world.setClocks(-5)
  await runTable(t, world.targets, step('clock-back', 'by five seconds', lateToken))
  world.setClocks(-3600)
  await runTable(t, world.targets, [
    ...step(
      'clock-back',
      'by an hour, and no session is older than its hour',
      refusedFor('issued_ahead', lateToken),
    ),
    {
      name: 'size-1m: a cookie larger than a head may be',
      ask: headOf({ cookie: `service_session=${'x'.repeat(24_000)}` }),
      required: { outcome: 'refused_431', application: null },
      nodeAnswers: 431,
    },
  ])
})

t.test('a cookie that is copied to another client', async (t) => {
  const userAgent = 'curl/8.1'
  for (const binding of ['off', 'step_up', 'terminate'] as const) {
    const world = await startWorld(t, { state: { session_binding: binding } })
    const own = { cookie: world.session(), accepted: { user: 'ada' } }
    const copied: Variant =
      binding === 'off'
        ? { ...own, userAgent }
        : { ...refusedFor(`binding_${binding}`, own), userAgent }
    const [first, ...rest] = step('binding-ip-ua', `${binding}, copied`, copied).reverse()
    // terminating ends it for both
    const later = binding === 'terminate' ? refusedFor('revoked', own) : own
    await runTable(t, world.targets, [
      ...step('binding-ip-ua', `${binding}, at home`, own),
      first!,
      ...(binding === 'terminate' ? [] : rest),
      ...step('binding-ip-ua', `${binding}, at home again`, later),
    ])
  }
})
