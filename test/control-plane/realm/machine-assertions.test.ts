/** `private_key_jwt`: a machine signs who it is, for this realm, for minutes, and once. */
import t from 'tap'
import { createHmac } from 'node:crypto'
import {
  decodeJwt,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  type JWTHeaderParameters,
} from 'jose'
import * as oidc from 'openid-client'
import { createMachines } from '../../../control-plane/machines/machines.ts'
import { readPublicKey } from '../../../control-plane/machines/public-key.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { compileServices } from '../../../shared/enforcement/machines.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ACTOR, startWorld } from './realm-world.ts'

type TestScope = Parameters<typeof startWorld>[0]
type Alg = 'ES256' | 'RS256' | 'EdDSA'
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

async function keyPair(alg: Alg) {
  const pair = await generateKeyPair(alg, { extractable: true })
  const read = readPublicKey(await exportJWK(pair.publicKey))
  if (read.kind === 'wrong') throw new Error(read.wish)
  return { ...pair, key: read.key, alg }
}

async function startKeys(t: TestScope, alg: Alg = 'ES256') {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const { machines } = world
  const { serviceId } = await machines.create('acme', 'CI', ACTOR)
  const pair = await keyPair(alg)
  const added = await machines.addKey('acme', serviceId, { key: pair.key, seconds: 7200 }, ACTOR)
  let count = 0
  const now = () => Math.floor(clock.nowMs() / 1000)
  const claims = () => {
    const who = { iss: serviceId, sub: serviceId, aud: acme.issuer as unknown }
    return { ...who, iat: now(), exp: now() + 60, jti: `assertion-${++count}` as unknown }
  }
  const sign = (
    more: object = {},
    header: Partial<JWTHeaderParameters> = {},
    { privateKey, alg: by }: Pick<typeof pair, 'privateKey' | 'alg'> = pair,
  ) =>
    new SignJWT({ ...claims(), ...more } as Record<string, unknown>)
      .setProtectedHeader({ alg: by, ...header })
      .sign(privateKey)
  const ask = async (
    assertion: string,
    more: Record<string, string> = {},
    issuer = acme.issuer,
  ) => {
    const grant = { grant_type: 'client_credentials', client_assertion_type: TYPE }
    const body = new URLSearchParams({ ...grant, client_assertion: assertion, ...more })
    const answer = await fetch(`${issuer}/token`, { method: 'POST', body })
    const read = (await answer.json()) as Record<string, unknown>
    return { status: answer.status, headers: answer.headers, body: read }
  }
  return { world, clock, acme, machines, serviceId, pair, ...added, sign, ask, now, claims }
}

const REFUSED = {
  status: 401,
  body: { error: 'invalid_client', error_description: 'client authentication failed' },
}

for (const alg of ['ES256', 'RS256', 'EdDSA'] as const)
  t.test(`a machine comes by its key (${alg}), and the token names it`, async (t) => {
    const { world, sign, ask, secretId, serviceId, machines, clock, acme } = await startKeys(t, alg)
    for (const aud of [acme.issuer, `${acme.issuer}/token`])
      t.equal((await ask(await sign({ aud }))).status, 200, aud)
    const { status, body } = await ask(await sign({}, { typ: 'client-authentication+jwt' }))
    t.equal(status, 200)
    t.match(body, { token_type: 'Bearer', expires_in: 600 })
    const token = decodeJwt(String(body['access_token']))
    t.match(token, { sub: serviceId, client_id: serviceId, secret_id: secretId })
    const standing = async () => {
      const { snapshot } = (await world.fleetSource.snapshot('acme')) ?? {}
      const nowSeconds = Math.floor(clock.nowMs() / 1000)
      const pass = { serviceId, secretId, tokenEndsAt: token.exp ?? 0 }
      return compileServices(snapshot?.services)?.standing(pass, nowSeconds)
    }
    t.equal(await standing(), undefined, 'gateways know it as they know a secret')
    await machines.revokeSecret('acme', serviceId, secretId, ACTOR)
    t.equal(await standing(), 'machine_token_revoked')
    t.match(await ask(await sign()), REFUSED, 'nor does it get another one')
  })

t.test('as a client library does it, and as discovery says', async (t) => {
  const { acme, serviceId, pair, clock } = await startKeys(t)
  clock.advance(0)
  const options = { execute: [oidc.allowInsecureRequests] }
  const method = oidc.PrivateKeyJwt(pair.privateKey)
  const party = await oidc.discovery(new URL(acme.issuer), serviceId, undefined, method, options)
  const server = party.serverMetadata()
  t.same(server.token_endpoint_auth_methods_supported, [
    ...['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  ])
  t.same(server.token_endpoint_auth_signing_alg_values_supported, ['ES256', 'RS256', 'EdDSA'])
  t.ok((await oidc.clientCredentialsGrant(party)).access_token)
})

t.test(
  'an assertion for somebody else, for too long, or of another kind counts for nothing',
  async (t) => {
    const { world, acme, sign, ask, serviceId, now, pair, machines } = await startKeys(t)
    const bolt = await world.tenant('bolt')
    const other = await machines.create('acme', 'Other', ACTOR)
    const { serviceAssertionSecondsMax: most, serviceAssertionSkewSeconds: skew } = LIMITS
    const stranger = await keyPair('ES256')
    const wrong: Record<string, () => Promise<string>> = {
      'another issuer': () => sign({ aud: bolt.issuer }),
      'another token endpoint': () => sign({ aud: `${bolt.issuer}/token` }),
      'a list with ours in it': () => sign({ aud: [acme.issuer, 'https://evil.example'] }),
      'a list of ours alone': () => sign({ aud: [acme.issuer] }),
      'the issuer with a slash': () => sign({ aud: `${acme.issuer}/` }),
      'no audience': () => sign({ aud: undefined }),
      'another iss': () => sign({ iss: other.serviceId }),
      'no iss': () => sign({ iss: undefined }),
      'another sub': () => sign({ sub: other.serviceId }),
      'of a machine without a key': () => sign({ iss: other.serviceId, sub: other.serviceId }),
      'no exp': () => sign({ exp: undefined }),
      'exp too far': () => sign({ exp: now() + most + skew + 1 }),
      'exp of years': () => sign({ exp: now() + 10 ** 9 }),
      'exp is no whole number': () => sign({ exp: now() + 0.5 }),
      over: () => sign({ exp: now() - skew }),
      'issued ahead': () => sign({ iat: now() + skew + 1 }),
      'not yet': () => sign({ nbf: now() + skew + 1 }),
      'no jti': () => sign({ jti: undefined }),
      'jti is no text': () => sign({ jti: 7 }),
      'jti is an object': () => sign({ jti: { a: 1 } }),
      'jti is long': () => sign({ jti: 'x'.repeat(LIMITS.serviceAssertionIdCharactersMax + 1) }),
      'a token for access': () => sign({}, { typ: 'at+jwt' }),
      'a logout token': () => sign({}, { typ: 'logout+jwt' }),
      "a stranger's key": () => sign({}, {}, stranger),
      "a stranger's key, sent along": async () =>
        sign({}, { jwk: await exportJWK(stranger.publicKey) }, stranger),
      'a key at an address': () => sign({}, { jku: 'https://evil.example/jwks' }, stranger),
      'another kid': () => sign({}, { kid: 'other' }),
      'unknown crit': () => sign({}, { crit: ['b64'], b64: true }),
      'no signature': async () => {
        const [, payload] = (await sign()).split('.')
        const none = Buffer.from('{"alg":"none"}').toString('base64url')
        return `${none}.${payload}.`
      },
      'the public key as a secret': async () => {
        const [, payload] = (await sign()).split('.')
        const head = Buffer.from('{"alg":"HS256"}').toString('base64url')
        const spki = await exportSPKI(pair.publicKey)
        const mac = createHmac('sha256', spki).update(`${head}.${payload}`).digest('base64url')
        return `${head}.${payload}.${mac}`
      },
      'a payload that was changed': async () => {
        const [head, , signature] = (await sign()).split('.')
        const [, payload] = (await sign({ jti: 'another' })).split('.')
        return `${head}.${payload}.${signature}`
      },
    }
    for (const [name, make] of Object.entries(wrong)) {
      const answer = await ask(await make())
      t.match(answer, REFUSED, name)
      t.notOk(answer.body['access_token'], name)
    }
    for (const text of ['', 'x', 'a.b.c', 'a.b.c.d', `${'x'.repeat(100_000)}`])
      t.ok((await ask(text)).status >= 400, text.slice(0, 10))
    t.match(await ask(await sign(), {}, bolt.issuer), REFUSED, 'no machine of another tenant')
    t.equal((await ask(await sign(), { client_assertion_type: 'x' })).status, 400)
    t.equal((await ask(await sign(), { client_id: other.serviceId })).status, 400)
    t.equal((await ask(await sign(), { client_secret: 'x' })).status, 400, 'two ways at once')
    const edges = { exp: now() + most + skew, iat: now() + skew, nbf: now() + skew }
    t.equal((await ask(await sign(edges))).status, 200, 'and all that is right is taken')
    const told = await world.enforcement.list('acme', { limit: 100 })
    t.ok(
      told.items.some(
        ({ subject, reason }) => subject === serviceId && reason === 'machine_unknown',
      ),
    )
  },
)

t.test('other algorithms count for nothing, with the right key', async (t) => {
  const { sign, ask, pair } = await startKeys(t, 'RS256')
  for (const alg of ['RS384', 'RS512', 'PS256', 'PS512'] as const) {
    const { importPKCS8, exportPKCS8 } = await import('jose')
    const privateKey = await importPKCS8(await exportPKCS8(pair.privateKey), alg)
    t.match(await ask(await sign({}, {}, { privateKey, alg: alg as never })), REFUSED, alg)
  }
  t.equal((await ask(await sign())).status, 200)
})

t.test('an assertion counts once, whoever has it and however many ask at once', async (t) => {
  const { world, sign, ask, serviceId, clock, now } = await startKeys(t)
  const assertion = await sign({ jti: 'once' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(assertion)))
  t.same(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401, 401, 401])
  t.match(await ask(await sign({ jti: 'once' })), REFUSED, 'signed anew, with the same id')
  const elsewhere = createMachines({ store: world.store, clock })
  const ends = (now() + 60) * 1000
  t.equal(await elsewhere.isFirstUse('acme', serviceId, 'once', ends), false, 'at another node')
  t.equal(await elsewhere.isFirstUse('acme', serviceId, 'other', ends), true)
  t.equal(await elsewhere.isFirstUse('bolt', serviceId, 'once', ends), true)
  const rows = async () => (await world.store.read.select().from(schema.serviceAssertions)).length
  t.equal(await rows(), 3)
  await world.machines.pruneAssertions(100)
  t.equal(await rows(), 3, 'while it could come again')
  clock.advance(5 * 60_000)
  await world.machines.pruneAssertions(100)
  t.equal(await rows(), 0)
  const kept = JSON.stringify([await world.store.read.select().from(schema.audit), world.logged])
  t.notMatch(kept, assertion.split('.')[2])
})

t.test('an assertion is over by the clock of the database, which forgets it then', async (t) => {
  const { world, sign, ask, clock, now } = await startKeys(t)
  const assertion = await sign({ exp: now() + 60 })
  t.equal((await ask(assertion)).status, 200)
  clock.advance(5 * 60_000) // while the machine's own stays behind
  await world.machines.pruneAssertions(100)
  t.same(await world.store.read.select().from(schema.serviceAssertions), [])
  t.match(await ask(assertion), REFUSED)
})

t.test('two credentials at once: a key follows a secret, and ends by itself', async (t) => {
  const { world, machines, serviceId, secretId, sign, ask, clock, pair } = await startKeys(t)
  const { secret } = await machines.addSecret('acme', serviceId, 7200, ACTOR)
  await t.rejects(machines.addKey('acme', serviceId, { key: pair.key, seconds: 7200 }, ACTOR), {
    code: 'service_secrets_full',
  })
  const basic = async () => {
    const authorization = `Basic ${Buffer.from(`${serviceId}:${secret}`).toString('base64')}`
    const body = new URLSearchParams({ grant_type: 'client_credentials' })
    const { issuer } = { issuer: `${world.baseUrl}/auth/realms/acme` }
    return (await fetch(`${issuer}/token`, { method: 'POST', body, headers: { authorization } }))
      .status
  }
  t.equal(await basic(), 200)
  t.equal((await ask(await sign())).status, 200)
  const { kind } = await machines.shown('acme', serviceId, JSON.stringify(pair.key))
  t.equal(kind, 'unknown', 'a public key opens nothing by being known')
  await machines.update('acme', serviceId, { isDisabled: true }, ACTOR)
  t.match((await ask(await sign())).body, { error_description: 'the machine is disabled' })
  await machines.update('acme', serviceId, { isDisabled: false }, ACTOR)
  clock.advance(7200_000 - 90_000)
  t.match(await ask(await sign()), { status: 200, body: { expires_in: 90 } })
  clock.advance(90_000)
  t.match((await ask(await sign())).body, { error_description: /^the secret or key has expired/ })
  t.equal(await machines.noteEnded(100), 2)
  t.equal(await machines.noteEnded(100), 0, 'once')
  const { items } = await world.auditTrail.list({ limit: 50 }, { tenantId: 'acme' })
  const ended = items.filter(({ action }) => action === 'service.secret_ended')
  t.equal(ended.length, 2)
  t.ok(ended.some(({ content }) => (content as { secret_id: string }).secret_id === secretId))
  t.ok(items.some(({ action }) => action === 'service.key_added'))
})

t.test('ends of very many secrets are noted together', async (t) => {
  const { machines, world, clock, serviceId } = await startKeys(t)
  const others = await machines.create('acme', 'Other', ACTOR)
  await machines.addSecret('acme', serviceId, 3600, ACTOR)
  await machines.addSecret('acme', others.serviceId, 3600, ACTOR)
  await machines.addSecret('acme', others.serviceId, 3600, ACTOR)
  clock.advance(7200_000)
  let writes = 0
  const { store } = world
  const change: typeof store.change = (work) =>
    store.change((change) => {
      const queries = new Proxy(change.queries, {
        get(target, name) {
          if (name === 'insert' || name === 'update') writes++
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
      return work({ ...change, queries })
    })
  const counted = createMachines({ store: { ...store, change }, clock })
  t.equal(await counted.noteEnded(100), 4)
  t.equal(writes, 1, 'however many they are')
  const { items } = await world.auditTrail.list({ limit: 50 }, { tenantId: 'acme' })
  const ended = items.filter(({ action }) => action === 'service.secret_ended')
  t.same(ended.map(({ content }) => (content as { name: string }).name).sort(), [
    ...['CI', 'CI', 'Other', 'Other'],
  ])
})

t.test('a key that is added once more goes on where it would have ended', async (t) => {
  const { machines, serviceId, secretId, sign, ask, clock, pair } = await startKeys(t)
  clock.advance(3600_000)
  const again = await machines.addKey('acme', serviceId, { key: pair.key, seconds: 7200 }, ACTOR)
  const named = async () => {
    const { body } = await ask(await sign())
    return decodeJwt(String(body['access_token']))['secret_id']
  }
  t.equal(await named(), again.secretId, 'the one that lives longest')
  clock.advance(3600_000)
  t.equal(await named(), again.secretId)
  await machines.revokeSecret('acme', serviceId, again.secretId, ACTOR)
  t.match((await ask(await sign())).body, { error_description: /^the secret or key has expired/ })
  await machines.revokeSecret('acme', serviceId, secretId, ACTOR)
  t.match(await ask(await sign()), REFUSED)
})

t.test('tokens of a machine are counted before its assertion is written down', async (t) => {
  const { world, sign, ask } = await startKeys(t)
  const { burst } = LIMITS.rateServiceTokens
  for (let at = 0; at < burst; at++)
    if ((await ask(await sign())).status !== 200) return t.fail(`${at}`)
  t.match(await ask(await sign()), { status: 429, body: { error: 'rate_limited' } })
  const rows = await world.store.read.select().from(schema.serviceAssertions)
  t.equal(rows.length, burst)
})

t.test('a key that is none, too weak or private is not taken', async (t) => {
  const ec = await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey)
  const pair = await generateKeyPair('RS256', { extractable: true })
  const rsa = await exportJWK(pair.publicKey)
  const weak = await generateKeyPair('RS256', { extractable: true, modulusLength: 2048 })
  t.equal(readPublicKey(await exportJWK(weak.publicKey)).kind, 'key')
  t.match(readPublicKey({ keys: [{ ...ec, kid: 'a', use: 'sig', alg: 'ES256' }] }), {
    kind: 'key',
    key: { kty: 'EC', alg: 'ES256', crv: 'P-256', kid: 'a' },
  })
  t.match(readPublicKey({ ...rsa, x5c: ['x'], constructor: 'x' }), {
    key: { kty: 'RSA', alg: 'RS256', n: rsa.n, e: 'AQAB' },
  })
  for (const given of [
    null,
    [],
    'x',
    {},
    { keys: [] },
    { keys: [ec, rsa] },
    { ...ec, alg: 'ES384' },
    { ...ec, use: 'enc' },
    { ...ec, key_ops: ['sign'] },
    { ...ec, crv: 'P-384' },
    { ...ec, x: ec.y },
    { ...ec, x: '' },
    { ...ec, kid: 7 },
    { ...ec, kid: 'a b' },
    { ...ec, kid: 'x'.repeat(LIMITS.serviceKeyIdCharactersMax + 1) },
    { ...rsa, e: 'Aw' },
    { ...rsa, n: Buffer.alloc(128, 255).toString('base64url') },
    { ...rsa, n: Buffer.alloc(LIMITS.serviceKeyBitsMax / 8 + 1, 255).toString('base64url') },
    { kty: 'oct', k: 'c2VjcmV0' },
  ])
    t.match(readPublicKey(given), { kind: 'wrong' }, JSON.stringify(given))
  const own = await exportJWK(pair.privateKey)
  t.match(readPublicKey(own), { kind: 'wrong', wish: /private: treat it as leaked/ })
  t.match(readPublicKey({ keys: [own] }), { kind: 'wrong', wish: /private/ })
})
