import { readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import t from 'tap'
import * as v from 'valibot'
import type { AccessFacts } from '../../../shared/enforcement/access-clauses.ts'
import { compileAccess, type AccessAsked } from '../../../shared/enforcement/access-rules.ts'
import { compileSealed, pathOf } from '../../../shared/enforcement/path.ts'
import { EnforcedRulesSchema, type AccessRule } from '../../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { facts, rulesOf } from '../../support/access-rules.ts'

const nothingExcluded = () => false

function verdict(rules: AccessRule[], asked: Partial<AccessAsked>, who: Partial<AccessFacts> = {}) {
  const judge = compileAccess(rulesOf(rules), nothingExcluded)
  const request = { host: 'app.example.com', method: 'GET', path: '/', ...asked }
  return judge.judge(request, { ...facts(), ...who })
}
const isOpen = (...[rules, asked, who]: Parameters<typeof verdict>) =>
  verdict(rules, asked, who).kind === 'allowed'

const admin = { groupBits: Uint8Array.of(0b01) }
const finance = { groupBits: Uint8Array.of(0b10) }
const ADMINS: AccessRule = { path: '/admin', allow: [{ group: 'admins' }] }

t.test('a path without rules is open to whoever is signed in', async (t) => {
  t.ok(isOpen([ADMINS], { path: '/other' }))
  t.ok(isOpen([ADMINS], { path: '/administrator' }))
})

t.test('one path has rules: who is in none of its clauses stays out', async (t) => {
  t.notOk(isOpen([ADMINS], { path: '/admin/x' }))
  t.ok(isOpen([ADMINS], { path: '/admin/x' }, admin))
  const reading: AccessRule = { path: '/r', methods: ['GET'], allow: [{ signed_in: true }] }
  t.ok(isOpen([reading], { path: '/r', method: 'HEAD' }))
  t.notOk(isOpen([reading], { path: '/r', method: 'POST' }), 'a method that no rule names')
})

t.test('a path below may ask for more, and opens more only by saying so', async (t) => {
  const below: AccessRule = { path: '/admin/reports', allow: [{ group: 'finance' }] }
  const path = '/admin/reports/1'
  t.notOk(isOpen([ADMINS, below], { path }, finance), 'the path above refuses them')
  t.notOk(isOpen([ADMINS, below], { path }, admin), 'nor is the one above enough')
  t.ok(isOpen([ADMINS, below], { path }, { groupBits: Uint8Array.of(0b11) }))
  t.ok(isOpen([ADMINS, { ...below, widen: true }], { path }, finance))
  t.notOk(isOpen([ADMINS, { ...below, widen: true }], { path: '/admin/x' }, finance))
})

t.test('denies add up from above and win, also over a path that widens', async (t) => {
  const closed: AccessRule = { ...ADMINS, deny: [{ not_network: 'office' }] }
  const below: AccessRule = { path: '/admin/x', widen: true, allow: [{ signed_in: true }] }
  t.ok(isOpen([closed, below], { path: '/admin/x' }, { clientAddress: '192.0.2.7' }))
  t.notOk(isOpen([closed, below], { path: '/admin/x' }, { clientAddress: '198.51.100.7' }))
})

t.test('unknown is false in an allow and true in a deny', async (t) => {
  const denying: AccessRule = {
    path: '/',
    allow: [{ signed_in: true }],
    deny: [{ group: 'finance' }],
  }
  const unknown: Partial<AccessFacts>[] = [
    { groupBits: undefined },
    { groupBits: new Uint8Array(0) },
    { groupBits: Uint8Array.of(0b11), groupsVersion: 0 },
  ]
  for (const who of unknown) {
    t.notOk(isOpen([ADMINS], { path: '/admin' }, who))
    t.notOk(isOpen([{ path: '/', allow: [{ not_group: 'admins' }] }], {}, who))
    t.notOk(isOpen([denying], {}, who))
  }
  t.ok(isOpen([denying], {}, admin))
  t.notOk(isOpen([{ ...denying, deny: [{ network: 'office' }] }], {}, { clientAddress: '' }))
})

t.test(
  'an attribute is one bit: known, missing, unknown, and never anybody’s by its name',
  async (t) => {
    const audit: AccessRule = { path: '/', allow: [{ attr: { department: 'audit' } }] }
    t.ok(isOpen([audit], {}, { groupBits: Uint8Array.of(0b100) }))
    t.notOk(isOpen([audit], {}, { groupBits: Uint8Array.of(0b1000) }), 'of another department')
    t.notOk(isOpen([audit], {}, { groupBits: Uint8Array.of(0) }))
    const both: AccessRule = { path: '/', allow: [{ attr: { department: 'audit', title: 'a=b' } }] }
    const lead = { groupBits: Uint8Array.of(0b100, 0b100), groupsVersion: 2 }
    t.ok(isOpen([both], {}, lead))
    t.notOk(isOpen([both], {}, { ...lead, groupsVersion: 1 }), 'the table of before')
    t.notOk(isOpen([both], {}, { ...lead, groupBits: Uint8Array.of(0b100) }), 'too short')
    const denied: AccessRule = { path: '/', allow: [{ signed_in: true }], deny: audit.allow }
    t.notOk(isOpen([denied], {}, { groupBits: Uint8Array.of(0b100) }))
    t.notOk(isOpen([denied], {}, { groupBits: undefined }), 'nobody knows')
    t.ok(isOpen([denied], {}, { groupBits: Uint8Array.of(0) }))
    const all = { groupBits: new Uint8Array(128).fill(255), groupsVersion: 9 }
    for (const attr of [{ floor: '3' }, { department: 'Audit' }, { constructor: 'x' }])
      t.notOk(isOpen([{ path: '/', allow: [{ attr }] }], {}, all), JSON.stringify(attr))
    t.match(verdict([audit], {}), { isGroupMissing: true, ways: audit.allow })
    const machine = { ...all, serviceId: 'svc_00000000000000aa' }
    t.notOk(isOpen([audit], {}, machine), 'a machine has none')
    const ofMachine = { service: machine.serviceId, attr: { department: 'audit' } }
    t.notOk(isOpen([{ path: '/', allow: [ofMachine] }], {}, machine), 'nor by a rule that says so')
  },
)

t.test('an attribute that cannot be asked for is refused, and never passed over', async (t) => {
  const parsed = (attr: unknown) =>
    v.safeParse(EnforcedRulesSchema, {
      slots: [],
      rules: [{ path: '/', allow: [{ group: 'admins', attr }] }],
    }).success
  t.ok(parsed({ department: 'audit' }))
  t.ok(parsed(JSON.parse('{"constructor":"audit"}')), 'a name like any other')
  const one = (at: number) => [`a${at}`, 'x'] as const
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => one(at)))
  t.ok(parsed(many(LIMITS.ruleAttributesMax)))
  t.ok(parsed({ a: 'x'.repeat(LIMITS.attributeValueCharactersMax) }))
  t.ok(parsed({ ['a'.repeat(LIMITS.attributeNameCharactersMax)]: 'x' }))
  for (const attr of [
    {},
    [],
    ['audit'],
    'audit',
    null,
    { department: 1 },
    { department: true },
    { department: null },
    { department: ['audit'] },
    { department: { equals: 'audit' } },
    { department: '' },
    { department: '  ' },
    { department: 'a\u0000' },
    { department: 'a\u202eb' },
    { department: '\ud800' },
    { Department: 'audit' },
    { 'a=b': 'audit' },
    { 'a b': 'audit' },
    { '': 'audit' },
    { _a: 'audit' },
    { department: 'audit', '9': 'x' },
    JSON.parse('{"__proto__":"audit"}'),
    JSON.parse('{"department":"audit","__proto__":"x"}'),
    JSON.parse('{"__proto__":{"department":"audit"}}'),
    many(LIMITS.ruleAttributesMax + 1),
    { a: 'x'.repeat(LIMITS.attributeValueCharactersMax + 1) },
    { ['a'.repeat(LIMITS.attributeNameCharactersMax + 1)]: 'x' },
  ])
    t.notOk(parsed(attr), JSON.stringify(attr))
  const machine = { service: 'svc_00000000000000aa', attr: { department: 'audit' } }
  const rules = [{ path: '/', allow: [machine] }]
  t.notOk(v.is(EnforcedRulesSchema, { slots: [], rules }), 'a machine has no department')
})

t.test('what is missing is told: strength, a group, or neither would help', async (t) => {
  const strong: AccessRule = {
    path: '/',
    allow: [{ group: 'admins', strength: 'mfa', max_age: 900 }],
  }
  t.ok(isOpen([strong], {}, { ...admin, isStrong: true }))
  t.match(verdict([strong], {}, admin), {
    isStrengthMissing: true,
    maxAge: 900,
    ways: strong.allow,
  })
  t.match(verdict([strong], {}, { ...admin, isStrong: true, authTime: 0 }), {
    isStrengthMissing: true,
  })
  t.match(verdict([strong], {}), { isStrengthMissing: false, isGroupMissing: true })
  const closed: AccessRule = { path: '/', allow: [{ network: 'office' }] }
  t.match(verdict([closed], {}), { isStrengthMissing: false, isGroupMissing: false })
})

t.test('a host has its own rules and those for every host', async (t) => {
  const here: AccessRule = { host: 'app.example.com', path: '/x', allow: [{ group: 'admins' }] }
  t.notOk(isOpen([here], { path: '/x' }))
  t.ok(isOpen([here], { path: '/x', host: 'other.example.com' }))
  t.notOk(isOpen([ADMINS, here], { path: '/admin' }))
})

const { cases } = JSON.parse(
  readFileSync(new URL('../../fixtures/path-bypass-cases.json', import.meta.url), 'utf8'),
) as { cases: { id: string; target: string }[] }

t.test('a rule holds in every spelling that a sealed path holds in', async (t) => {
  const sealed = compileSealed(['/admin'])
  const open: AccessRule = { path: '/', allow: [{ signed_in: true }] }
  const wide: AccessRule = { path: '/public', widen: true, allow: [{ signed_in: true }] }
  let held = 0
  for (const rules of [[ADMINS], [ADMINS, open], [ADMINS, open, wide]])
    for (const { id, target } of cases) {
      if (!target.startsWith('/') || target.includes('#')) continue
      const path = pathOf(target)
      if (sealed(path) === 'open') continue
      held++
      t.notOk(isOpen(rules, { path }), `${id} ${target}`)
    }
  t.ok(held > 100)
})

t.test('what is opened below a closed path is opened in its own spelling alone', async (t) => {
  const below: AccessRule = { path: '/admin/help', widen: true, allow: [{ signed_in: true }] }
  t.ok(isOpen([ADMINS, below], { path: '/admin/help/a.png' }))
  t.ok(isOpen([ADMINS, below], { path: '/admin/help/caf%C3%A9' }))
  for (const path of [
    '/admin/HELP',
    '/admin/help/../x',
    '/admin/help/%2e%2e/x',
    '/admin/help%2f..%2fx',
    '/admin/help;/../x',
    '/admin/help.json',
    '/admin/help/index.php/admin/x',
    '/admin/help/\\..\\x',
  ])
    t.notOk(isOpen([ADMINS, below], { path }), path)
})

t.test('a path that may stand for very many of those with rules is read by nobody', async (t) => {
  let asked = 0
  const named = Array.from({ length: LIMITS.rulesPerTenantMax }, (_, at) => ({
    path: `/ad${at}-of-many`,
    allow: [{ network: 'office' }],
  }))
  const who = {
    get clientAddress() {
      asked++
      return '192.0.2.7'
    },
  }
  const askedFor = (rules: AccessRule[], path: string) => {
    asked = 0
    const judge = compileAccess(rulesOf(rules), nothingExcluded)
    const request = { host: 'app.example.com', method: 'GET', path }
    return judge.judge(request, Object.defineProperties(facts(), descriptors)).kind
  }
  const descriptors = Object.getOwnPropertyDescriptors(who)
  for (const path of ['/ad12ab~1', '/x/../ad12ab~1/y', '/ad12%61b~1'])
    t.equal(askedFor(named, path), 'unreadable', path)
  t.equal(asked, 0)
  t.equal(askedFor(named, '/ad7-of-many/x'), 'allowed')
  const few = named.slice(0, LIMITS.pathPlacesMax)
  t.equal(askedFor(few, '/ad12ab~1'), 'allowed', 'each of a few is asked')
  t.ok(asked >= few.length)
})

t.test('a network is looked up once for all clauses that name it', async (t) => {
  const check = t.capture(BlockList.prototype, 'check', BlockList.prototype.check)
  const rules = Array.from({ length: 100 }, () => ({
    path: '/a',
    allow: [{ network: 'office' }, { not_network: 'office', group: 'admins' }],
  }))
  const judge = compileAccess(rulesOf(rules), nothingExcluded)
  const ask = (clientAddress: string) =>
    judge.judge(
      { host: 'app.example.com', method: 'GET', path: '/a' },
      { ...facts(), groupBits: Uint8Array.of(0), clientAddress },
    )
  const refused = ask('198.51.100.7')
  t.equal(check().length, 1)
  t.equal(refused.kind === 'denied' && refused.ways.length, LIMITS.ruleWaysToldMax)
  t.equal(ask('192.0.2.7').kind, 'allowed', 'another one is looked up anew')
  t.equal(ask('unix:').kind, 'denied', 'and what is no address is in none')
  t.equal(ask('192.0.2.7').kind, 'allowed')
  t.equal(ask('').kind, 'denied')
  t.equal(check().length, 2)
})

t.test('rules of one path do not multiply with those of the paths above it', async (t) => {
  const depth = 14
  const paths = Array.from({ length: depth }, (_, at) => `/a${'/b'.repeat(at)}`)
  const [top = '', ...below] = paths
  const rules = [
    { path: top, allow: [{ group: 'admins' }] },
    ...below.flatMap((path) => [
      { path, allow: [{ group: 'finance' }] },
      { path, allow: [{ group: 'finance' }] },
    ]),
  ]
  const judge = compileAccess(rulesOf(rules), nothingExcluded)
  const asked = { host: 'app.example.com', method: 'GET', path: paths.at(-1) ?? '' }
  let looks = 0
  const counted = (bits: number): AccessFacts => ({
    ...facts(),
    get groupBits() {
      looks++
      return Uint8Array.of(bits)
    },
  })
  t.equal(judge.judge(asked, counted(0b10)).kind, 'denied', 'the path above all refuses them')
  t.ok(looks < 10 * rules.length, `${looks} looks at ${rules.length} clauses`)
  looks = 0
  t.same(judge.explain(asked, counted(0b10)), { kind: 'closed', rules: [0] })
  t.ok(looks < 10 * rules.length, `${looks} looks to explain it`)
  const opened = judge.explain(asked, counted(0b11))
  t.equal(opened.kind, 'opened')
  t.equal(opened.rules.length, depth, 'one rule of each path')
})

t.test('what is above all places that a path may stand for is looked at once', async (t) => {
  const below = Array.from({ length: 40 }, (_, at): AccessRule => {
    return { path: `/x/abcdef${at}`, allow: [{ signed_in: true }] }
  })
  const clauses = Array.from({ length: 50 }, () => ({ group: 'admins' }))
  const denying: AccessRule = { path: '/x', allow: [{ signed_in: true }], deny: clauses }
  const closed: AccessRule = { path: '/x', allow: clauses }
  const asked = { host: 'app.example.com', method: 'GET', path: '/x/ABCDEF~1' }
  let looks = 0
  const counted: AccessFacts = {
    ...facts(),
    get groupBits() {
      looks++
      return Uint8Array.of(0)
    },
  }
  const open = compileAccess(rulesOf([denying, ...below]), nothingExcluded)
  t.equal(open.judge(asked, counted).kind, 'allowed')
  t.equal(open.explain(asked, counted).kind, 'opened')
  t.equal(open.explain(asked, counted).rules.length, 41)
  t.ok(looks < 10 * clauses.length, `${looks} looks at ${clauses.length} clauses`)
  looks = 0
  const refused = compileAccess(rulesOf([closed, ...below]), nothingExcluded).judge(asked, counted)
  t.equal(refused.kind === 'denied' && refused.ways.length, clauses.length, 'each way told once')
  t.ok(looks < 10 * clauses.length, `${looks} looks to refuse it`)
})

t.test('a thousand paths that begin alike are still told apart', async (t) => {
  const many = Array.from({ length: 1000 }, (_, at): AccessRule => {
    return { path: `/api/v1/thing${at}`, allow: [{ group: at === 7 ? 'admins' : 'finance' }] }
  })
  t.ok(isOpen(many, { path: '/api/v1/thing7/x.json' }, admin))
  t.notOk(isOpen(many, { path: '/api/v1/thing8/x.json' }, admin))
  t.notOk(isOpen(many, { path: '/api/v1/thing8.json' }, admin))
})

t.test(
  'an unknown condition, an empty clause or list, and what cannot be compiled is refused',
  async (t) => {
    const whole = (rule: object) => v.is(EnforcedRulesSchema, { slots: [], rules: [rule] })
    t.ok(whole(ADMINS))
    for (const rule of [
      { path: '/x' },
      { path: '/x', allow: [] },
      { path: '/x', allow: [{}] },
      { path: '/x', allow: [{ group: 'a', cuntry: 'de' }] },
      { path: '/x', allow: [{ signed_in: true }], denny: [] },
      { path: '/x', allow: [{ signed_in: true }], deny: [{ strength: 'mfa' }] },
      { path: 'x', allow: [{ signed_in: true }] },
      { path: '/x', methods: [], allow: [{ signed_in: true }] },
      { path: '/x', allow: [{ signed_in: false }] },
      { path: '/x', allow: Array(LIMITS.ruleClausesMax + 1).fill({ signed_in: true }) },
    ])
      t.notOk(whole(rule), JSON.stringify(rule))
    t.throws(() => verdict([{ path: '/a/../b', allow: [{ signed_in: true }] }], {}))
    t.throws(() => verdict([{ path: '/x', allow: [{ network: 'nowhere' }] }], {}))
  },
)
