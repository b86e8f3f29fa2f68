/** Whatever says from outside who somebody is, or which path is meant, reaches no application. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  CLIENT_CLAIMS,
  PATH_OVERRIDES,
  PATH_PREFIXES,
} from '../../shared/enforcement/foreign-headers.ts'
import type { Case } from './case.ts'
import { runTable } from './table.ts'
import { headOf, startWorld, type TenantState } from './world.ts'

/** Spellings that one reader or another takes for our names: CGI and its heirs fold what is no letter. */
const NAMES = [
  'X-Service-User',
  'X-Service-Claims',
  'X-Service-Verified',
  'X-Service-Role',
  'X-Service-Probe-Reply',
]
const respelled = (name: string): string[] => [
  name,
  name.toLowerCase(),
  name.toUpperCase(),
  name.replaceAll('-', '_'),
  name.replaceAll('-', '.'),
  name.replace('-', '_'),
  name.replace(/-(?=[^-]*$)/, '_').toUpperCase(),
  name.replaceAll('-', '~'),
  name.replace('-', '!').toLowerCase(),
  name.replaceAll('-', '|'),
]

interface Place {
  readonly name: string
  readonly state: Partial<TenantState>
  readonly target: string
  readonly isSignedIn: boolean
}

/** Every way through to an application. */
const PLACES: readonly Place[] = [
  { name: 'on', state: {}, target: '/work', isSignedIn: true },
  { name: 'excluded', state: {}, target: '/health', isSignedIn: true },
  { name: 'excluded, nobody', state: {}, target: '/health', isSignedIn: false },
  {
    name: 'pass-through',
    state: { protection: 'pass-through' },
    target: '/work',
    isSignedIn: true,
  },
  {
    name: 'pass-through, nobody',
    state: { protection: 'pass-through' },
    target: '/work',
    isSignedIn: false,
  },
]

for (const { name, state, target, isSignedIn } of PLACES)
  t.test(`identity from outside: ${name}`, async (t) => {
    const world = await startWorld(t, { state })
    const cookie = isSignedIn ? world.session() : ''
    const claims = isSignedIn ? /service_session=([^;]*)/.exec(cookie)![1]! : ''
    const identity = isSignedIn
      ? { user: 'ada', claims, verified: 'true' }
      : { user: '', claims: '', verified: '' }
    const forwarded = (label: string, lines: readonly string[]): Case => ({
      name: `${name}: ${label}`,
      ask: headOf({ target, cookie, lines }),
      required: { outcome: 'forward', application: { target, foreign: [], ...identity } },
    })
    const overrides = [
      ...PATH_OVERRIDES,
      ...PATH_PREFIXES.map((prefix) => `${prefix}any`),
      'SCRIPT_NAME',
    ].flatMap((override) => [override, override.replaceAll('-', '_')])
    await runTable(t, world.targets, [
      forwarded('nothing', []),
      ...NAMES.flatMap(respelled).map((spelling) => forwarded(spelling, [`${spelling}: root`])),
      ...[...overrides, 'X-Original-URL'].map((override) =>
        forwarded(override, [`${override}: /admin`]),
      ),
      forwarded('all at once, twice', [
        ...NAMES.map((line) => `${line}: root`),
        ...NAMES.map((line) => `${line.replaceAll('-', '_')}: root`),
        ...NAMES.map((line) => `${line}: root`),
      ]),
      forwarded('named by Connection', [
        'Connection: close, X-Service-User, X-Service-Claims, X-Service-Verified, Cookie',
      ]),
      forwarded('empty', ['X-Service-User:']),
      ...['_', 'X_Any', 'X.Any', 'X|Any', '__proto__'].map((odd) =>
        forwarded(`a name that CGI folds: ${odd}`, [`${odd}: 1`]),
      ),
      // the edge drops what says who the client is, inside it is the load balancer's to say
      forwarded(
        'addresses',
        [...CLIENT_CLAIMS].map((claim) => `${claim}: 6.6.6.6`),
      ),
      forwarded('as other headers', ['X-User: root', 'Remote-User: root', 'X-Serviced-User: root']),
    ])
  })

t.test('who is not let in is not let in by a header', async (t) => {
  const world = await startWorld(t)
  const token = /service_session=([^;]*)/.exec(world.session())![1]!
  const lines = [
    ['X-Service-User: ada', `X-Service-Claims: ${token}`, 'X-Service-Verified: true'],
    [`Authorization: Bearer ${token}`],
    ['X-Original-URL: /health'],
    ['X-Forwarded-For: 127.0.0.1'],
    ['X-Middleware-Subrequest: middleware:middleware:middleware'],
  ]
  await runTable(
    t,
    world.targets,
    lines.flatMap((given): Case[] => [
      {
        name: `no session · ${given[0]}`,
        ask: headOf({ target: '/work', lines: given }),
        required: { outcome: 'sign_in_401', reason: 'sign_in_required: no_session' },
      },
      {
        name: `sealed · ${given[0]}`,
        ask: headOf({ target: '/admin', lines: given }),
        required: { outcome: 'sealed_404', reason: 'not_found' },
      },
    ]),
  )
})

t.test('our own cookies stay with us, the session and all others go on', async (t) => {
  const world = await startWorld(t)
  const session = world.session()
  const token = session.split('; ')[0]!
  const flow = 'service_flow_00abcde12345678901'
  const table: [given: string, received: string][] = [
    [session, token],
    [`a=1; ${session}; b=2`, `a=1; ${token}; b=2`],
    [`${session}; ${flow}=x`, token],
    [`${session}; __Host-${flow}=x; c=3`, `${token}; c=3`],
    [`${session}; service_hops=2`, token],
    [
      `${session}; service_seen_too=1; xservice_seen=2`,
      `${token}; service_seen_too=1; xservice_seen=2`,
    ],
    [`${session};a=1;  b=2 ;`, `${token}; a=1; b=2`],
    [`quoted="a; b"; ${session}`, `quoted="a; b"; ${token}`],
  ]
  await runTable(t, world.targets, [
    ...table.map(([given, received]): Case => ({
      name: given.replaceAll(token, 'service_session=…').slice(0, 100),
      ask: headOf({ cookie: given }),
      required: { outcome: 'forward', application: { cookies: received } },
    })),
    {
      name: 'without a session as well',
      ask: headOf({ target: '/health', cookie: `service_seen=x; a=1; ${flow}=y` }),
      required: { outcome: 'forward', application: { cookies: 'a=1' } },
    },
    {
      name: 'where nothing is left there is no Cookie',
      ask: headOf({ target: '/health', cookie: 'service_seen=x' }),
      required: { outcome: 'forward', application: { cookies: '' } },
    },
    {
      name: 'in several lines',
      ask: headOf({ cookie: session, lines: ['Cookie: a=1; service_seen=', `Cookie: ${flow}=1`] }),
      required: { outcome: 'sign_in_401', reason: 'sign_in_required: seen_missing' },
    },
  ])
})

interface HttpCase {
  readonly id: string
  readonly group: string
  readonly raw: string
  readonly why: string
}

t.test('the samples of HTTP that forge an identity', async (t) => {
  const world = await startWorld(t)
  const file = new URL('../fixtures/http-cases.json', import.meta.url)
  const { cases } = JSON.parse(
    readFileSync(file, 'utf8').replaceAll('app.acme.test', 'app.localhost'),
  ) as { cases: HttpCase[] }
  const nobody = { user: '', claims: '', verified: '', foreign: [] }
  const samples = cases.filter(({ group }) => group === 'identity-headers')
  t.ok(samples.length > 8)
  await runTable(
    t,
    world.targets,
    samples.map(({ id, raw, why }) => ({
      name: `${id} (${why})`,
      ask: raw,
      required: { outcome: 'forward', application: nobody },
    })),
  )
})
