/** What anybody can ask a realm for: by no other spelling, of no other size, and no more at once. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { eq } from 'drizzle-orm'
import t from 'tap'
import { createRealmRecords } from '../../../control-plane/realm/records.ts'
import { realmRouteOf, tooLongIn } from '../../../control-plane/realm/routes.ts'
import { deleteSurplusOpen } from '../../../control-plane/store/queries/realm-records.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { Browser, relyingParty, requestWith, startWorld, type World } from './realm-world.ts'

const plenty = { burst: 100, perSecond: 100 }
const one = { burst: 1, perSecond: 0.001 }

const rows = async ({ store }: World, model?: string) => {
  const all = await store.read.select().from(schema.realmRecords)
  return all.filter((row) => model === undefined || row.model === model)
}

t.test('an address in another spelling is no address, and writes nothing', async (t) => {
  const world = await startWorld(t, { rates: { authorize: one, signIn: plenty, account: plenty } })
  const acme = await world.tenant('acme')
  const { url } = await (await relyingParty(acme)).begin()
  const { search } = new URL(url)
  const browser = new Browser(world.baseUrl)
  for (const path of [
    'AUTHORIZE',
    'Authorize',
    'authoriz%65',
    'authorize/',
    'authorize//',
    './authorize/',
    'LOGOUT',
    'Logout/confirm',
    'JWKS',
    'jwks/',
    'Token',
    'UserInfo',
    '.WELL-KNOWN/openid-configuration',
    '.well-known/openid-configuration/',
    'SIGN-IN/aaaaaaaaaaaaaaaaaaaaa',
    'Account',
    'account/',
    'interaction/aaaaaaaaaaaaaaaaaaaaa',
    'logout/success',
  ])
    for (const method of ['GET', 'POST']) {
      const answer = await browser.once(`${acme.issuer}/${path}${search}`, { method })
      t.match([404, path], [answer.status, path], method)
      t.notMatch(answer.headers.get('set-cookie'), /./)
    }
  for (const [method, path] of [
    ['PUT', 'authorize'],
    ['DELETE', 'logout'],
    ['GET', 'token'],
    ['POST', 'jwks'],
    ['GET', 'own-sessions'],
    ['PATCH', 'account'],
  ] as const)
    t.equal((await browser.once(`${acme.issuer}/${path}`, { method })).status, 404, path)
  t.same(await rows(world), [])
  t.equal((await browser.once(url)).status, 303, 'and none of it was counted')
})

t.test('every address of a realm is in the table', async (t) => {
  const uid = 'aaaaaaaaaaaaaaaaaaaaa'
  for (const [method, path] of [
    ['GET', '/authorize'],
    ['POST', '/authorize'],
    ['GET', `/authorize/${uid}`],
    ['POST', `/sign-in/${uid}`],
    ['HEAD', `/sign-in/${uid}`],
    ['GET', '/account'],
    ['POST', '/account/new-password'],
    ['GET', '/logout'],
    ['POST', '/logout/confirm'],
    ['POST', '/token'],
    ['OPTIONS', '/userinfo'],
    ['GET', '/passkey.js'],
    ['GET', '/.well-known/oauth-authorization-server'],
  ] as const)
    t.ok(realmRouteOf(method, path), `${method} ${path}`)
})

t.test('what is kept of a request has a length', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  for (const [name, most] of [
    ['state', LIMITS.authorizeStateBytesMax],
    ['nonce', LIMITS.authorizeStateBytesMax],
    ['login_hint', LIMITS.authorizeParameterBytesMax],
    ['ui_locales', LIMITS.authorizeParameterBytesMax],
  ] as const) {
    const at = (length: number) => requestWith(acme, { [name]: 'x'.repeat(length) })
    t.equal((await browser.once(await at(most))).status, 303, name)
    const before = (await rows(world)).length
    const refused = await browser.once(await at(most + 1))
    t.equal(refused.status, 400, name)
    t.match(await refused.text(), new RegExp(`${name} is longer than ${most} bytes`))
    const headers = { accept: 'application/json' }
    const told = await (await browser.once(await at(most + 1), { headers })).json()
    t.match(told, { error: 'invalid_request', details: ['invalid_request', /longer than/] })
    t.equal((await rows(world)).length, before, 'nothing is kept of it')
  }
  const wide = new URLSearchParams({ state: 'é'.repeat(LIMITS.authorizeStateBytesMax / 2) })
  t.equal(tooLongIn(`?${wide.toString()}`), undefined)
  t.ok(tooLongIn(`?${wide.toString()}e`), 'in bytes, not in letters')
  t.match(tooLongIn(`?redirect_uri=${'x'.repeat(LIMITS.authorizeRedirectBytesMax + 1)}`), /longer/)
  t.match(tooLongIn(`?scope=${'x'.repeat(1025)}`), /^scope is longer than 1024 bytes$/)
  t.match(tooLongIn(`?<b>=${'x'.repeat(1025)}`), /^a parameter is longer/)
  t.match(tooLongIn(`?${'x=1&'.repeat(3000)}`), /^the request is longer/)
})

t.test('an address has so many sign-ins open, and then its oldest goes', async (t) => {
  const world = await startWorld(t)
  const { store, vault, clock } = world
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { url } = await (await relyingParty(acme)).begin()
  await browser.once(url)
  const [opened] = await rows(world, 'Interaction')
  t.equal(opened?.openedBy, '127.0.0.1')
  t.equal((await rows(world)).length, 1, 'a stranger leaves one row')

  const insert = (openedBy: string, at: number) =>
    store.change(({ queries }) =>
      queries.insert(schema.realmRecords).values({
        ...(opened as NonNullable<typeof opened>),
        idHash: `${openedBy} ${at}`,
        openedBy,
        expiresAt: clock.nowMs() + at,
      }),
    )
  for (let at = 1; at <= 5; at++) await insert('127.0.0.1', at * 1000)
  for (let at = 1; at <= 5; at++) await insert('192.0.2.1', at * 1000)
  const openLimits = { perAddressMax: 3, perTenantMax: 7, tenantEvery: 2 }
  const onCodeReused = () => Promise.resolve()
  const records = createRealmRecords({
    ...world,
    store,
    vault,
    clock,
    tenantId: 'acme',
    onCodeReused,
    openLimits,
  })
  const count = async (openedBy: string) => {
    const isTheirs = eq(schema.realmRecords.openedBy, openedBy)
    return (await store.read.select().from(schema.realmRecords).where(isTheirs)).length
  }
  const interactions = records.adapter('Interaction')
  const all = async () => (await count('127.0.0.1')) + (await count('192.0.2.1'))
  await interactions.upsert('x1', {}, 3600)
  t.equal(await all(), 7, 'a tenant has so many, from the first that a new realm opens')
  await insert('192.0.2.1', 6000)
  await insert('192.0.2.1', 7000)
  const others = await count('192.0.2.1')
  await interactions.upsert('x2', {}, 3600)
  t.equal(await count('192.0.2.1'), others, 'all of a tenant are counted now and then')
  const address = { tenantId: 'acme', model: 'Interaction', openedBy: '127.0.0.1' }
  await store.change(({ queries }) => deleteSurplusOpen(queries, address, 3))
  t.equal(await count('127.0.0.1'), 3)
  t.ok(
    (await rows(world)).find(({ idHash }) => idHash === opened?.idHash),
    'the newest stay',
  )
  await interactions.upsert('x3', {}, 3600)
  t.ok((await all()) <= 7, 'and are so many again')
  t.equal(LIMITS.openSignInsPerAddressMax, 1000)
  t.equal(LIMITS.openSignInsPerTenantMax, 20_000)
})

t.test('who sends a form slowly keeps nobody from signing in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { pathname } = new URL(`${acme.issuer}/authorize`)
  const slow = Array.from({ length: LIMITS.strangersAtOnceMax }, () => connect(world.port))
  t.teardown(() => slow.forEach((socket) => socket.destroy()))
  await Promise.all(slow.map((socket) => once(socket, 'connect')))
  const head = [
    `POST ${pathname} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 2000',
    'Expect: 100-continue',
  ]
  for (const socket of slow) socket.write(`${head.join('\r\n')}\r\n\r\nclient_id=`)
  await Promise.all(slow.map((socket) => once(socket, 'data'))) // their requests have arrived
  const { url } = await (await relyingParty(acme)).begin()
  t.equal((await new Browser(world.baseUrl).once(url)).status, 303)
})
