/** Tokens of machines, and all that is none: the decision core, as edge and middleware ask it. */
import t from 'tap'
import { compileAccess } from '../../../shared/enforcement/access-rules.ts'
import { decide, type Judged, type TenantRules } from '../../../shared/enforcement/decide.ts'
import { judgeAgain } from '../../../shared/enforcement/judge-again.ts'
import { namesIssuer } from '../../../shared/enforcement/machine-token.ts'
import { compileServices } from '../../../shared/enforcement/machines.ts'
import { compileExcluded, compileSealed } from '../../../shared/enforcement/path.ts'
import { createMachineReader } from '../../../shared/enforcement/read-machine.ts'
import {
  createSessionReader,
  type ProvenSession,
} from '../../../shared/enforcement/read-session.ts'
import { deriveKey } from '../../../shared/enforcement/seen.ts'
import { proveToken } from '../../../shared/enforcement/token.ts'
import type { EnforcedServices } from '../../../shared/fleet/services.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { MACHINE_TOKEN_REASONS } from '../../../shared/reasons.ts'
import { rulesOf, SERVICES } from '../../support/access-rules.ts'
import {
  identityOf,
  machineTokenOf,
  newSecret,
  SECRET_ID,
  secretOf,
} from '../../support/machines.ts'
import { encode, newSigningKey, signHs256, signRs256 } from '../../support/tokens.ts'
import { clockOf } from '../../support/clocks.ts'

const NOW = 1_800_000_000
const [KEY, STRANGER] = [newSigningKey('k1'), newSigningKey('k1')]
const issuer = 'https://id.example.com/auth/realms/acme'
const audience = 'acme-user'
const trust = { issuer, audience, keys: new Map([[KEY.kid, KEY.publicKey]]) }
const [CI, OTHER] = SERVICES
const SECRET = newSecret()

const told = (change: Partial<EnforcedServices['services'][number]> = {}): EnforcedServices => ({
  services: [
    {
      service_id: CI,
      identity: identityOf(KEY, CI, trust, NOW - 60),
      secrets: [secretOf(SECRET, NOW + 3600, SECRET_ID)],
      ...change,
    },
  ],
})
const excluded = compileExcluded(['/open'])
const ACCESS = rulesOf([{ path: '/hooks', allow: [{ service: CI }] }])
const tenantWith = (services: EnforcedServices | undefined) => ({
  tenantId: 'acme',
  status: 'published' as const,
  protection: 'on' as 'on' | 'pass-through',
  sealed: compileSealed(['/admin']),
  excluded,
  access: compileAccess(ACCESS, excluded),
  services: compileServices(services),
  trust,
  sessionRules: { sessionSecondsMax: 28_800, idleSeconds: 900, binding: 'off' as const },
  seenKeys: [deriveKey('a secret', 'seen')] as const,
})
const TENANT = tenantWith(told())

interface More {
  readonly tenant?: ReturnType<typeof tenantWith>
  readonly cookies?: string
  readonly machine?: { readonly ids: string[]; readonly secrets: string[] }
  readonly nowSeconds?: number
  readonly isStateLost?: boolean
}

/** Asked of one reader, as by one worker. */
function newEdge() {
  const clock = clockOf(() => NOW * 1000)
  const sessions = createSessionReader<undefined>({ carry: () => undefined })
  const machines = createMachineReader<undefined>({ sessions, clock })
  return (path: string, authorization: string, more: More = {}) => {
    const { tenant = TENANT, cookies = '', machine, nowSeconds = NOW, isStateLost = false } = more
    const clientAddress = '203.0.113.1'
    const asked: Judged<ProvenSession<undefined>> = {
      ...{ host: 'app.example.com', method: 'GET', methodOverrides: [], path, clientAddress },
      ...{ nowSeconds, isNavigation: false, isUpgrade: false, isFromOwnOrigin: true },
      ...{ isStateLost, isNetworkUnknown: false },
      machineBrings: machines.brings({ machine, authorization, tenant }),
      readSession: () =>
        sessions.read({
          ...{ cookies, userAgent: '', clientAddress, isCookieSecure: false, nowSeconds, tenant },
          revoked: { all: 0, subjects: new Map(), sids: new Map() },
        }),
      readMachine: () =>
        machines.read({ machine, authorization, cookies, clientAddress, nowSeconds, tenant }),
    }
    return decide(tenant as TenantRules, asked)
  }
}
const ask: ReturnType<typeof newEdge> = (...asked) => newEdge()(...asked)

const TOKEN = machineTokenOf(KEY, CI, trust, NOW)
const BEARER = `Bearer ${TOKEN}`
const tokenWith = (claims: object, head: object = {}) =>
  `Bearer ${machineTokenOf(KEY, CI, trust, NOW, { ...claims }, { ...head })}`
const refused = (reason: string, status = 401) => ({ kind: 'refuse', reason, status })
const INVALID = refused('machine_token_invalid')
const NO_SESSION = { kind: 'sign_in', reason: 'no_session' }

t.test('it opens what its machine may open, until it ends', async (t) => {
  const edge = newEdge()
  const pass = { serviceId: CI, secretId: SECRET_ID, tokenEndsAt: NOW + 600 }
  const named = { kind: 'forward', reason: 'machine', session: { claims: { sub: CI } } }
  t.match(edge('/hooks/1', BEARER), { ...named, machine: pass, cookies: [] })
  for (const spelling of [`bearer ${TOKEN}`, `BEARER  ${TOKEN}`])
    t.match(edge('/hooks', spelling), named, spelling.slice(0, 8))
  t.match(edge('/work', BEARER), refused('machine_not_allowed', 403), 'no rule names it there')
  t.match(edge('/admin', BEARER), refused('sealed', 404))
  t.match(edge('/open', BEARER), { kind: 'forward', reason: 'excluded', machine: pass })
  t.match(edge('/hooks', BEARER, { nowSeconds: NOW + 599 }), named)
  t.match(edge('/hooks', BEARER, { nowSeconds: NOW + 600 }), refused('machine_token_expired'))
  t.match(edge('/hooks', BEARER, { nowSeconds: NOW - 61 }), INVALID, 'issued ahead')
})

t.test('it ends with its secret, its machine and its key, proven or not', async (t) => {
  const edge = newEdge()
  t.match(edge('/hooks', BEARER), { kind: 'forward' }, 'remembered from here on')
  const revoked = refused('machine_token_revoked')
  const ended: Record<string, ReturnType<typeof told>> = {
    revoked: told({ secrets: [] }),
    'replaced by another': told({ secrets: [secretOf(SECRET, NOW + 60, 'ssk_00000000000000aa')] }),
    'at its end': told({ secrets: [secretOf(SECRET, NOW, SECRET_ID)] }),
    disabled: told({ is_disabled: true }),
    deleted: told({ service_id: OTHER, identity: identityOf(KEY, OTHER, trust, NOW) }),
  }
  for (const [name, services] of Object.entries(ended)) {
    t.match(edge('/hooks', BEARER, { tenant: tenantWith(services) }), revoked, name)
    t.match(edge('/open', BEARER, { tenant: tenantWith(services) }), revoked, `${name}, open path`)
  }
  const next = newSigningKey('k2')
  const keys = new Map([[next.kid, next.publicKey]])
  const moved = { ...TENANT, trust: { ...trust, keys } }
  t.match(edge('/hooks', BEARER, { tenant: moved }), { ...INVALID, isKeyUnknown: true })
})

t.test('nothing else that the realm signs, and nothing that it did not sign', async (t) => {
  const attacks: Record<string, string> = {
    'an ID token': tokenWith({ sid: 's', sub: 'ada', client_id: undefined }, { typ: 'JWT' }),
    'without a typ': tokenWith({}, { typ: undefined }),
    'what names it to applications': `Bearer ${identityOf(KEY, CI, trust, NOW)}`,
    'a token of a person': tokenWith({ sub: 'usr_1', client_id: 'acme-user' }),
    'a person as its own client': tokenWith({ sub: 'usr_1', client_id: 'usr_1' }),
    'a probe': tokenWith({}, { typ: 'service-probe+jwt' }),
    'of a device': tokenWith({}, { typ: 'device+jwt' }),
    'for another client': tokenWith({ client_id: OTHER }),
    'for another application': tokenWith({ aud: 'bolt-user' }),
    'for two applications': tokenWith({ aud: [audience, 'bolt-user'] }),
    'for none': tokenWith({ aud: undefined }),
    'without a secret': tokenWith({ secret_id: undefined }),
    'of no such secret': tokenWith({ secret_id: '__proto__' }),
    'for longer than any': tokenWith({ exp: NOW + 601 }),
    'for ever': tokenWith({ exp: undefined }),
    'with a text for a time': tokenWith({ exp: String(NOW + 60) }),
    'of tomorrow': tokenWith({ nbf: NOW + 1 }),
    'alg none': `Bearer ${encode({ alg: 'none', typ: 'at+jwt' })}.${TOKEN.split('.')[1]}.`,
    'alg none, with a signature': tokenWith({}, { alg: 'none' }),
    'alg HS256 with the public key': `Bearer ${signHs256(
      KEY.publicKey.export({ type: 'spki', format: 'pem' }),
      { alg: 'HS256', kid: KEY.kid, typ: 'at+jwt' },
      JSON.parse(Buffer.from(TOKEN.split('.')[1]!, 'base64url').toString()),
    )}`,
    'a key that it brings': `Bearer ${machineTokenOf(
      STRANGER,
      CI,
      trust,
      NOW,
      {},
      { jwk: STRANGER.publicKey.export({ format: 'jwk' }) },
    )}`,
    'a key by its address': tokenWith({}, { jku: 'https://evil.example/jwks' }),
    'critical extensions': tokenWith({}, { crit: ['exp'] }),
    'signed by a stranger': `Bearer ${machineTokenOf(STRANGER, CI, trust, NOW)}`,
    'without its end': `Bearer ${TOKEN.slice(0, -1)}`,
    padded: `Bearer ${TOKEN}=`,
    oversized: `Bearer ${machineTokenOf(KEY, CI, trust, NOW, { pad: 'x'.repeat(9000) })}`,
    'by another scheme': `Token ${TOKEN}`,
    'without a scheme': TOKEN,
    'as a password': `Basic ${TOKEN}`,
    'in quotes': `Bearer "${TOKEN}"`,
    'with a parameter': `Bearer token=${TOKEN}`,
    'behind a tab': `Bearer\t${TOKEN}`,
    'with something behind it': `Bearer ${TOKEN} x`,
  }
  const edge = newEdge()
  t.match(edge('/hooks', BEARER), { kind: 'forward' }, 'the very token is remembered')
  const [head = '', payload = '', signature = ''] = TOKEN.split('.')
  for (const moved of [encode({ iss: issuer }), payload.replace(/^.{8}/, 'eyJpc3MX')]) {
    const alike = `Bearer ${head}.${moved}.${signature}`
    t.match(edge('/open', alike), INVALID, 'by its whole text, and not by its end')
  }
  for (const [name, authorization] of Object.entries(attacks)) {
    t.match(ask('/hooks', authorization), INVALID, name)
    t.match(ask('/open', authorization), INVALID, `${name}, on an open path`)
  }
  const unknown = tokenWith({}, { kid: 'k9' })
  t.match(ask('/hooks', unknown), { ...INVALID, isKeyUnknown: true }, 'a key that nobody knows')
  t.match(ask('/hooks', tokenWith({}, { kid: undefined })), INVALID)
  const before = tenantWith(told())
  const passThrough = { ...before, protection: 'pass-through' as const }
  const forged = attacks['signed by a stranger']!
  t.match(ask('/hooks', forged, { tenant: passThrough }), INVALID, 'before go-live as well')
  t.match(ask('/hooks', BEARER, { tenant: passThrough }), { reason: 'pass_through' })
  const lost = refused('state_lost', 503)
  t.match(ask('/open', BEARER, { isStateLost: true }), lost, 'nobody could say whose it is')
})

t.test('a request says one thing of who sends it', async (t) => {
  const ambiguous = refused('machine_token_ambiguous', 400)
  const machine = { ids: [CI], secrets: [SECRET] }
  t.match(ask('/hooks', BEARER, { machine }), ambiguous, 'with its secret')
  t.match(ask('/hooks', `${BEARER}, ${BEARER}`), ambiguous, 'two lines')
  t.match(ask('/hooks', `Basic eDp5, ${BEARER}`), ambiguous, 'the second line')
  t.match(ask('/hooks', `${BEARER}, Basic eDp5`), ambiguous)
  t.match(ask('/hooks', BEARER, { cookies: 'service_session=x' }), ambiguous, 'with a session')
})

t.test('the application’s own tokens are none of our business', async (t) => {
  const own = signRs256(
    STRANGER,
    { alg: 'RS256', typ: 'at+jwt' },
    { iss: 'https://app', idp: issuer },
  )
  const ofNeighbour = { issuer: `${issuer}-2`, audience }
  const others: Record<string, string> = {
    none: '',
    opaque: 'Bearer 7f3a.b.c',
    'its own': `Bearer ${own}`,
    'of another realm': `Bearer ${machineTokenOf(KEY, CI, ofNeighbour, NOW)}`,
    'with a backslash': `Bearer ${signRs256(STRANGER, {}, '{"iss":"https:\\/\\/app"}')}`,
    'not JSON': `Bearer ${encode('x')}.${encode('{{')}.x`,
    Basic: 'Basic YWRhOnB3',
    Digest: 'Digest username="ada", uri="/a.b.c", response="e.f"',
  }
  for (const [name, authorization] of Object.entries(others)) {
    t.match(ask('/hooks', authorization), NO_SESSION, name)
    t.match(ask('/open', authorization), { kind: 'forward', session: undefined }, name)
    const machine = { ids: [CI], secrets: [SECRET] }
    const beside = ask('/hooks', authorization, { machine })
    t.match(beside, { kind: 'forward', machine: { secretId: SECRET_ID, tokenEndsAt: undefined } })
  }
  const escaped = `{"iss":"${issuer.replaceAll('/', '\\/')}"}`
  t.match(ask('/open', `Bearer x.${encode(escaped)}.x`), INVALID, 'in another spelling')
  t.match(ask('/open', `Bearer x.${encode(`{"iss":["${issuer}"]}`)}.x`), INVALID, 'as a list')
  t.match(ask('/open', `Bearer x.${encode(`{"iss":"${issuer}",`)}.x`), INVALID, 'cut off')
  t.notOk(namesIssuer(`Bearer x.${encode(`{"sub":"${issuer}"}`)}.x`, issuer))
})

t.test('a head full of what may be tokens costs no more than a few', async (t) => {
  const work = t.capture(JSON, 'parse', JSON.parse.bind(JSON))
  const decoded = t.capture(Buffer, 'from', Buffer.from.bind(Buffer))
  const short = Buffer.from('{\\').toString('base64url')
  decoded()
  for (const separator of [' ', ',', '.', ';']) {
    const text = `Bearer ${`.${short}${separator}`.repeat(3000)}`
    t.notOk(namesIssuer(text, issuer), 'too short to name anybody')
  }
  t.equal(work().length + decoded().length, 0)
  const long = encode(`{\\${'x'.repeat(issuer.length)}`)
  const one = `x.${long}.x `
  t.notOk(namesIssuer(`Bearer ${one.repeat(4)}`, issuer))
  t.equal(work().length, 4)
  t.ok(namesIssuer(`Bearer ${one.repeat(200)}`, issuer), 'more than anybody sends: refused')
  t.equal(work().length, 4)
  const signature = encode(`\\${'x'.repeat(256)}`)
  t.notOk(namesIssuer(`Bearer x.${encode({ iss: 'https://app' })}.${signature}`, issuer))
  t.equal(work().length, 0, 'what is no object is not parsed')
  const skipped = Buffer.from(`{"iss":"${issuer}"}`).toString('base64url')
  t.ok(namesIssuer(`Bearer x.${skipped.slice(0, 9)}'${skipped.slice(9)}.x`, issuer))
})

t.test('a tenant without machines does not look at it', async (t) => {
  const tenant = tenantWith(undefined)
  t.match(ask('/hooks', BEARER, { tenant }), NO_SESSION)
  t.match(ask('/open', BEARER, { tenant }), { kind: 'forward', session: undefined })
})

t.test('it is nobody’s session, and no identity', async (t) => {
  t.equal(proveToken(TOKEN, trust), 'header_refused')
  t.match(ask('/work', '', { cookies: `service_session=${TOKEN}` }), { reason: 'header_refused' })
})

t.test('guesses are counted with wrong secrets, and what was no guess is not', async (t) => {
  const { burst } = LIMITS.rateServiceFailures
  const forged = `Bearer ${machineTokenOf(STRANGER, CI, trust, NOW)}`
  const edge = newEdge()
  for (let at = 0; at < burst; at++) t.match(edge('/hooks', forged), INVALID)
  t.match(edge('/hooks', forged), refused('machine_rate_limited', 429))
  t.match(edge('/hooks', BEARER), { kind: 'forward' }, 'whatever its neighbours do')
  const patient = newEdge()
  const notBefore = { nowSeconds: NOW + 600 }
  const unknown = tokenWith({}, { kid: 'k9' })
  for (let at = 0; at < burst + 1; at++) {
    patient('/hooks', BEARER, notBefore)
    patient('/hooks', unknown)
    patient('/hooks', BEARER, { tenant: tenantWith(told({ secrets: [] })) })
  }
  t.match(patient('/hooks', BEARER), { kind: 'forward' })
})

t.test('what it has opened ends when it does', async (t) => {
  const outcome = ask('/hooks', BEARER)
  if (outcome.kind !== 'forward' || outcome.session === undefined) return t.fail('refused')
  const { session, machine } = outcome
  const again = (tenant: ReturnType<typeof tenantWith>, nowSeconds = NOW) =>
    judgeAgain({
      ...{ host: 'app.example.com', method: 'GET', methodOverrides: [] },
      ...{ path: '/hooks', clientAddress: '203.0.113.1' },
      ...{ session, machine, usedSeconds: NOW, boundTo: '', fingerprint: '', nowSeconds },
      ...{ allowedBy: TENANT, allowedSeconds: NOW, tenant },
      revoked: { all: 0, subjects: new Map(), sids: new Map() },
    })
  t.equal(again(TENANT), undefined)
  t.equal(again(tenantWith(told())), undefined)
  t.match(again(TENANT, NOW + 600), { reason: 'machine_token_expired' })
  t.match(again(tenantWith(told({ secrets: [] }))), { reason: 'machine_token_revoked' })
  t.match(again(tenantWith(undefined)), { reason: 'machine_unknown' })
  t.same([...MACHINE_TOKEN_REASONS].length, 4)
})
