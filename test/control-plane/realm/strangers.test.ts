/** What anybody can ask a realm for: by no other spelling, of no other size, and no more at once. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { createRealmRecords } from '../../../control-plane/realm/records.ts'
import { realmRouteOf, tooLongIn } from '../../../control-plane/realm/routes.ts'
import { eq } from '../../../control-plane/store/drizzle.ts'
import {
  deleteSurplusOfSite,
  deleteSurplusOpen,
  openedByPerson,
  upsertRecord,
} from '../../../control-plane/store/queries/realm-records.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ADA,
  Browser,
  relyingParty,
  requestWith,
  signIn,
  startWorld,
  type World,
} from './realm-world.ts'
import { begin, enrolApp } from './steps.ts'

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
  const together = (more: number) => {
    const whole = 'x'.repeat(LIMITS.authorizeStateBytesMax)
    const rest = 'x'.repeat(LIMITS.authorizeKeptBytesMax - 2 * whole.length - 3 * 2 + more)
    return tooLongIn(`?state=${whole}&nonce=${whole}&scope=${rest}`)
  }
  t.equal(together(0), undefined)
  t.match(together(1), /^all parameters together are longer than 5120 bytes$/)
  const blown = '%00'.repeat(900)
  t.match(tooLongIn(`?state=${blown}`), /^all parameters together/, 'as long as they are kept')
  const hint = 'x'.repeat(LIMITS.sessionTokenReadBytesMax)
  t.equal(tooLongIn(`?state=${'x'.repeat(2048)}&id_token_hint=${hint}`), undefined)
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
  const openLimits = {
    perAddressMax: 3,
    perSiteMax: 5,
    perPersonMax: 2,
    perTenantMax: 7,
    tenantEvery: 2,
  }
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

t.test(
  'a neighbor’s flood throws out no page of a browser that has signed in before',
  async (t) => {
    const world = await startWorld(t)
    const { store, clock } = world
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    await signIn(browser, acme)
    browser.forgetCookies(({ name }) => name.endsWith('_session'))
    const { page, password } = await begin(world, acme, {}, browser)
    t.match(page.html, /name="password"/)
    const mine = openedByPerson(acme.ada.userId)
    const opened = (await rows(world, 'Interaction')).filter(({ openedBy }) => openedBy === mine)
    t.equal(opened.length, 1)

    const flood = async (openedBy: string, count: number) =>
      store.change(async ({ queries }) => {
        const row = opened[0] as NonNullable<(typeof opened)[0]>
        for (let at = 1; at <= count; at++) {
          const expiresAt = clock.nowMs() + 7_200_000 + at
          await upsertRecord(queries, { ...row, idHash: `${openedBy} ${at}`, openedBy, expiresAt })
        }
      })
    const surplus = (openedBy: string | null, most: number) =>
      store.change(({ queries }) =>
        deleteSurplusOpen(queries, { tenantId: 'acme', model: 'Interaction', openedBy }, most),
      )
    await flood('127.0.0.1', 5)
    await surplus('127.0.0.1', 3)
    await surplus(null, 3)
    const count = async (openedBy: string) =>
      (await rows(world, 'Interaction')).filter((row) => row.openedBy === openedBy).length
    t.same([await count('127.0.0.1'), await count(mine)], [3, 1])

    await flood(mine, LIMITS.signInsPerPersonMax)
    t.equal(await count(mine), LIMITS.signInsPerPersonMax + 1)
    await begin(world, acme, {}, browser)
    t.equal(await count(mine), LIMITS.signInsPerPersonMax, 'a person has so many themselves')

    const planted = new Browser(world.baseUrl)
    const device = browser.cookies.find(({ name }) => name.endsWith('_device'))
    planted.remember(device ? [{ ...device, value: 'x'.repeat(43) }] : [])
    await begin(world, acme, {}, planted)
    t.equal(await count(mine), LIMITS.signInsPerPersonMax, 'a cookie of nobody is a stranger’s')
    t.equal((await password()).response.status, 410, 'of their own the oldest went')
  },
)

t.test('a site has so many open, and of its networks the fullest loses one', async (t) => {
  const world = await startWorld(t)
  const { store, clock } = world
  const acme = await world.tenant('acme')
  await begin(world, acme)
  const [row] = await rows(world, 'Interaction')
  const open = async (openedBy: string, count: number) =>
    store.change(async ({ queries }) => {
      for (let at = 1; at <= count; at++) {
        const expiresAt = clock.nowMs() + at
        const record = { ...row!, idHash: `${openedBy} ${at}`, openedBy, expiresAt }
        await upsertRecord(queries, record)
        await deleteSurplusOfSite(queries, record, 6)
      }
    })
  await open('2001:db8:1:1::/64', 1)
  for (let network = 2; network < 6; network++) await open(`2001:db8:1:${network}::/64`, 3)
  await open('2001:db8:11:1::/64', 2)
  await open('192.0.2.1', 7)
  const count = async (start: string) =>
    (await rows(world)).filter(({ openedBy }) => openedBy?.startsWith(start)).length
  t.equal(await count('2001:db8:1:'), 6)
  t.equal(await count('2001:db8:1:1::'), 1, 'a neighbour with one keeps it')
  t.equal(await count('2001:db8:11:'), 2, 'another site')
  t.equal(await count('192.0.2.1'), 7, 'an address of IPv4 has its own bound')
  t.equal(LIMITS.openSignInsPerSiteMax, 2000)
})

t.test('on the way back after a proof nobody waits with the strangers', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { sendOnce } = await begin(world, acme, {}, browser)
  const { url: back } = await sendOnce(ADA)
  t.match(back, /authorize/)
  const [held, isHeld] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = world.store.change(async () => {
    isHeld.resolve()
    await held.promise
  })
  await isHeld.promise
  const { url } = await (await relyingParty(acme)).begin()
  const most = LIMITS.strangersAtOnceMax + LIMITS.strangersWaitingPerAddressMax
  const flood = Array.from({ length: most + 1 }, () => new Browser(world.baseUrl).once(url))
  t.equal((await Promise.race(flood)).status, 503, 'the queue is full')
  const resumed = browser.once(new URL(back, world.baseUrl).href)
  const forged = new Browser(world.baseUrl)
  const planted = { cookie: 'realm_acme_attempt_aaaaaaaaaaaa=x' }
  t.equal((await forged.once(url, { headers: planted })).status, 503, 'a cookie of nobody')
  held.resolve()
  await writing
  t.equal((await resumed).status, 303)
  await Promise.all(flood)
})

t.test('what somebody has answered counts as theirs, finished or begun again', async (t) => {
  const world = await startWorld(t)
  const { store } = world
  const acme = await world.tenant('acme')
  const theirs = async () =>
    (await rows(world, 'Interaction')).filter(({ accountId }) => accountId === acme.ada.userId)
  await signIn(new Browser(world.baseUrl), acme)
  t.match(await theirs(), [{ openedBy: null }], 'a finished one, for as long as it is kept')
  await enrolApp(world, acme)
  const { password, send } = await begin(world, acme)
  await password()
  t.equal((await theirs()).length, 2)
  await send({ restart: '' })
  t.match(await theirs(), [{ openedBy: null }, { openedBy: null }], 'nor is it nobody’s now')

  const [row] = await theirs()
  const { signInsPerPersonMax } = LIMITS
  await store.change(async ({ queries }) => {
    for (let at = 0; at < signInsPerPersonMax; at++)
      await upsertRecord(queries, { ...(row as NonNullable<typeof row>), idHash: `more ${at}` })
  })
  t.equal((await theirs()).length, signInsPerPersonMax + 2)
  const { password: again, send: sendAgain } = await begin(world, acme)
  t.match((await again()).html, /name="code"/)
  t.equal((await theirs()).length, signInsPerPersonMax)
  t.match((await sendAgain({ code: '' })).html, /name="code"/, 'the newest stays')
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
