/** A provider ends sessions (OpenID Connect Back-Channel Logout 1.0), and nobody else can. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT, generateKeyPair } from 'jose'
import t from 'tap'
import { createBackChannel } from '../../../../control-plane/connections/back-channel.ts'
import { schema } from '../../../../control-plane/store/schema.ts'
import { servedAt, startGateway, until } from '../../../support/fleet.ts'
import { ACTOR, Browser, relyingParty, signIn } from '../realm-world.ts'
import { enrolApp, isAskingForCode, setPolicy } from '../steps.ts'
import { activeConnection, GRACE } from './connected.ts'
import { CLIENT } from './provider-peer.ts'
import { EVENT, now, startSigningOut } from './signing-out.ts'

const LOGOUT = { sub: GRACE.sub!, jti: 'one', iat: now(), exp: now() + 60, events: { [EVENT]: {} } }

t.test('what a provider ends is over here, and what another session began is not', async (t) => {
  const { comes, signed, send, isAlive, world, tenant } = await startSigningOut(t)
  const one = await comes({ sid: 'there-1' })
  const two = await comes({ sid: 'there-2' })
  const [first, second] = [await one.finish(), await two.finish()]
  t.not(first.sid, second.sid)
  const answer = await send(await signed({ sub: GRACE.sub, sid: 'there-1' }))
  t.match(answer, { status: 200, text: '' })
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.notOk(await isAlive(first.sid))
  t.ok(await isAlive(second.sid))
  const revoked = await world.revocations.revokedState('acme')
  t.same(Object.keys(revoked.sids), [first.sid], 'and so at every gateway')
  const again = await one.browser.visit((await (await relyingParty(tenant)).begin()).url)
  t.match(again.html, /Continue with Company/, 'the browser is not signed in here either')

  t.equal((await send(await signed({ sid: 'there-2' }))).status, 200, 'by the session alone')
  t.notOk(await isAlive(second.sid))
  const audited = await world.auditTrail.list({ limit: 5 }, { tenantId: 'acme' })
  t.match(audited.items[0], { action: 'sessions.revoked', content: { reason: 'upstream_logout' } })
})

t.test(
  'providers that speak no OpenID Connect end nothing, whatever is published there',
  async (t) => {
    const { comes, signed, connection, world, isAlive } = await startSigningOut(t)
    const { sid } = await (await comes({ sid: 'there' })).finish()
    const proven = () => Promise.resolve({ iss: connection.issuer, ...LOGOUT })
    const { take } = createBackChannel({ store: world.store, documents: { proven } })
    const token = await signed({ sub: GRACE.sub })
    for (const preset of ['saml', 'github'] as const) {
      const own = { ...connection, tenantId: 'acme', preset, clientId: '' }
      await t.rejects(take(own, token, ACTOR), /providers of this kind/)
    }
    t.ok(await isAlive(sid))
  },
)

t.test('every gateway refuses it before the provider is answered', async (t) => {
  const { comes, signed, send, world } = await startSigningOut(t)
  const hub = createServer()
  world.fleet.attach(hub)
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
  t.teardown(() => hub.close())
  const { port } = hub.address() as AddressInfo
  const gateways = ['edge-1', 'edge-2'].map((id) =>
    startGateway(t, { id, port, fleetKey: 'fleet-key-of-the-tests', workers: 2 }),
  )
  for (const { registry } of gateways)
    await until(() => servedAt(registry, 'acme.example') !== undefined)
  const { sid } = await (await comes({ sid: 'there' })).finish()
  const began = performance.now()
  t.equal((await send(await signed({ sub: GRACE.sub, sid: 'there' }))).status, 200)
  t.comment(`${Math.round(performance.now() - began)} ms`)
  for (const { workers } of gateways)
    for (const { revocations } of workers)
      t.ok(revocations.some(({ revoked }) => Object.hasOwn(revoked.sids, sid as string)))
})

t.test('by the person, all of theirs end, and nobody else’s', async (t) => {
  const { comes, signed, send, isAlive, tenant, world } = await startSigningOut(t)
  const mine = [await (await comes()).finish(), await (await comes({ sid: 'x' })).finish()]
  const other = await (await comes({ sub: 'eve', email: 'eve@company.example' })).finish()
  const ada = await signIn(new Browser(world.baseUrl), tenant)
  t.equal((await send(await signed({ sub: 'nobody' }))).status, 200)
  t.equal((await send(await signed({ sub: GRACE.sub }))).status, 200)
  for (const { sid } of mine) t.notOk(await isAlive(sid))
  t.ok(await isAlive(other.sid))
  t.ok(await isAlive(ada.claims.sid))
})

t.test('a token that is not what it says, or not for us, ends nothing', async (t) => {
  const { comes, signed, send, isAlive, peer } = await startSigningOut(t)
  const { sid } = await (await comes({ sid: 'there' })).finish()
  const of = { sub: GRACE.sub, sid: 'there' }
  const { privateKey } = await generateKeyPair('RS256')
  const byPublicKey = new TextEncoder().encode(JSON.stringify(peer.jwk))
  const none = (claims: object) =>
    [{ alg: 'none', kid: 'one', typ: 'logout+jwt' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.') + '.'
  const wrong: Record<string, string> = {
    'a nonce': await signed({ ...of, nonce: 'n' }),
    'an empty nonce': await signed({ ...of, nonce: '' }),
    'another audience': await signed({ ...of, aud: 'another-client' }),
    'another issuer': await signed({ ...of, iss: 'https://id.mallory.example' }),
    'an issuer with a slash more': await signed({ ...of, iss: `${peer.issuer}/` }),
    'no issuer': await signed({ ...of, iss: undefined }),
    'no audience': await signed({ ...of, aud: undefined }),
    'no time': await signed({ ...of, iat: undefined }),
    'of long ago': await signed({ ...of, iat: now() - 3600, exp: undefined }),
    'of tomorrow': await signed({ ...of, iat: now() + 3600 }),
    over: await signed({ ...of, exp: now() - 120 }),
    'no id': await signed({ ...of, jti: undefined }),
    'an id that is none': await signed({ ...of, jti: 7 }),
    'no event': await signed({ ...of, events: undefined }),
    'another event': await signed({ ...of, events: { 'http://schemas.openid.net/event/x': {} } }),
    'an event that is a text': await signed({ ...of, events: EVENT }),
    'a list of events': await signed({ ...of, events: [EVENT] }),
    'an event without a content': await signed({ ...of, events: { [EVENT]: true } }),
    nobody: await signed({}),
    'a session that is no text': await signed({ sub: GRACE.sub, sid: 5 }),
    'a person that is no text': await signed({ sub: { $ne: '' }, sid: 'there' }),
    'the session of another person': await signed({ sub: 'eve', sid: 'there' }),
    'an access token': await signed(of, { typ: 'at+jwt' }),
    'another key': await signed(of, {}, privateKey),
    'a key that nobody publishes': await signed(of, { kid: 'two' }),
    'signed with the public key': await signed(of, { alg: 'HS256' }, byPublicKey),
    'not signed': none({
      ...of,
      iss: peer.issuer,
      aud: CLIENT.clientId,
      iat: now(),
      jti: '1',
      events: { [EVENT]: {} },
    }),
    'no token': 'x',
    empty: '',
  }
  for (const [name, token] of Object.entries(wrong)) {
    const { status, text } = await send(token)
    if (name === 'the session of another person') t.equal(status, 200, name)
    else t.match({ status, text }, { status: 400, text: /"invalid_request"/ }, name)
    t.ok(await isAlive(sid), `${name}: it goes on`)
  }
  t.equal(
    (await send(await signed(of, { typ: undefined }))).status,
    200,
    'and a right one is taken',
  )
  t.notOk(await isAlive(sid))
})

t.test('an ID token is no logout token, and no logout token signs anybody in', async (t) => {
  const { comes, signed, send, isAlive, peer } = await startSigningOut(t)
  let idToken = ''
  const { privateKey } = peer
  peer.change({
    async idToken(claims) {
      idToken = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .sign(privateKey)
      return idToken
    },
  })
  const { sid } = await (await comes({ sid: 'there' })).finish()
  t.equal((await send(idToken)).status, 400)
  t.ok(await isAlive(sid))
  const logout = await signed({ sub: GRACE.sub, sid: 'there' }, { typ: 'JWT' })
  peer.change({ idToken: () => logout })
  t.equal((await comes()).back.response.status, 400)
})

t.test('a token counts once, however often and at the same time it comes', async (t) => {
  const { comes, signed, send, isAlive } = await startSigningOut(t)
  const token = await signed({ sub: GRACE.sub })
  const { sid: before } = await (await comes()).finish()
  const answers = await Promise.all([1, 2, 3].map(() => send(token)))
  t.same(answers.map(({ status }) => status).sort(), [200, 400, 400])
  t.notOk(await isAlive(before))
  const { sid } = await (await comes()).finish()
  t.match(await send(token), { status: 400, text: /used before/ })
  t.ok(await isAlive(sid), 'whoever has kept it ends nothing with it')
})

/** The attack: a provider of one's own, whose one session has begun very many here. */
t.test('very many that one session there has begun end some in each change', async (t) => {
  const { signed, isAlive, world, connection } = await startSigningOut(t)
  const sids = Array.from({ length: 120 }, (_, at) => `sid-${at}`)
  const issuedAtMs = Date.now() - 1000
  for (const [at, sid] of sids.entries())
    await world.sessions.record({
      ...{ tenantId: 'acme', sid, userId: `usr_${at % 3}`, ip: '192.0.2.1', userAgent: 'test' },
      ...{ issuedAtMs, expiresAtMs: issuedAtMs + 3_600_000 },
      upstream: { connectionId: connection.connectionId, subject: 'eve', sid: 'there' },
    })
  const alive = async () => {
    const all = await Promise.all(sids.map(isAlive))
    return all.filter((one) => one).length
  }
  const ended: number[] = []
  let isCut = true
  const change: typeof world.store.change = async (work) => {
    const before = await alive()
    if (isCut && before < sids.length) throw new Error('the process ends here')
    const result = await world.store.change(work)
    ended.push(before - (await alive()))
    return result
  }
  const claims = { ...LOGOUT, sub: 'eve', sid: 'there' }
  const proven = () => Promise.resolve({ iss: connection.issuer, ...claims })
  const backChannel = createBackChannel({
    store: { ...world.store, change },
    documents: { proven },
  })
  const own = { ...connection, tenantId: 'acme' }
  const token = await signed(claims)
  await t.rejects(backChannel.take(own, token, ACTOR), /process ends/)
  isCut = false
  t.equal(await backChannel.take(own, token, ACTOR), 70, 'the provider sends it again')
  t.same(ended, [50, 50, 20])
  await t.rejects(backChannel.take(own, token, ACTOR), /used before/)
  const left = await world.store.read.select().from(schema.upstreamSessions)
  t.same(left, [], 'and the next token looks through none of them')
})

t.test('a person with very many sessions is signed out, and that is told once', async (t) => {
  const { comes, signed, isAlive, world, connection } = await startSigningOut(t)
  await (await comes()).finish()
  const [{ userId } = { userId: '' }] = await world.store.read.select().from(schema.sessions)
  const sids = Array.from({ length: 120 }, (_, at) => `sid-${at}`)
  const issuedAtMs = Date.now() - 1000
  for (const sid of sids)
    await world.sessions.record({
      ...{ tenantId: 'acme', sid, userId, ip: '192.0.2.1', userAgent: 'test' },
      ...{ issuedAtMs, expiresAtMs: issuedAtMs + 3_600_000 },
      upstream: { connectionId: connection.connectionId, subject: GRACE.sub! },
    })
  const proven = () => Promise.resolve({ iss: connection.issuer, ...LOGOUT })
  const { take } = createBackChannel({ store: world.store, documents: { proven } })
  t.equal(await take({ ...connection, tenantId: 'acme' }, await signed(LOGOUT), ACTOR), 1)
  t.same(
    (await Promise.all(sids.map(isAlive))).filter((one) => one),
    [],
  )
})

t.test('a token for one connection or tenant is none for another', async (t) => {
  const { comes, signed, send, isAlive, world, peer, connection } = await startSigningOut(t)
  await world.tenant('other')
  const theirs = await activeConnection(world, 'other', peer, { clientId: 'client-of-other' })
  const second = await activeConnection(world, 'acme', peer, { clientId: 'another-client' })
  const { sid } = await (await comes({ sid: 'there' })).finish()
  const forOther = await signed({ sub: GRACE.sub, sid: 'there', aud: 'client-of-other' })
  t.equal((await send(forOther)).status, 400, 'of tenant B at A')
  t.equal((await send(forOther, theirs, 'acme')).status, 400, 'by the connection of B at A')
  t.equal((await send(forOther, theirs, 'other')).status, 200, 'it is one for B')
  const forSecond = await signed({ sub: GRACE.sub, sid: 'there', aud: 'another-client' })
  t.equal((await send(forSecond)).status, 400)
  t.equal((await send(forSecond, second)).status, 200, 'and of B nobody of this connection ends')
  t.ok(await isAlive(sid))
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  t.equal((await send(await signed({ sid: 'there' }))).status, 400, 'off')
  t.ok(await isAlive(sid))
})

t.test('whoever is still on their way when the provider ends it does not arrive', async (t) => {
  const { comes, signed, send, world, tenant } = await startSigningOut(t)
  const known = await comes()
  const { sub } = await known.finish()
  const late = await comes({ sid: 'there' })
  t.equal((await send(await signed({ sid: 'there' }))).status, 200)
  await t.rejects(
    late.finish(),
    { code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant' },
    'the code is worth nothing',
  )
  const person = await comes({ sid: 'elsewhere' })
  t.equal((await send(await signed({ sub: GRACE.sub }))).status, 200)
  await t.rejects(person.finish(), { code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant' })

  const app = await enrolApp(world, tenant, sub)
  await setPolicy(world, 'mfa', { mode: 'required' })
  const asked = await comes({ sid: 'third' })
  t.ok(isAskingForCode(asked.back.html))
  t.equal((await send(await signed({ sid: 'third' }))).status, 200)
  const shown = await asked.browser.submit(asked.back.url, { code: app.code() })
  await t.rejects(
    asked.claims(shown.url),
    { code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant' },
    'between both steps',
  )
})

t.test('a session that has shown more since ends with the one that it came by', async (t) => {
  const { comes, signed, send, isAlive, world, tenant } = await startSigningOut(t)
  const person = await comes({ sid: 'there' })
  const { sub } = await person.finish()
  const app = await enrolApp(world, tenant, sub)
  const party = await relyingParty(tenant)
  const flow = await party.begin({ acr_values: 'aal2' })
  const page = await person.browser.visit(flow.url)
  const shown = await person.browser.submit(page.url, { code: app.code() })
  const stepped = (await flow.finish(shown.url)).claims()
  t.equal(stepped?.acr, 'aal2')
  t.equal((await send(await signed({ sid: 'there' }))).status, 200)
  t.notOk(await isAlive(stepped?.sid))
})
