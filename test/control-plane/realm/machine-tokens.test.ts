/** `client_credentials`: a machine gets a token of ten minutes for its id and its secret. */
import t from 'tap'
import { createPublicKey } from 'node:crypto'
import * as oidc from 'openid-client'
import { schema } from '../../../control-plane/store/schema.ts'
import { compileServices } from '../../../shared/enforcement/machines.ts'
import { proveMachineToken } from '../../../shared/enforcement/machine-token.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ACTOR, exchange, startWorld, type TestTenant } from './realm-world.ts'

type TestScope = Parameters<typeof startWorld>[0]

async function startMachines(t: TestScope) {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const { machines } = world
  const { serviceId } = await machines.create('acme', 'CI', ACTOR)
  const secret = await machines.addSecret('acme', serviceId, 7200, ACTOR)
  const ask = async (
    fields: Record<string, string> = {},
    basic = basicOf(serviceId, secret.secret),
    { issuer }: Pick<TestTenant, 'issuer'> = acme,
  ) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields })
    const headers = basic === '' ? {} : { authorization: basic }
    const answer = await fetch(`${issuer}/token`, { method: 'POST', body, headers })
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as Record<string, unknown>,
    }
  }
  const trust = async () => {
    const { jwks } = await world.keys.signingSet('acme')
    const keys = jwks.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })] as const)
    return { issuer: acme.issuer, audience: 'acme-user', keys: new Map(keys) }
  }
  return { world, clock, acme, machines, serviceId, ...secret, ask, trust }
}

const basicOf = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
const REFUSED = { error: 'invalid_client', error_description: 'client authentication failed' }

t.test('it is a token that gateways take, and no more', async (t) => {
  const { world, acme, serviceId, secretId, secret, ask, trust, clock } = await startMachines(t)
  const { status, body, headers } = await ask()
  t.equal(status, 200)
  t.same(Object.keys(body).sort(), ['access_token', 'expires_in', 'token_type'])
  t.match(body, { token_type: 'Bearer', expires_in: 600 })
  t.match(headers.get('cache-control'), /no-store/)
  const token = String(body['access_token'])
  const now = Math.floor(clock.nowMs() / 1000)
  const proven = proveMachineToken(token, await trust())
  t.same(proven, { serviceId, secretId, iat: now, nbf: 0, exp: now + 600 })
  const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object
  t.same(Object.keys(claims).sort(), [
    ...['aud', 'client_id', 'exp', 'iat', 'iss', 'jti', 'secret_id', 'sub'],
  ])
  t.match(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()), { typ: 'at+jwt' })
  const kept = JSON.stringify([
    await world.store.read.select().from(schema.realmRecords),
    await world.store.read.select().from(schema.audit),
    world.logged,
  ])
  for (const hidden of [secret, token, token.split('.')[2]!]) t.notMatch(kept, hidden)
  const userinfo = await fetch(`${acme.issuer}/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  })
  t.equal(userinfo.status, 401, 'it names no person')
})

t.test('by Basic and in the form, as discovery says', async (t) => {
  const { acme, serviceId, secret } = await startMachines(t)
  for (const method of [oidc.ClientSecretBasic, oidc.ClientSecretPost]) {
    const options = { execute: [oidc.allowInsecureRequests] }
    const server = new URL(acme.issuer)
    const party = await oidc.discovery(server, serviceId, undefined, method(secret), options)
    t.match(party.serverMetadata().grant_types_supported, [
      'authorization_code',
      'client_credentials',
    ])
    t.ok((await oidc.clientCredentialsGrant(party)).access_token)
  }
})

t.test('a wrong secret, an ended one and none', async (t) => {
  const { world, machines, clock, serviceId, secretId, secret, ask } = await startMachines(t)
  const other = await machines.create('acme', 'Other', ACTOR)
  const ofOther = await machines.addSecret('acme', other.serviceId, 7200, ACTOR)
  const wrong: Record<string, string> = {
    guessed: basicOf(serviceId, `sms_${'x'.repeat(43)}`),
    empty: basicOf(serviceId, ' '),
    'of another machine': basicOf(serviceId, ofOther.secret),
    'of nobody': basicOf('svc_00000000000000cc', secret),
    'no id': basicOf('__proto__', secret),
  }
  for (const [name, basic] of Object.entries(wrong)) {
    const { status, body } = await ask({}, basic)
    t.equal(status, 401, name)
    t.match(body, REFUSED, name)
  }
  t.match(await ask({ client_id: serviceId }, ''), { status: 401, body: REFUSED })
  t.equal((await ask({}, '')).status, 400, 'nobody at all')

  await machines.update('acme', serviceId, { isDisabled: true }, ACTOR)
  const disabled = 'the machine is disabled'
  t.match(await ask(), { status: 401, body: { ...REFUSED, error_description: disabled } })
  await machines.update('acme', serviceId, { isDisabled: false }, ACTOR)
  t.equal((await ask()).status, 200)
  clock.advance(7200_000 - 90_000)
  t.match(await ask(), { status: 200, body: { expires_in: 90 } }, 'never longer than its secret')
  clock.advance(90_000)
  const ended = /^the secret or key has expired/
  t.match(await ask(), { status: 401, body: { ...REFUSED, error_description: ended } })
  const second = await machines.addSecret('acme', serviceId, 7200, ACTOR)
  t.equal((await ask({}, basicOf(serviceId, second.secret))).status, 200)
  await machines.revokeSecret('acme', serviceId, second.secretId, ACTOR)
  t.match(await ask({}, basicOf(serviceId, second.secret)), { status: 401, body: REFUSED })
  t.not(secretId, second.secretId)
  const told = await world.enforcement.list('acme', { limit: 50 })
  const reasons = new Set(told.items.map(({ outcome, reason }) => `${outcome} ${reason}`))
  t.same([...reasons].sort(), [
    ...['refused machine_disabled', 'refused machine_secret_ended', 'refused machine_unknown'],
  ])
  t.match(told.items[0], { subject: serviceId, ip: '127.0.0.1', instance: 'realm' })
})

t.test('a machine may ask for nothing else, and the application for no such token', async (t) => {
  const { world, acme, serviceId, secret, ask } = await startMachines(t)
  const bolt = await world.tenant('bolt')
  t.match(await ask({}, basicOf(serviceId, secret), bolt), { status: 401, body: REFUSED })
  const application = await ask({}, basicOf(acme.clientId, acme.clientSecret))
  t.match(application, {
    status: 400,
    body: { error: /^(?:invalid_request|unauthorized_client)$/ },
  })
  const code = await exchange({ ...acme, clientId: serviceId, clientSecret: secret }, { code: 'x' })
  t.match(await code.json(), { error: /^(?:invalid_request|unauthorized_client)$/ })
  const authorize = new URLSearchParams({
    ...{ client_id: serviceId, response_type: 'code', redirect_uri: 'https://evil.example/' },
    ...{ scope: 'openid', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  })
  const page = await fetch(`${acme.issuer}/authorize?${authorize.toString()}`, {
    redirect: 'manual',
  })
  t.equal(page.status, 400)
  t.equal(page.headers.get('location'), null)
  for (const more of [{ scope: 'openid admin' }, { resource: 'https://evil.example' }]) {
    const { body } = await ask(more)
    t.same(Object.keys(body).sort(), ['access_token', 'expires_in', 'token_type'])
    t.notMatch(
      Buffer.from(String(body['access_token']).split('.')[1]!, 'base64url').toString(),
      /evil|admin/,
    )
  }
  await world.tenants.suspend('acme', ACTOR)
  t.equal((await ask()).status, 503)
})

t.test('wrong secrets are counted by address, tokens by machine', async (t) => {
  const { machines, serviceId, ask, clock } = await startMachines(t)
  const { burst } = LIMITS.rateServiceTokens
  for (let at = 0; at < burst; at++) if ((await ask()).status !== 200) return t.fail(`${at}`)
  const { status, body, headers } = await ask()
  t.match({ status, body }, { status: 429, body: { error: 'rate_limited' } })
  t.equal(headers.get('retry-after'), '1')
  const other = await machines.create('acme', 'Other', ACTOR)
  const { secret } = await machines.addSecret('acme', other.serviceId, 7200, ACTOR)
  t.equal((await ask({}, basicOf(other.serviceId, secret))).status, 200, 'another machine')
  clock.advance(60_000)
  const guesses = LIMITS.rateTokenRefused.burst
  for (let at = 0; at < guesses; at++)
    if ((await ask({}, basicOf(serviceId, `guess ${at}`))).status !== 401) return t.fail(`${at}`)
  t.equal((await ask({}, basicOf(serviceId, 'one more'))).status, 429)
})

t.test('a token names the secret that gateways are told of', async (t) => {
  const { world, machines, serviceId, secretId, ask, trust, clock } = await startMachines(t)
  const { body } = await ask()
  const claims = proveMachineToken(String(body['access_token']), await trust())
  if (typeof claims === 'string') return t.fail(claims)
  const pass = { ...claims, tokenEndsAt: claims.exp }
  const standing = async () => {
    const { snapshot } = (await world.fleetSource.snapshot('acme')) ?? {}
    const now = Math.floor(clock.nowMs() / 1000)
    return compileServices(snapshot?.services)?.standing(pass, now)
  }
  t.equal(await standing(), undefined)
  await machines.revokeSecret('acme', serviceId, secretId, ACTOR)
  t.equal(await standing(), 'machine_token_revoked')
})

t.test('when a token was asked for is when the machine was last seen', async (t) => {
  const { machines, serviceId, ask, clock } = await startMachines(t)
  await ask()
  const nowMs = clock.nowMs()
  const seen = { seenAt: nowMs, seenIp: '127.0.0.1', requests: 0, secrets: [{ usedAt: nowMs }] }
  t.match(await machines.one('acme', serviceId), seen)
  clock.advance(60_000)
  await ask()
  t.match(await machines.one('acme', serviceId), seen, 'told now and then')
  clock.advance(240_000)
  await ask()
  t.match(await machines.one('acme', serviceId), { seenAt: clock.nowMs() })
})
