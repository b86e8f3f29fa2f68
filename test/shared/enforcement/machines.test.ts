/** Who is a machine, and what it meets: the decision core, as edge and middleware ask it. */
import t from 'tap'
import { compileAccess } from '../../../shared/enforcement/access-rules.ts'
import {
  decide,
  type Judged,
  type Outcome,
  type TenantRules,
} from '../../../shared/enforcement/decide.ts'
import { judgeAgain } from '../../../shared/enforcement/judge-again.ts'
import { compileServices, type MachineCredentials } from '../../../shared/enforcement/machines.ts'
import { compileExcluded, compileSealed } from '../../../shared/enforcement/path.ts'
import { createMachineReader } from '../../../shared/enforcement/read-machine.ts'
import {
  createSessionReader,
  type ProvenSession,
} from '../../../shared/enforcement/read-session.ts'
import { deriveKey } from '../../../shared/enforcement/seen.ts'
import { AccessRulesSchema } from '../../../shared/fleet/access-rules.ts'
import type { EnforcedServices } from '../../../shared/fleet/services.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { MACHINE_REASONS, MACHINE_TOKEN_REASONS } from '../../../shared/reasons.ts'
import * as v from 'valibot'
import { rulesOf, SERVICES } from '../../support/access-rules.ts'
import { identityOf, newSecret, secretOf } from '../../support/machines.ts'
import { newSigningKey } from '../../support/tokens.ts'
import { clockOf } from '../../support/clocks.ts'

const NOW = 1_800_000_000
const KEY = newSigningKey('k1')
const trust = { issuer: 'i', audience: 'a', keys: new Map([[KEY.kid, KEY.publicKey]]) }
const [CI, OTHER] = SERVICES
const [SECRET, NEXT, ENDED, OF_OTHER] = [newSecret(), newSecret(), newSecret(), newSecret()]
const OFFICE = '192.0.2.1'

const told = (change: Partial<EnforcedServices['services'][number]> = {}): EnforcedServices => ({
  services: [
    {
      service_id: CI,
      identity: identityOf(KEY, CI, trust, NOW - 60),
      secrets: [secretOf(SECRET, NOW + 60, 'one'), secretOf(NEXT, NOW + 600, 'two')],
      ...change,
    },
    {
      service_id: OTHER,
      identity: identityOf(KEY, OTHER, trust, NOW - 60),
      secrets: [secretOf(OF_OTHER, NOW + 600, 'three'), secretOf(ENDED, NOW, 'four')],
    },
  ],
})

const excluded = compileExcluded(['/open'])
const ACCESS = rulesOf([
  { path: '/', allow: [{ signed_in: true }] },
  { path: '/hooks', widen: true, allow: [{ service: CI }] },
  { path: '/hooks/inner', allow: [{ signed_in: true }] },
  { path: '/office', widen: true, allow: [{ service: CI, network: 'office' }] },
  { path: '/posted', widen: true, methods: ['POST'], allow: [{ service: CI }] },
  { path: '/both', widen: true, allow: [{ service: CI }], deny: [{ service: OTHER }] },
  { path: '/both/deeper', widen: true, allow: [{ service: OTHER }, { service: CI }] },
  { path: '/strong', widen: true, allow: [{ service: CI, strength: 'mfa' }, { strength: 'mfa' }] },
])
const tenantWith = (services: EnforcedServices | undefined, isRuled = true) => ({
  tenantId: 'acme',
  status: 'published' as const,
  protection: 'on' as const,
  sealed: compileSealed(['/admin']),
  excluded,
  access: isRuled ? compileAccess(ACCESS, excluded) : undefined,
  services: compileServices(services),
  trust,
  sessionRules: { sessionSecondsMax: 28_800, idleSeconds: 900, binding: 'off' as const },
  seenKeys: [deriveKey('a secret', 'seen')] as const,
})
const TENANT = tenantWith(told())

interface More {
  readonly tenant?: ReturnType<typeof tenantWith>
  readonly machine?: MachineCredentials | undefined
  readonly cookies?: string
  readonly clientAddress?: string
  readonly nowSeconds?: number
  readonly judged?: Partial<Judged<never>>
}
const bringing = (id: string, secret: string) => ({ ids: [id], secrets: [secret] })
const RIGHT = bringing(CI, SECRET)

/** Asked of one reader, as by one worker. */
function newEdge() {
  const clock = clockOf(() => NOW * 1000)
  const sessions = createSessionReader<undefined>({ carry: () => undefined })
  const machines = createMachineReader<undefined>({ sessions, clock })
  return (path: string, more: More = {}) => {
    const { tenant = TENANT, cookies = '', clientAddress = '203.0.113.1', nowSeconds = NOW } = more
    const machine = Object.hasOwn(more, 'machine') ? more.machine : RIGHT
    const asked: Judged<ProvenSession<undefined>> = {
      ...{ host: 'app.example.com', method: 'GET', methodOverrides: [], path, clientAddress },
      ...{ nowSeconds, isNavigation: true, isUpgrade: false, isFromOwnOrigin: true },
      ...{ isStateLost: false, isNetworkUnknown: false },
      machineBrings: machine === undefined ? undefined : 'secret',
      readSession: () =>
        sessions.read({
          ...{ cookies, userAgent: '', clientAddress, isCookieSecure: false, nowSeconds, tenant },
          revoked: { all: 0, subjects: new Map(), sids: new Map() },
        }),
      readMachine: () =>
        machines.read({
          ...{ machine, authorization: '', cookies, clientAddress, nowSeconds, tenant },
        }),
      ...more.judged,
    }
    return decide(tenant as TenantRules, asked)
  }
}
const ask = (path: string, more?: More): Outcome<unknown> => newEdge()(path, more)

const refused = (reason: string, status: number) => ({ kind: 'refuse', reason, status })
const NAMED = { kind: 'forward', reason: 'machine', session: { claims: { sub: CI } } }
const NOT_ALLOWED = refused('machine_not_allowed', 403)

t.test('it opens what names it, and nothing else', async (t) => {
  t.match(ask('/hooks/1'), { ...NAMED, machine: { serviceId: CI, secretId: 'one' }, cookies: [] })
  t.match(ask('/hooks/1', { machine: bringing(CI, NEXT) }), { machine: { secretId: 'two' } })
  t.match(ask('/hooks/1', { machine: bringing(OTHER, OF_OTHER) }), NOT_ALLOWED, 'another machine')
  t.match(ask('/hooks/inner'), NOT_ALLOWED, 'the most specific path decides')
  t.match(ask('/x'), NOT_ALLOWED, 'what is open to people')
  t.match(ask('/x', { tenant: tenantWith(told(), false) }), NOT_ALLOWED, 'no rules at all')
  t.match(ask('/office'), NOT_ALLOWED)
  t.match(ask('/office', { clientAddress: OFFICE }), NAMED)
  t.match(ask('/office', { clientAddress: '' }), NOT_ALLOWED, 'nobody knows from where')
  t.match(ask('/posted'), NOT_ALLOWED)
  t.match(ask('/posted', { judged: { method: 'POST' } }), NAMED)
  const overridden = { method: 'POST', methodOverrides: ['DELETE'] }
  t.match(ask('/posted', { judged: overridden }), NOT_ALLOWED)
  t.match(ask('/hooks/1', { judged: { methodOverrides: ['A,B,C,D'] } }), NOT_ALLOWED)
  t.match(ask('/both', { machine: bringing(OTHER, OF_OTHER) }), NOT_ALLOWED)
  t.match(ask('/both/deeper', { machine: bringing(OTHER, OF_OTHER) }), NOT_ALLOWED, 'denies add up')
  t.match(ask('/both/deeper'), NAMED, 'of others they say nothing')
  t.match(ask('/strong'), NOT_ALLOWED, 'it has no second factor, and is not asked for one')
  t.match(ask('/admin'), refused('sealed', 404))
  for (const path of ['/hooks/..%2fx', '/%68ooks/1', '/x/..;/hooks', '/index.php/hooks', '/HOOKS'])
    t.match(ask(path), { kind: 'refuse' }, path)
})

t.test('no other reading of a path opens it', async (t) => {
  const access = compileAccess(rulesOf([{ path: '/hooks', allow: [{ service: CI }] }]), excluded)
  const tenant = { ...TENANT, access }
  t.match(ask('/hooks/1', { tenant }), NAMED)
  for (const path of ['/x/../hooks/1', '/a/..;/hooks', '/index.php/hooks', '/%68ooks', '/HOOKS/1'])
    t.match(ask(path, { tenant }), { kind: 'refuse' }, path)
})

t.test('what is no right secret opens nothing, and sends nobody to sign in', async (t) => {
  const withMachine = (ids: string[], secrets: string[]) =>
    ask('/hooks/1', { machine: { ids, secrets } })
  const malformed = refused('machine_malformed', 401)
  t.match(withMachine([], [SECRET]), malformed)
  t.match(withMachine([CI], []), malformed)
  t.match(withMachine([CI, CI], [SECRET]), malformed, 'twice')
  t.match(withMachine([CI], [SECRET, SECRET]), malformed, 'twice')
  t.match(withMachine([SECRET], [CI]), malformed, 'each in the other’s place')
  t.match(withMachine([`${CI}, ${CI}`], [SECRET]), malformed)
  t.match(withMachine([CI], [`${SECRET} `]), malformed)
  t.match(withMachine([CI.toUpperCase()], [SECRET]), malformed)
  t.match(withMachine(['__proto__'], [SECRET]), malformed)
  const unknown = refused('machine_unknown', 401)
  t.match(withMachine([CI], [newSecret()]), unknown)
  t.match(withMachine([CI], [OF_OTHER]), unknown, 'the secret of another')
  t.match(
    withMachine(['svc_00000000000000cc'], [SECRET]),
    unknown,
    'told the same as a wrong secret',
  )
  t.match(withMachine([OTHER], [ENDED]), refused('machine_secret_ended', 401))
  const late = { nowSeconds: NOW + 60 }
  t.match(ask('/hooks/1', { nowSeconds: NOW + 59 }), NAMED)
  t.match(ask('/hooks/1', late), refused('machine_secret_ended', 401), 'at its very second')
  t.match(ask('/hooks/1', { ...late, machine: bringing(CI, NEXT) }), NAMED, 'the next one goes on')
  const disabled = tenantWith(told({ is_disabled: true }))
  t.match(ask('/hooks/1', { tenant: disabled }), refused('machine_disabled', 401))
  const wrong = bringing(CI, newSecret())
  t.match(ask('/hooks/1', { tenant: disabled, machine: wrong }), unknown, 'told to who knows it')
  t.match(
    ask('/hooks/1', { cookies: 'a=1; service_session=x' }),
    refused('machine_with_session', 401),
  )
  t.match(ask('/hooks/1', { cookies: 'a=1; service_seen=x' }), NAMED)
  t.match(ask('/admin', { machine: wrong }), refused('sealed', 404))
  t.match(ask('/hooks/1', { judged: { isStateLost: true } }), refused('state_lost', 503))
  const stale = tenantWith(
    told({ identity: identityOf(KEY, CI, trust, NOW - LIMITS.serviceIdentitySeconds) }),
  )
  t.match(ask('/hooks/1', { tenant: stale }), refused('state_lost', 503), 'nobody would believe it')
  const forged = tenantWith(told({ identity: identityOf(newSigningKey('k1'), CI, trust, NOW) }))
  t.match(ask('/hooks/1', { tenant: forged }), refused('state_lost', 503))
  t.equal(MACHINE_REASONS.length - MACHINE_TOKEN_REASONS.length, 7, 'of those by secret')
})

t.test('a tenant without machines does not look', async (t) => {
  for (const services of [undefined, { services: [] }]) {
    const tenant = tenantWith(services)
    const judged = {
      readMachine() {
        throw new Error('it was looked at')
      },
    }
    t.match(ask('/hooks/1', { tenant, judged }), { kind: 'sign_in', reason: 'no_session' })
    t.match(ask('/open', { tenant, judged }), { kind: 'forward', reason: 'excluded' })
  }
})

t.test('where everybody is let in it is named if it is known', async (t) => {
  const open = { kind: 'forward', reason: 'excluded' }
  t.match(ask('/open'), { ...open, session: { claims: { sub: CI } } })
  const wrong = bringing(CI, newSecret())
  t.match(ask('/open', { machine: wrong }), { ...open, session: undefined })
  t.match(ask('/open', { cookies: 'service_session=x' }), { ...open, session: undefined })
  const before = { ...TENANT, protection: 'pass-through' as unknown as 'on' }
  t.match(ask('/x', { tenant: before }), { reason: 'pass_through', machine: { secretId: 'one' } })
})

t.test('a WebSocket is its own wherever it says that it comes from', async (t) => {
  t.match(ask('/hooks/1', { judged: { isUpgrade: true, isFromOwnOrigin: false } }), NAMED)
})

t.test(
  'a right one comes in, however many wrong ones its neighbours behind one address bring',
  async (t) => {
    const edge = newEdge()
    const wrong = bringing(CI, newSecret())
    for (let count = 0; count < 3 * LIMITS.rateServiceFailures.burst; count++) {
      edge('/hooks/1', { machine: wrong })
      t.match(edge('/hooks/1'), NAMED)
    }
    t.match(edge('/open'), { ...NAMED, reason: 'excluded' })
  },
)

t.test('wrong credentials are counted by address, for this tenant alone', async (t) => {
  const edge = newEdge()
  const wrong = bringing(CI, newSecret())
  const { burst } = LIMITS.rateServiceFailures
  for (let count = 0; count < burst; count++)
    t.match(edge('/hooks/1', { machine: wrong }), { reason: 'machine_unknown' })
  const tooMany = refused('machine_rate_limited', 429)
  for (let count = 0; count < burst; count++) t.match(edge('/hooks/1', { machine: wrong }), tooMany)
  t.match(edge('/hooks/1', { machine: bringing(CI, 'sms_x') }), tooMany, 'of whatever form')
  t.match(edge('/open', { machine: wrong }), { kind: 'forward', session: undefined })
  t.match(edge('/hooks/1', { clientAddress: OFFICE }), NAMED)
  t.match(edge('/hooks/1', { tenant: { ...TENANT, tenantId: 'other' } }), NAMED)
  const patient = newEdge()
  for (let count = 0; count <= burst; count++) t.match(patient('/hooks/1'), NAMED)
  for (let count = 0; count <= burst; count++) t.match(patient('/x'), NOT_ALLOWED)
})

t.test('what names it to the application is nobody’s session', async (t) => {
  const cookies = `service_session=${identityOf(KEY, CI, trust, NOW)}`
  const asked = { cookies, machine: undefined }
  t.match(ask('/x', asked), { kind: 'sign_in', reason: 'claims_malformed' })
  t.match(ask('/hooks/1', asked), { kind: 'sign_in', reason: 'claims_malformed' })
  const reader = createSessionReader({ carry: () => undefined })
  const request = {
    ...{ cookies, userAgent: '', clientAddress: '', isCookieSecure: false, nowSeconds: NOW },
    ...{ tenant: TENANT, revoked: { all: 0, subjects: new Map(), sids: new Map() } },
  }
  t.same(reader.allOf(request), [], 'and ends none')
  t.equal(reader.claimsOf(request), undefined)
})

t.test('what it has open ends with its secret', async (t) => {
  const letIn = ask('/hooks/1') as unknown as { session: never; machine: never }
  const { session, machine } = letIn
  const again = (tenant: typeof TENANT, nowSeconds = NOW) =>
    judgeAgain({
      ...{ host: 'app.example.com', method: 'GET', methodOverrides: [] },
      ...{ path: '/hooks/1', clientAddress: '' },
      ...{ session, machine, allowedBy: TENANT, allowedSeconds: NOW, tenant, nowSeconds },
      ...{ usedSeconds: 0, boundTo: '', fingerprint: '' },
      revoked: { all: NOW, subjects: new Map(), sids: new Map() },
    })
  t.equal(again(TENANT), undefined, 'nothing is idle, and no end of sessions concerns it')
  t.equal(again(tenantWith(told())), undefined)
  t.match(again(TENANT, NOW + 60), { reason: 'machine_secret_ended' })
  const kept = told().services[0]!.secrets.slice(1)
  t.match(again(tenantWith(told({ secrets: kept }))), { reason: 'machine_unknown' })
  t.match(again(tenantWith(told({ is_disabled: true }))), { reason: 'machine_disabled' })
  t.match(again(tenantWith(undefined)), { reason: 'machine_unknown' })
  t.match(again(tenantWith(told(), false)), { reason: 'machine_not_allowed' }, 'the rule is gone')
})

t.test('a clause for machines asks for nothing that only people have', async (t) => {
  const parse = (clause: object, list = 'allow') =>
    v.safeParse(AccessRulesSchema, {
      rules: [{ path: '/a', allow: [{ signed_in: true }], [list]: [clause] }],
    }).success
  for (const list of ['allow', 'deny']) {
    t.ok(parse({ service: CI }, list))
    t.ok(parse({ service: CI, network: 'office' }, list))
    t.ok(parse({ service: CI, not_network: 'office' }, list))
    for (const other of [{ group: 'a' }, { not_group: 'a' }, { signed_in: true }])
      t.notOk(parse({ service: CI, ...other }, list), JSON.stringify(other))
    for (const service of ['svc_1', 'CI', '', null]) t.notOk(parse({ service }, list))
  }
  t.notOk(parse({ service: CI, strength: 'mfa' }))
  t.notOk(parse({ service: CI, max_age: 60 }))
})
