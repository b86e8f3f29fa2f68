/** Access rules: who meets what, at the edge as inside an application, whatever is forged. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { rulesOf } from '../support/access-rules.ts'
import type { Case, Required } from './case.ts'
import { runTable } from './table.ts'
import { AS, HOST, headOf, startWorld, type Head } from './world.ts'

const ACCESS = rulesOf([
  { path: '/reports', methods: ['GET'], allow: [{ group: 'finance' }] },
  { path: '/reports', methods: ['POST'], allow: [{ group: 'admins' }] },
  { path: '/vault', allow: [{ strength: 'mfa' }] },
  { path: '/fresh', allow: [{ max_age: 900 }] },
  { path: '/office', allow: [{ network: 'office' }] },
  { path: '/away', allow: [{ signed_in: true }], deny: [{ not_network: 'office' }] },
  { path: '/late', allow: [{ group: 'late' }] },
  { path: '/early', allow: [{ not_group: 'late' }] },
  { path: '/audit', allow: [{ attr: { department: 'audit' } }] },
  { path: '/lead', allow: [{ attr: { department: 'audit', title: 'a=b' } }] },
  { path: '/calm', allow: [{ signed_in: true }], deny: [{ attr: { department: 'sales' } }] },
  { path: '/floor', allow: [{ attr: { floor: '3' } }] },
])
const CONTACT = 'help@example.test'
/** Which groups a token names, by which version of the table (support/access-rules.ts). */
const bits = (gb: string, gv = 2) => ({ gb, gv })
const NONE = bits('AAA')
const FINANCE = bits('AgA')
const ADMINS = bits('AQA')
const LATE = bits('AAI')
const AUDIT = bits('BAA')
const LEAD = bits('BAQ')
const SALES = bits('CAA')

const opened = (groups: string): Required => ({
  outcome: 'forward',
  application: { user: 'ada', verified: 'true', groups, foreign: [] },
})
const named = opened('')
const refused: Required = { outcome: 'refused_403', reason: 'rule_denied', application: null }
const CHALLENGE =
  'www-authenticate: Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", acr_values="aal2"'

t.test('what a person meets', async (t) => {
  const world = await startWorld(t, { state: { access: ACCESS, access_contact: CONTACT } })
  const session = (claims: object) => world.session({ claims: { ...NONE, ...claims } })
  const of = (name: string, required: Required, claims: object, head: Head): Case[] =>
    AS.map((as) => ({
      name: `${name}, ${as}`,
      ask: headOf({ as, cookie: session(claims), ...head }),
      required,
    }))
  const longAgo = { auth_time: world.nowSeconds() - 3600 }
  const body = { method: 'POST', lines: ['Content-Length: 0'] }
  const strongCookie = session({ acr: 'aal2' })
  const steppedUp = (target: string, age = ''): Case[] => [
    {
      name: `${target} asks a program for more`,
      ask: headOf({ target, cookie: session(longAgo) }),
      required: { outcome: 'sign_in_401', reason: 'sign_in_required: strength_missing' },
    },
    {
      name: `${target} says what it asks for`,
      ask: headOf({ target, cookie: session(longAgo) }),
      required: {
        lines: [
          'cache-control: no-store',
          'content-type: application/json',
          `${CHALLENGE}${age}`,
          'x-content-type-options: nosniff',
        ],
      },
    },
    {
      name: `${target} sends a person to prove it`,
      ask: headOf({ target, cookie: session(longAgo), as: 'navigation' }),
      required: {
        outcome: 'sign_in_redirect',
        location: `/service/login?returnTo=${encodeURIComponent(target)}&step_up=1`,
      },
    },
  ]
  await runTable(t, world.targets, [
    ...of('in the group', opened('finance'), FINANCE, { target: '/reports/1' }),
    ...of('names other groups beside', opened('finance'), FINANCE, {
      target: '/reports/1',
      lines: ['X-Service-Groups: admins', 'X_Service_Groups: admins'],
    }),
    ...of('HEAD is GET', opened('finance'), FINANCE, { target: '/reports/1', method: 'HEAD' }),
    ...of('in another group', refused, ADMINS, { target: '/reports/1' }),
    ...of('in none', refused, NONE, { target: '/reports' }),
    ...of('by another method', refused, FINANCE, { target: '/reports', ...body }),
    ...of('by its method', opened('admins'), ADMINS, { target: '/reports', ...body }),
    ...of('by a method that no rule names', refused, ADMINS, {
      target: '/reports',
      method: 'DELETE',
    }),
    ...of('by a header that names it', refused, FINANCE, {
      target: '/reports',
      lines: ['X-HTTP-Method-Override: POST'],
    }),
    ...of('no rule speaks of it', named, NONE, { target: '/work' }),
    ...of('a session of one factor that is new', refused, {}, { target: '/vault' }),
    ...steppedUp('/vault'),
    ...steppedUp('/fresh', ', max_age="900"'),
    { name: 'strong', ask: headOf({ target: '/vault', cookie: strongCookie }), required: named },
    ...of('fresh', named, {}, { target: '/fresh' }),
    // a network is the client's, and no header's
    ...of('elsewhere', refused, {}, { target: '/office' }),
    ...of(
      'says it was forwarded from there',
      refused,
      {},
      {
        target: '/office',
        lines: [
          'X-Forwarded-For: 192.0.2.7',
          'X-Real-IP: 192.0.2.7',
          'CF-Connecting-IP: 192.0.2.7',
        ],
      },
    ),
    ...of(
      'says so by the standard',
      refused,
      {},
      {
        target: '/office',
        lines: ['Forwarded: for=192.0.2.7', 'True-Client-IP: 192.0.2.7', 'X-Client-IP: 192.0.2.7'],
      },
    ),
    ...of(
      'is denied, whatever is forwarded',
      refused,
      {},
      {
        target: '/away',
        lines: ['X-Forwarded-For: 192.0.2.7'],
      },
    ),
    ...of('says that it asks for another path', refused, NONE, {
      target: '/reports',
      lines: ['X-Original-URL: /work', 'X-Rewrite-URL: /work', 'X-Forwarded-Uri: /work'],
    }),
    ...of('names a group of its own', refused, NONE, {
      target: '/reports',
      lines: ['X-Service-Groups: finance', 'X_Service_Groups: finance'],
    }),
    // what a token cannot know is unknown: false in an allow, true in a deny
    ...of('of the newest table', opened('late'), LATE, { target: '/late' }),
    ...of('a stale slot', refused, bits('AAI', 1), { target: '/late' }),
    ...of('a bitset that is too short', refused, bits('AA'), { target: '/late' }),
    ...of('an empty bitset', refused, bits(''), { target: '/late' }),
    ...of('without its version', refused, { ...LATE, gv: undefined }, { target: '/late' }),
    ...of('without bits', refused, { gb: undefined, gv: undefined }, { target: '/late' }),
    ...of('not in it, known', named, NONE, { target: '/early' }),
    ...of('not in it, stale', refused, bits('AAA', 1), { target: '/early' }),
    ...of('not in it, short', refused, bits('AA'), { target: '/early' }),
    ...of('of the department', named, AUDIT, { target: '/audit' }),
    ...of('of another department', refused, SALES, { target: '/audit' }),
    ...of('of no department', refused, NONE, { target: '/audit' }),
    ...of('of the department by a header', refused, NONE, {
      target: '/audit',
      lines: ['X-Service-Department: audit', 'X-Service-Claims: {"department":"audit"}'],
    }),
    ...of('one of two attributes', refused, AUDIT, { target: '/lead' }),
    ...of('both attributes', named, LEAD, { target: '/lead' }),
    ...of('both, by a table of before', refused, bits('BAQ', 1), { target: '/lead' }),
    ...of('both, too short', refused, bits('BA'), { target: '/lead' }),
    ...of('an attribute that is denied', refused, SALES, { target: '/calm' }),
    ...of('without that attribute', named, AUDIT, { target: '/calm' }),
    ...of('nobody knows whether', refused, { gb: undefined, gv: undefined }, { target: '/calm' }),
    ...of('an attribute without a bit', refused, bits('__8'), { target: '/floor' }),
  ])
  const href = `mailto:${CONTACT}?subject=Access%20to%20http%3A%2F%2F${HOST}%2Freports`
  const ask = headOf({ as: 'navigation', target: '/reports?secret=1', cookie: session(NONE) })
  for (const target of world.targets) {
    const { body } = await target.ask(ask)
    t.match(body, /No access.*membership in finance.*Ask for access/s, target.name)
    t.match(body, `href="${href}"`, target.name)
  }
})

type Verdict = 'sealed-404' | 'reject-400' | 'session' | 'public'
const corpus = JSON.parse(
  readFileSync(new URL('../fixtures/path-bypass-cases.json', import.meta.url), 'utf8')
    .replaceAll('app.acme.test', HOST)
    .replaceAll('APP.ACME.TEST', HOST.toUpperCase()),
) as { cases: { id: string; target: string; allow: Verdict[]; why: string }[] }

t.test('no spelling of a path goes past its rule', async (t) => {
  const rules = [{ path: '/admin', allow: [{ group: 'admins' }] }]
  const world = await startWorld(t, { state: { sealed: [], access: rulesOf(rules) } })
  const cookie = world.session({ claims: NONE })
  const cases = corpus.cases.flatMap(({ id, target, allow, why }) =>
    AS.map((as): Case => {
      const isOpen = allow.some((verdict) => verdict === 'session' || verdict === 'public')
      return {
        name: `${id} ${target} (${why}), ${as}`,
        ask: headOf({ target, as, cookie }),
        required: {
          outcome: [...(isOpen ? (['forward'] as const) : []), 'refused_403', 'refused_400'],
        },
      }
    }),
  )
  t.ok(cases.filter(({ required: { outcome } }) => outcome?.length === 2).length > 50)
  await runTable(t, world.targets, cases)
})
