/** Sign-out at a provider and by one: what it ends is over here, and nothing else can say so. */
import { randomUUID } from 'node:crypto'
import { SignJWT, generateKeyPair, type JWTPayload } from 'jose'
import t, { type Test } from 'tap'
import { schema } from '../../../../control-plane/store/schema.ts'
import { ACTOR, Browser, PASSWORD, relyingParty, signIn } from '../realm-world.ts'
import { enrolApp, isAskingForCode, setPolicy } from '../steps.ts'
import { activeConnection, atProvider, GRACE, startConnected } from './connected.ts'
import { CLIENT } from './provider-peer.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const now = () => Math.floor(Date.now() / 1000)

async function start(t: Test, wished: { signsOut?: boolean } = {}) {
  const connected = await startConnected(t, {}, wished)
  const { peer, world, tenant, connection } = connected

  async function comes(person: Record<string, unknown> = {}, by = connection) {
    const one = await atProvider(world, tenant, by)
    const back = await one.browser.visit(peer.signIn(one.to, { ...GRACE, ...person } as JWTPayload))
    return { ...one, back, finish: () => one.claims(back.url) }
  }
  const signed = (
    claims: object,
    header: object = {},
    key: Parameters<SignJWT['sign']>[0] = peer.privateKey,
  ) =>
    new SignJWT({
      ...{ iss: peer.issuer, aud: CLIENT.clientId, iat: now(), exp: now() + 120 },
      ...{ jti: randomUUID(), events: { [EVENT]: {} }, ...claims },
    } as JWTPayload)
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'logout+jwt', ...header })
      .sign(key)
  const send = async (token: string, by = connection, tenantId = 'acme') => {
    const url = `${world.baseUrl}/auth/realms/${tenantId}/connections/${by.connectionId}/back-channel-logout`
    const body = new URLSearchParams({ logout_token: token })
    const answer = await new Browser(world.baseUrl).once(url, { method: 'POST', body })
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  const isAlive = async (sid: unknown) => {
    const row = await world.sessions.find('acme', String(sid))
    return row !== undefined && row.endedAt === null
  }
  return { ...connected, comes, signed, send, isAlive }
}

t.test('what a provider ends is over here, and what another session began is not', async (t) => {
  const { comes, signed, send, isAlive, world, tenant } = await start(t)
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

t.test('by the person, all of theirs end, and nobody else’s', async (t) => {
  const { comes, signed, send, isAlive, tenant, world } = await start(t)
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
  const { comes, signed, send, isAlive, peer } = await start(t)
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
  const { comes, signed, send, isAlive, peer } = await start(t)
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
  const { comes, signed, send, isAlive } = await start(t)
  const token = await signed({ sub: GRACE.sub })
  const { sid: before } = await (await comes()).finish()
  const answers = await Promise.all([1, 2, 3].map(() => send(token)))
  t.same(answers.map(({ status }) => status).sort(), [200, 400, 400])
  t.notOk(await isAlive(before))
  const { sid } = await (await comes()).finish()
  t.match(await send(token), { status: 400, text: /used before/ })
  t.ok(await isAlive(sid), 'whoever has kept it ends nothing with it')
})

t.test('a token for one connection or tenant is none for another', async (t) => {
  const { comes, signed, send, isAlive, world, peer, connection } = await start(t)
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
  const { comes, signed, send, world, tenant } = await start(t)
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
  const { comes, signed, send, isAlive, world, tenant } = await start(t)
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

t.test(
  'whoever signs out here is sent there, and comes back to where they were to go',
  async (t) => {
    const { comes, peer, connection, tenant, world, isAlive } = await start(t, { signsOut: true })
    peer.publish({ end_session_endpoint: `${peer.issuer}/logout?x=1` })
    const person = await comes({ sid: 'there' })
    const grant = await person.flow.finish(person.back.url)
    const { origin } = new URL(tenant.redirectUri)
    const url = new URL(`${tenant.issuer}/logout`)
    url.searchParams.set('id_token_hint', String(grant.id_token))
    url.searchParams.set('post_logout_redirect_uri', `${origin}/`)
    const sent = await person.browser.once(url.href)
    t.equal(sent.status, 303)
    const to = new URL(sent.headers.get('location') ?? '')
    t.equal(to.origin + to.pathname, `${peer.issuer}/logout`)
    t.equal(to.searchParams.get('x'), '1')
    t.equal(to.searchParams.get('client_id'), CLIENT.clientId)
    const own = `${tenant.issuer}/connections/${connection.connectionId}/signed-out`
    t.equal(to.searchParams.get('post_logout_redirect_uri'), own)
    t.match(to.searchParams.get('id_token_hint'), /^ey.*\..*\./)
    t.notOk(await isAlive(grant.claims()?.sid), 'over here before')

    const state = to.searchParams.get('state') ?? ''
    const back = await person.browser.once(`${own}?state=${state}`)
    t.equal(back.headers.get('location'), `${origin}/`)
    const page = await person.browser.visit(`${own}?state=${state}x`)
    t.match(page, { response: { status: 200 }, html: /signed out/i })
    const other = await activeConnection(world, 'acme', peer, { name: 'Other' })
    const elsewhere = own.replace(connection.connectionId, other.connectionId)
    t.equal(
      (await person.browser.once(`${elsewhere}?state=${state}`)).status,
      200,
      'of another one',
    )
  },
)

t.test('nobody is sent anywhere where that is not wished, or cannot be', async (t) => {
  const leave = async (
    { comes, tenant }: Awaited<ReturnType<typeof start>>,
    came = comes({ sid: 'there' }),
  ) => {
    const person = await came
    const grant = await person.flow.finish(person.back.url)
    const query = new URLSearchParams({ id_token_hint: String(grant.id_token) })
    return person.browser.once(`${tenant.issuer}/logout?${query}`)
  }
  const off = await start(t)
  off.peer.publish({ end_session_endpoint: `${off.peer.issuer}/logout` })
  t.equal((await leave(off)).status, 200, 'it is off')
  const kept = (await off.world.store.read.select().from(schema.upstreamSessions))[0]
  t.match(kept, { subject: GRACE.sub, upstreamSid: 'there' })

  const none = await start(t, { signsOut: true })
  t.equal((await leave(none)).status, 200, 'the provider has no such place')
  const odd = await start(t, { signsOut: true })
  odd.peer.publish({ end_session_endpoint: 'http://id.company.example/logout' })
  t.equal((await leave(odd)).status, 200, 'one that cannot be used keeps nobody out')
  const { world, tenant } = odd
  const ada = await signIn(
    new Browser(world.baseUrl),
    tenant,
    {},
    { username: 'ada', password: PASSWORD },
  )
  t.ok(ada)
})
