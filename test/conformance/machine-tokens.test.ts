/** Tokens of machines: what each meets, at the edge as inside an application. */
import t from 'tap'
import { NOBODY } from '../../shared/fleet/services.ts'
import { rulesOf, SERVICES } from '../support/access-rules.ts'
import { identityOf, machineTokenOf, newSecret, SECRET_ID, secretOf } from '../support/machines.ts'
import { encode, newSigningKey, signHs256, signRs256 } from '../support/tokens.ts'
import type { Case, Required } from './case.ts'
import { runTable } from './table.ts'
import { AS, CURRENT, headOf, startWorld, type Head, type World } from './world.ts'

const [CI, OTHER] = SERVICES
const SECRET = newSecret()
const STRANGER = newSigningKey('current')
const AUDIENCE = 'app-user'
const BY_SECRET = [`Service-Client-Id: ${CI}`, `Service-Client-Secret: ${SECRET}`]

const ACCESS = rulesOf([
  { path: '/', allow: [{ signed_in: true }] },
  { path: '/hooks', widen: true, allow: [NOBODY] },
])

interface Change {
  readonly isDisabled?: boolean
  readonly secretId?: string
}

function servicesAt(world: World, { isDisabled = false, secretId = SECRET_ID }: Change = {}) {
  const now = world.nowSeconds()
  const identity = identityOf(CURRENT, CI, trustOf(world), now - 60)
  const secrets = [secretOf(SECRET, now + 86_400, secretId)]
  return {
    services: [{ service_id: CI, is_disabled: isDisabled, identity, secrets }],
    clauses: [{ rule: 1, allow: [{ service: CI }] }],
  }
}

const trustOf = ({ service: { issuer } }: World) => ({ issuer, audience: AUDIENCE })

const named: Required = {
  outcome: 'forward',
  cookies: [],
  application: { user: CI, verified: 'true', foreign: [] },
}
const CODES: Readonly<Record<string, string>> = {
  machine_token_ambiguous: 'invalid_request',
  machine_not_allowed: 'access_denied',
}
const refused = (reason: string, status = 401): Required => ({
  outcome: `refused_${status}`,
  reason: `${CODES[reason] ?? 'invalid_token'}: ${reason}`,
  location: '',
  cookies: [],
  application: null,
})
const INVALID = refused('machine_token_invalid')
const REVOKED = refused('machine_token_revoked')
const AMBIGUOUS = refused('machine_token_ambiguous', 400)
const NO_SESSION: Required = {
  outcome: 'sign_in_401',
  reason: 'sign_in_required: no_session',
  application: null,
}

const of = (name: string, required: Required, head: Head): Case[] =>
  AS.map((as) => ({ name: `${name}, ${as}`, ask: headOf({ as, ...head }), required }))
const hooks = (name: string, required: Required, lines: readonly string[], more: Head = {}) =>
  of(name, required, { target: '/hooks/1', lines, ...more })
const bearer = (token: string) => [`Authorization: Bearer ${token}`]

/** No line of it arrives, whatever its name is written like. */
const withoutIt: Required = {
  ...named,
  application: { ...named.application, lines: ['accept: */*', 'host: app.localhost'] },
}

async function startMachines(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t, { state: { access: ACCESS } })
  await world.change({ services: servicesAt(world) })
  const token = (claims = {}, head = {}, key = CURRENT, trust = trustOf(world)) =>
    machineTokenOf(key, CI, trust, world.nowSeconds(), claims, head)
  return { world, token }
}

t.test('what a token opens, and that it goes no further', async (t) => {
  const { world, token } = await startMachines(t)
  const cookie = world.session()
  const good = token()
  const plain = (lines: readonly string[], target = '/hooks/1') =>
    `GET ${target} HTTP/1.1\r\nHost: app.localhost\r\nAccept: */*\r\n${lines.join('\r\n')}\r\n\r\n`
  await runTable(t, world.targets, [
    { name: 'it is taken out', ask: plain(bearer(good)), required: withoutIt },
    { name: 'small', ask: plain([`authorization: bearer ${good}`]), required: withoutIt },
    { name: 'capitals', ask: plain([`AUTHORIZATION:BEARER   ${good}`]), required: withoutIt },
    { name: 'open to everybody', ask: plain(bearer(good), '/health'), required: withoutIt },
    {
      name: 'underscores are no credentials',
      ask: headOf({ target: '/hooks/1', lines: ['Authorization_: Bearer x'] }),
      required: NO_SESSION,
    },
    ...of('what is open to people', refused('machine_not_allowed', 403), {
      target: '/work',
      lines: bearer(good),
    }),
    ...hooks('in another spelling', refused('machine_not_allowed', 403), bearer(good), {
      target: '/%68ooks/1',
    }),
    ...of(
      'sealed',
      { outcome: 'sealed_404', application: null },
      { target: '/admin', lines: bearer(good) },
    ),
    ...hooks('two lines', AMBIGUOUS, [...bearer(good), ...bearer(good)]),
    ...hooks('behind another', AMBIGUOUS, ['Authorization: Basic eDp5', ...bearer(good)]),
    ...hooks('with its secret', AMBIGUOUS, [...BY_SECRET, ...bearer(good)]),
    ...hooks('with a session', AMBIGUOUS, bearer(good), { cookie }),
    ...hooks('its secret beside a token of the application', named, [
      ...BY_SECRET,
      'Authorization: Bearer of.the.application',
    ]),
  ])
})

t.test('a refusal is one that OAuth clients understand', async (t) => {
  const { world, token } = await startMachines(t)
  const answers = {
    invalid: token({ aud: 'bolt-user' }),
    expired: token({ exp: world.nowSeconds() }),
  }
  for (const { name, ask } of world.targets)
    for (const [what, sent] of Object.entries(answers)) {
      const { status, headers } = await ask(headOf({ target: '/hooks/1', lines: bearer(sent) }))
      t.equal(status, 401, name)
      const challenges = headers.filter(([line]) => line === 'www-authenticate')
      t.equal(challenges.length, 1, name)
      t.match(challenges[0]?.[1], /^Bearer error="invalid_token", error_description="[ -~]+"$/)
      t.match(challenges[0]?.[1], what === 'expired' ? /expired/ : /not a valid/)
    }
})

t.test('tokens of the application pass, and name nobody', async (t) => {
  const { world, token } = await startMachines(t)
  const { issuer, audience } = trustOf(world)
  const cookie = world.session()
  const own: Record<string, string> = {
    'its own': signRs256(STRANGER, { alg: 'RS256', typ: 'at+jwt' }, { iss: 'https://app.example' }),
    'of another tenant': token({}, {}, CURRENT, { issuer: `${issuer}-2`, audience }),
    opaque: '7f3a.b1-c_d~e+f/g==',
  }
  const kept = (sent: string) => ({
    foreign: [],
    lines: [`accept: */*`, `authorization: Bearer ${sent}`, 'host: app.localhost'],
  })
  const plain = (target: string, sent: string, more = '') =>
    `GET ${target} HTTP/1.1\r\nHost: app.localhost\r\nAccept: */*\r\n${more}Authorization: Bearer ${sent}\r\n\r\n`
  await runTable(
    t,
    world.targets,
    Object.entries(own).flatMap(([name, sent]): Case[] => [
      { name, ask: plain('/hooks/1', sent), required: NO_SESSION },
      {
        name: `${name}, open path`,
        ask: plain('/health', sent),
        required: { outcome: 'forward', application: { user: '', claims: '', ...kept(sent) } },
      },
      {
        name: `${name}, of a person`,
        ask: headOf({ target: '/work', cookie, lines: bearer(sent) }),
        required: { outcome: 'forward', application: { user: 'ada', foreign: [] } },
      },
    ]),
  )
})

type Machines = Awaited<ReturnType<typeof startMachines>>

const ATTACKS: Readonly<Record<string, (machines: Machines) => string>> = {
  'an ID token': (m) => m.token({ sid: 's', sub: 'ada', client_id: undefined }, { typ: 'JWT' }),
  'what names it to applications': (m) =>
    identityOf(CURRENT, CI, trustOf(m.world), m.world.nowSeconds()),
  'a token of a person': (m) => m.token({ sub: 'usr_1', client_id: 'app-user' }),
  'of a device': (m) => m.token({}, { typ: 'device+jwt' }),
  'for another tenant': (m) => m.token({ aud: 'bolt-user' }),
  'for another machine': (m) => m.token({ client_id: OTHER }),
  'without a secret': (m) => m.token({ secret_id: undefined }),
  'for too long': (m) => m.token({ exp: m.world.nowSeconds() + 601 }),
  'of tomorrow': (m) => m.token({ nbf: m.world.nowSeconds() + 60 }),
  'issued ahead': (m) => m.token({ iat: m.world.nowSeconds() + 61 }),
  'alg none': (m) => `${encode({ alg: 'none', typ: 'at+jwt' })}.${m.token().split('.')[1]}.`,
  'alg HS256': (m) =>
    signHs256(
      CURRENT.publicKey.export({ type: 'spki', format: 'pem' }),
      { alg: 'HS256', kid: 'current', typ: 'at+jwt' },
      Buffer.from(m.token().split('.')[1]!, 'base64url').toString(),
    ),
  'a key in its header': (m) =>
    m.token({}, { jwk: STRANGER.publicKey.export({ format: 'jwk' }) }, STRANGER),
  'another’s key of that name': (m) => m.token({}, {}, STRANGER),
  'a key by its address': (m) => m.token({}, { jku: 'https://evil.example/jwks' }),
  'a key that nobody knows': (m) => m.token({}, { kid: 'nobody' }),
  oversized: (m) => m.token({ pad: 'x'.repeat(6000) }),
  padded: (m) => `${m.token()}=`,
}

/** So many guesses are looked at, and no time can pass for all of these targets without harm. */
const AT_ONCE = 9
const NAMES = Object.keys(ATTACKS)
for (let at = 0; at < NAMES.length; at += AT_ONCE) {
  const some = NAMES.slice(at, at + AT_ONCE)
  t.test(`refused, and no further than to us: ${some.join(', ')}`, async (t) => {
    const machines = await startMachines(t)
    await runTable(
      t,
      machines.world.targets,
      some.flatMap((name): Case[] => {
        const lines = bearer(ATTACKS[name]!(machines))
        return [
          { name, ask: headOf({ target: '/hooks/1', lines }), required: INVALID },
          {
            name: `${name}, open path`,
            ask: headOf({ target: '/health', as: 'navigation', lines }),
            required: INVALID,
          },
        ]
      }),
    )
  })
}

t.test('it ends with its time, its secret and its machine', async (t) => {
  const { world, token } = await startMachines(t)
  const sent = bearer(token())
  await runTable(t, world.targets, hooks('good', named, sent))
  await world.change({ services: servicesAt(world, { isDisabled: true }) })
  await runTable(t, world.targets, hooks('disabled', REVOKED, sent))
  await world.change({ services: servicesAt(world) })
  await runTable(t, world.targets, hooks('enabled', named, sent))
  await world.change({ services: servicesAt(world, { secretId: 'ssk_00000000000000aa' }) })
  await runTable(t, world.targets, [
    ...hooks('its secret is another', REVOKED, sent),
    ...of('open path', REVOKED, { target: '/health', lines: sent }),
  ])
  await world.change({ services: servicesAt(world) })
  const now = world.nowSeconds()
  const old = bearer(token({ iat: now - 598, exp: now + 2 }))
  await runTable(t, world.targets, hooks('in its last seconds', named, old))
  world.setClocks(2)
  await runTable(t, world.targets, hooks('its end', refused('machine_token_expired'), old))
})
