/** What has been done to relying parties elsewhere, and is of no use here. */
import { SignJWT, type JWTPayload } from 'jose'
import t from 'tap'
import { updateConnection } from '../../../../control-plane/store/queries/connections.ts'
import { ACTOR, Browser } from '../realm-world.ts'
import {
  activeConnection,
  atProvider,
  GRACE,
  identitiesOf,
  startConnected,
  usersOf,
} from './connected.ts'
import { CLIENT } from './provider-peer.ts'

const MALLORY = 'https://id.mallory.example'

t.test('a token that is not for us or not an ID token', { timeout: 120_000 }, async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const now = Math.floor(Date.now() / 1000)
  const publicKey = new TextEncoder().encode(JSON.stringify(peer.jwk))
  const unsigned = (claims: JWTPayload) =>
    [{ alg: 'none', kid: 'one' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.') + '.'
  const byPublicKey = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(publicKey)
  const wrong = {
    'another audience': { claims: { aud: 'another-client' } },
    'two audiences, and no word for whom': { claims: { aud: [CLIENT.clientId, 'other'] } },
    'issued to another application': { claims: { azp: 'another-client' } },
    'another issuer': { claims: { iss: MALLORY } },
    'an issuer with a slash more': { claims: { iss: `${peer.issuer}/` } },
    'the nonce of another sign-in': { claims: { nonce: 'another' } },
    'no nonce': { claims: { nonce: undefined } },
    over: { claims: { exp: now - 120 } },
    'no end': { claims: { exp: undefined } },
    'of long ago': { claims: { iat: now - 3600 } },
    'no time': { claims: { iat: undefined } },
    nobody: { claims: { sub: undefined } },
    'an access token': { header: { typ: 'at+jwt' } },
    'a logout token': { header: { typ: 'logout+jwt' } },
    'not signed': { idToken: unsigned },
    'signed with the public key': { idToken: byPublicKey },
    'a key that nobody publishes': { header: { kid: 'two' } },
    'no token': { idToken: () => 'x' },
  }
  for (const [name, change] of Object.entries(wrong)) {
    const person = await atProvider(world, tenant, connection)
    peer.change(change)
    const back = await person.browser.visit(peer.signIn(person.to, GRACE))
    t.equal(back.response.status, 400, name)
  }
  t.equal((await usersOf(world)).length, 1)
  peer.change({ claims: { aud: [CLIENT.clientId, 'other'], azp: CLIENT.clientId } })
  const person = await atProvider(world, tenant, connection)
  const back = await person.browser.visit(peer.signIn(person.to, GRACE))
  t.match(await person.claims(back.url), { email: GRACE.email }, 'and a right one is taken')
})

t.test('an answer of another flow, browser, connection or provider', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const other = await activeConnection(world, 'acme', peer, { name: 'Other' })
  const { updatedAt } = connection // as if both had been made in the same moment
  await world.store.change(({ queries }) =>
    updateConnection(queries, 'acme', other.connectionId, { updatedAt }),
  )
  const refused = async (what: string, url: string, browser: Browser) =>
    t.equal((await browser.visit(url)).response.status, 400, what)

  const mine = await atProvider(world, tenant, connection)
  const stolen = peer.signIn(mine.to, GRACE)
  await refused('another browser', stolen, new Browser(world.baseUrl))
  await refused('no state', peer.signIn(mine.to, GRACE, { state: null }), mine.browser)
  await refused(
    'another state',
    peer.signIn(mine.to, GRACE, { state: 'x'.repeat(50) }),
    mine.browser,
  )
  const elsewhere = stolen.replace(connection.connectionId, other.connectionId)
  await refused('another connection', elsewhere, mine.browser)

  for (const [what, iss] of [
    ['another provider', MALLORY],
    ['a provider that does not say who it is', null],
  ] as const) {
    const one = await atProvider(world, tenant, connection)
    await refused(what, peer.signIn(one.to, GRACE, { iss }), one.browser)
  }
  t.notOk(peer.asked.includes('/token'), 'no code was shown to anybody')

  const two = [
    await atProvider(world, tenant, connection),
    await atProvider(world, tenant, connection),
  ]
  const [first, second] = two.map(({ to }) => new URL(peer.signIn(to, GRACE)).searchParams)
  const swapped = new URL(stolen)
  swapped.searchParams.set('state', second?.get('state') ?? '')
  swapped.searchParams.set('code', first?.get('code') ?? '')
  await refused('a code of another verifier', swapped.href, two[1]?.browser ?? mine.browser)
  t.ok(peer.asked.includes('/token'))
  t.strictSame(await identitiesOf(world), [])
})

t.test('an answer counts once, however often and at the same time it comes', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { browser, to } = await atProvider(world, tenant, connection)
  const url = peer.signIn(to, GRACE)
  const held = browser.cookies
  const twins = await Promise.all(
    [1, 2, 3].map(async () => {
      const twin = new Browser(world.baseUrl)
      twin.remember(held)
      return (await twin.once(url)).status
    }),
  )
  t.strictSame(twins.sort(), [303, 410, 410])
  t.equal(peer.asked.filter((path) => path === '/token').length, 1)
})

t.test("one tenant's connection is nothing to another", async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const other = await world.tenant('other')
  t.equal((await atProvider(world, other, connection)).status, 404)
  const mine = await atProvider(world, tenant, connection)
  const foreign = peer.signIn(mine.to, GRACE).replace('/realms/acme/', '/realms/other/')
  t.equal((await mine.browser.visit(foreign)).response.status, 400)
  const of = ['other', connection.connectionId, ACTOR] as const
  await t.rejects(world.connections.activate(...of), { code: 'connection_not_found' })
  await t.rejects(world.connections.remove(...of), { code: 'connection_not_found' })
})

t.test('an account under an address that nobody has shown to be theirs', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  for (const person of [
    { ...GRACE, email_verified: false },
    { ...GRACE, email_verified: undefined },
    { ...GRACE, email: undefined },
    { ...GRACE, email: 'ada@example.test', email_verified: false },
  ] as JWTPayload[]) {
    const one = await atProvider(world, tenant, connection)
    t.equal((await one.browser.visit(peer.signIn(one.to, person))).response.status, 403)
  }
  t.equal((await usersOf(world)).length, 1)

  // somebody was here first under the address of Grace; the mail reaches her, and so it is hers
  const before = await atProvider(world, tenant, connection)
  const back = await before.browser.visit(peer.signIn(before.to, { ...GRACE, sub: 'mallory' }))
  const { sub } = await before.claims(back.url)
  t.equal((await identitiesOf(world)).length, 1)
  const chosen = { isMailProven: true }
  await world.users.choosePassword('acme', sub, 'a password of her own 42', ACTOR, chosen)
  t.strictSame(await identitiesOf(world), [])
  const again = await atProvider(world, tenant, connection)
  const page = await again.browser.visit(peer.signIn(again.to, { ...GRACE, sub: 'mallory' }))
  t.match(page.html, /There is already an account/)
})

t.test('an issuer that leads somewhere else by now', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const { connectionId } = connection
  const first = await atProvider(world, tenant, connection)
  await first.browser.visit(peer.signIn(first.to, GRACE))
  const under = await atProvider(world, tenant, connection)
  const moved = await world.connections.patch('acme', connectionId, { issuer: MALLORY }, ACTOR)
  t.equal(moved.state, 'draft')
  t.equal((await under.browser.visit(peer.signIn(under.to, GRACE))).response.status, 400)
  t.equal((await atProvider(world, tenant, connection)).status, 404, 'not on the page any more')
  t.match(await identitiesOf(world), [{ issuer: peer.issuer }], 'who was who there is nobody here')
})

t.test('a provider that leads inside, elsewhere, or on and on', async (t) => {
  const documents = {
    'another issuer': { issuer: MALLORY },
    'no TLS': { token_endpoint: 'http://id.company.example/token' },
    'no keys': { jwks_uri: undefined },
    'a person in the address': { jwks_uri: 'https://a:b@id.company.example/jwks' },
  }
  for (const [name, document] of Object.entries(documents)) {
    const { peer, world, tenant, connection } = await startConnected(t)
    peer.publish(document)
    t.equal((await atProvider(world, tenant, connection)).status, 400, name)
  }
  const { peer, world, tenant, connection } = await startConnected(t)
  peer.answerWith((_path, response) => {
    response.writeHead(302, { location: `${peer.issuer}/elsewhere` }).end()
    return true
  })
  t.equal((await atProvider(world, tenant, connection)).status, 400, 'a redirect')
  t.notOk(peer.asked.includes('/elsewhere'))
  peer.answerWith((_path, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ issuer: peer.issuer, more: 'x'.repeat(257 * 1024) }))
    return true
  })
  t.equal((await atProvider(world, tenant, connection)).status, 400, 'more than anybody needs')

  const closed = await startConnected(t, {
    receivers: { ...peer.receivers, allowPrivate: [], resolve: async () => ['169.254.169.254'] },
  })
  const inside = await atProvider(closed.world, closed.tenant, closed.connection)
  t.equal(inside.status, 400)
  t.match(await inside.answer.text(), /a network that is not public/)
  t.strictSame(closed.peer.asked, [])
})
