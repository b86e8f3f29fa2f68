/** The decision itself, cell by cell: what the edge and the middleware only carry out. */
import t from 'tap'
import {
  decide,
  type Judged,
  type SessionVerdict,
  type TenantRules,
} from '../../../shared/enforcement/decide.ts'
import { compileAccess } from '../../../shared/enforcement/access-rules.ts'
import { compileExcluded, compileSealed } from '../../../shared/enforcement/path.ts'
import { rulesOf } from '../../support/access-rules.ts'

const RULES: TenantRules = {
  status: 'published',
  protection: 'on',
  sealed: compileSealed(['/admin']),
  excluded: compileExcluded(['/health', '/open']),
  access: undefined,
  services: undefined,
}
const PASS_THROUGH: TenantRules = { ...RULES, protection: 'pass-through' }
const SUSPENDED: TenantRules = { ...RULES, status: 'suspended' }

const CLAIMS = { sub: 'u', sid: 's1', iat: 9_990, exp: 20_000, nbf: 0, authTime: 9_500 }
const NAMES = { acr: 'aal1', amr: [], email: '', name: '' }
const SESSION = { claims: { ...CLAIMS, ...NAMES, groupBits: Uint8Array.of(1), groupsVersion: 1 } }
const VALID: SessionVerdict<typeof SESSION> = {
  kind: 'valid',
  session: SESSION,
  cookies: ['service_seen=new'],
  isSeenDue: true,
}
const NONE: SessionVerdict<never> = { kind: 'invalid', reason: 'no_session' }
type Asked = Partial<Judged<typeof SESSION>>

function asked(path: string, more: Asked = {}): Judged<typeof SESSION> {
  const request = { isUpgrade: false, isFromOwnOrigin: true, isStateLost: false }
  const where = { host: 'app.example.com', method: 'GET', clientAddress: '203.0.113.1' }
  const who = { nowSeconds: 10_000, isNavigation: true }
  return {
    path,
    ...where,
    ...who,
    ...request,
    isNetworkUnknown: false,
    methodOverrides: [],
    readSession: () => NONE,
    machineBrings: undefined,
    readMachine: () => ({ kind: 'refused', reason: 'machine_unknown' }),
    ...more,
  }
}
const signedIn: Asked = { readSession: () => VALID }
const foreignPage: Asked = { isUpgrade: true, isFromOwnOrigin: false }
const unread: Asked = {
  readSession() {
    throw new Error('the session was looked at')
  },
}

const named = { kind: 'forward', session: SESSION, cookies: VALID.cookies, isSeenDue: true }
const nobody = { kind: 'forward', session: undefined, cookies: [], isSeenDue: false }
const refused = (reason: string, status: number) => ({ kind: 'refuse', reason, status })

const CASES: readonly (readonly [string, TenantRules, Judged<typeof SESSION>, object])[] = [
  [
    'a suspended tenant serves nothing',
    SUSPENDED,
    asked('/health', unread),
    refused('suspended', 503),
  ],
  ['nor its own paths', SUSPENDED, asked('/service/login', unread), refused('suspended', 503)],
  ['sealed is 404, unseen', RULES, asked('/admin/x', unread), refused('sealed', 404)],
  ['and for who is signed in', RULES, asked('/Admin', signedIn), refused('sealed', 404)],
  ['what cannot be read is 400', RULES, asked('/%', unread), refused('path_unreadable', 400)],
  ['its own paths', RULES, asked('/service/me', unread), { kind: 'service', endpoint: 'me' }],
  ['and no others', RULES, asked('/service/else'), { kind: 'sign_in', reason: 'no_session' }],
  ['an excluded path is for everybody', RULES, asked('/health'), { ...nobody, reason: 'excluded' }],
  [
    'who is signed in is named there',
    RULES,
    asked('/health', signedIn),
    { ...named, reason: 'excluded' },
  ],
  ['a session opens the rest', RULES, asked('/a', signedIn), { ...named, reason: 'session' }],
  ['and none does not', RULES, asked('/a'), { kind: 'sign_in', reason: 'no_session' }],
  [
    'without protection all is open',
    PASS_THROUGH,
    asked('/admin'),
    { ...nobody, reason: 'pass_through' },
  ],
  [
    'and names who is signed in',
    PASS_THROUGH,
    asked('/a', signedIn),
    { ...named, reason: 'pass_through' },
  ],
  [
    'a WebSocket of another site is refused where a session opens',
    RULES,
    asked('/a', { ...signedIn, ...foreignPage }),
    refused('origin_foreign', 403),
  ],
  [
    'and names nobody where everybody may',
    RULES,
    asked('/health', { ...signedIn, ...foreignPage }),
    { ...nobody, reason: 'excluded', isForeignPage: true },
  ],
  [
    'without protection as well',
    PASS_THROUGH,
    asked('/a', { ...signedIn, ...foreignPage }),
    { ...nobody, reason: 'pass_through', isForeignPage: true },
  ],
  [
    'of whom nobody would be named its page does not matter',
    RULES,
    asked('/health', foreignPage),
    { ...nobody, reason: 'excluded', isForeignPage: false },
  ],
  [
    'a WebSocket of its own page is let in',
    RULES,
    asked('/a', { ...signedIn, isUpgrade: true }),
    { ...named, reason: 'session', isForeignPage: false },
  ],
  [
    'whose page asks for anything else is the browser’s matter',
    RULES,
    asked('/a', { ...signedIn, isFromOwnOrigin: false }),
    { ...named, reason: 'session' },
  ],
  ...(['/a', '/service/login', '/service/logout', '/service/me'] as const).map(
    (path) =>
      [
        `who does not know who may come in lets nobody in: ${path}`,
        RULES,
        asked(path, { ...unread, isStateLost: true }),
        refused('state_lost', 503),
      ] as const,
  ),
  [
    'not without protection either',
    PASS_THROUGH,
    asked('/a', { ...unread, isStateLost: true }),
    refused('state_lost', 503),
  ],
  [
    'but sealed stays sealed',
    RULES,
    asked('/admin', { ...unread, isStateLost: true }),
    refused('sealed', 404),
  ],
  [
    'and what everybody may see stays visible, to nobody in particular',
    RULES,
    asked('/health', { ...unread, isStateLost: true }),
    { ...nobody, reason: 'excluded' },
  ],
  [
    'nor by way of a WebSocket of another site',
    RULES,
    asked('/health', { ...unread, ...foreignPage, isStateLost: true }),
    { ...nobody, reason: 'excluded', isForeignPage: true },
  ],
  ...(['/a', '/service/login', '/service/callback'] as const).map(
    (path) =>
      [
        `who comes from nowhere is not sent round in circles: ${path}`,
        RULES,
        asked(path, { isNetworkUnknown: true }),
        refused('client_unreadable', 503),
      ] as const,
  ),
  [
    'and may sign out',
    RULES,
    asked('/service/logout', { isNetworkUnknown: true }),
    { kind: 'service', endpoint: 'logout' },
  ],
  [
    'a session that holds all the same is let in',
    RULES,
    asked('/a', { ...signedIn, isNetworkUnknown: true }),
    { ...named, reason: 'session' },
  ],
]

const ACCESS = rulesOf([
  { path: '/finance', allow: [{ group: 'finance' }] },
  { path: '/admins', allow: [{ group: 'admins' }] },
  { path: '/strong', allow: [{ group: 'admins', strength: 'mfa', max_age: 900 }] },
  { path: '/papers', methods: ['DELETE'], allow: [{ group: 'finance' }] },
  { path: '/papers', methods: ['POST', 'PATCH'], allow: [{ group: 'admins' }] },
  { path: '/open/inner', allow: [{ group: 'finance' }] },
])
const RULED: TenantRules = { ...RULES, access: compileAccess(ACCESS, RULES.excluded) }
const of = (claims: object) => ({ ...SESSION, claims: { ...SESSION.claims, ...claims } })
const signedInAs = (claims: object): Asked => ({
  readSession: () => ({ ...VALID, session: of(claims) }),
})
const OLD = { iat: 9_000 }
const RULED_CASES: typeof CASES = [
  ['a rule lets in whom it names', RULED, asked('/admins', signedIn), { kind: 'forward' }],
  ['and nobody else', RULED, asked('/finance', signedIn), refused('rule_denied', 403)],
  ['in no spelling', RULED, asked('/FINANCE/%61', signedIn), refused('rule_denied', 403)],
  ['a path that no rule speaks of is open', RULED, asked('/a', signedIn), { kind: 'forward' }],
  [
    'who is not signed in signs in',
    RULED,
    asked('/finance'),
    { kind: 'sign_in', reason: 'no_session' },
  ],
  [
    'an older token is asked for anew, once',
    RULED,
    asked('/finance', signedInAs(OLD)),
    { kind: 'sign_in', reason: 'groups_outdated' },
  ],
  [
    'but not for a program',
    RULED,
    asked('/finance', { ...signedInAs(OLD), isNavigation: false }),
    refused('rule_denied', 403),
  ],
  [
    'where only strength is missing a stronger sign-in is asked for',
    RULED,
    asked('/strong', signedIn),
    { kind: 'sign_in', reason: 'strength_missing', maxAge: 900 },
  ],
  [
    'but not of who has just signed in, and has no more',
    RULED,
    asked('/strong', signedInAs({ authTime: 9_990 })),
    refused('rule_denied', 403),
  ],
  [
    'with it the path opens',
    RULED,
    asked('/strong', signedInAs({ authTime: 9_990, acr: 'aal2' })),
    { kind: 'forward' },
  ],
  ...(
    [
      ['a method that is open', ['patch'], { kind: 'forward' }],
      ['one that is not', ['delete'], refused('rule_denied', 403)],
      ['one that is not, of several', ['PATCH, Delete'], refused('rule_denied', 403)],
      [
        'one that is not, in the third header',
        ['PATCH', '', 'DELETE'],
        refused('rule_denied', 403),
      ],
      ['more of them than anybody uses', ['A,B,C,D'], refused('rule_denied', 403)],
      ['the same one a few times', ['PATCH, patch', 'PATCH'], { kind: 'forward' }],
      // 5,000 names in a head took a worker longer than all else that is decided
      ['the same one in a head that is full', ['PATCH,'.repeat(2000)], refused('rule_denied', 403)],
      ['nothing', [' '], { kind: 'forward' }],
    ] as const
  ).map(
    ([title, methodOverrides, outcome]) =>
      [
        `headers name another method: ${title}`,
        RULED,
        asked('/papers/1', { ...signedIn, method: 'POST', methodOverrides }),
        outcome,
      ] as const,
  ),
  [
    'what is open for everybody stays so',
    RULED,
    asked('/open/x'),
    { kind: 'forward', reason: 'excluded' },
  ],
  [
    'but for a rule inside of it',
    RULED,
    asked('/open/inner/x'),
    { kind: 'sign_in', reason: 'no_session' },
  ],
  [
    'before go-live nothing is enforced',
    { ...RULED, protection: 'pass-through' },
    asked('/finance'),
    { kind: 'forward', reason: 'pass_through' },
  ],
]

for (const [title, rules, request, outcome] of [...CASES, ...RULED_CASES])
  t.test(title, async (t) => t.match(decide(rules, request), outcome))
