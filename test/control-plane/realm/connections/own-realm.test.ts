/** Our own realm as somebody else's provider: the people of one tenant come in at another one. */
import t from 'tap'
import { accountWithoutCredentials } from '../../../../control-plane/accounts/user-changes.ts'
import { insertUser } from '../../../../control-plane/store/queries/users.ts'
import { movableClock } from '../../../support/control-plane.ts'
import { until } from '../../../support/newcomer.ts'
import { ACTOR, ADA } from '../realm-world.ts'
import { identitiesOf } from './connected.ts'
import { EMAIL, startOwnRealm as start } from './own-realm.ts'

t.test('a test sign-in shows every claim that the other tenant tells', async (t) => {
  const { world, browser, connectionId, baseUrl, proveEmail } = await start(t)
  await proveEmail()
  const of = { tenantId: 'beta', connectionId }
  const { url } = world.connectionTickets.linkFor(baseUrl, of, 'olga')
  const by = browser()
  const there = await by.visit(url)
  t.match(there.url, '/auth/realms/alpha/sign-in/')
  const page = await by.submit(there.url, ADA)
  t.match(page.html, /The test passed/)
  for (const shown of [EMAIL, 'email_verified', 'Ada Lovelace', 'staff', 'aal1'])
    t.match(page.html, shown)
  t.same(await identitiesOf(world), [], 'it lets nobody in')
})

t.test(
  'people of one tenant get an account at the other, and the same one next time',
  async (t) => {
    const { world, beta, comes, activate, proveEmail } = await start(t)
    await proveEmail()
    await activate()
    const rules = [{ path: '/', allow: [{ attr: { team: 'staff' }, group: 'of alpha' }] }]
    await world.accessRules.put('beta', { rules }, ACTOR)
    const first = await comes()
    t.match(first.claims, { email: EMAIL, name: 'Ada Lovelace', aud: beta.clientId, gb: 'Aw' })
    const { sub = '' } = first.claims ?? {}
    t.same(
      (await world.personAttributes.list('beta', sub)).map(({ name, value }) => [name, value]),
      [['team', 'staff']],
    )
    t.equal((await comes()).claims?.sub, sub)
    const person = await world.users.get('beta', sub)
    t.equal(person.emailProvenAt, null, 'our own word on an address counts as anybody else’s')
  },
)

t.test('an address that nobody has proven to the one makes no account at the other', async (t) => {
  const { world, comes, activate } = await start(t)
  await activate()
  const { claims, back } = await comes()
  t.equal(claims, undefined)
  t.match(back.html, /not verified|has not verified|unverified|confirm/i)
  t.same(await identitiesOf(world), [])
})

t.test('a proven domain leads to the other tenant, and links who has no credentials', async (t) => {
  const { world, names, connectionId, comes, activate, proveEmail, toAlpha } = await start(t)
  await proveEmail()
  await activate()
  await names.prove(world, { tenantId: 'beta', connectionId })
  const invited = await world.store.change(async ({ queries, nowMs }) => {
    const whose = { tenantId: 'beta', username: 'ada2', email: EMAIL, name: 'Ada' }
    const user = accountWithoutCredentials(whose, nowMs)
    await insertUser(queries, user)
    return user
  })
  t.match((await toAlpha()).there.url, '/auth/realms/alpha/sign-in/')
  t.equal((await comes()).claims?.sub, invited.userId)
})

t.test('who signs out here signs out there, and comes back', async (t) => {
  const { alpha, beta, own, comes, activate, proveEmail, endOf } = await start(t)
  await proveEmail()
  await activate()
  const { by, token, claims } = await comes()
  const { origin } = new URL(beta.redirectUri)
  const query = new URLSearchParams({
    id_token_hint: token,
    post_logout_redirect_uri: `${origin}/`,
  })
  const sent = await by.once(`${beta.issuer}/logout?${query.toString()}`)
  const to = sent.headers.get('location') ?? ''
  t.ok(to.startsWith(`${alpha.issuer}/logout?`), to)
  const back = await by.once(to)
  t.ok(back.headers.get('location')?.startsWith(`${own}/signed-out`), 'asked nothing: it knows who')
  const home = await by.once(back.headers.get('location') ?? '')
  t.equal(home.headers.get('location'), `${origin}/`)
  t.equal(await endOf('beta', claims?.sid), 'signed_out')
  const again = await by.visit(`${alpha.issuer}/account`)
  t.notMatch(again.html, /Ada Lovelace/, 'nobody is signed in there any more')
})

t.test('whom the one signs out is out at the other, and nobody else is', async (t) => {
  const { world, alpha, comes, activate, proveEmail, endOf } = await start(t)
  await proveEmail()
  await activate()
  const one = await comes()
  const two = await comes()
  await one.by.visit(`${alpha.issuer}/logout`).then(async ({ html, url }) => {
    const fields = [...html.matchAll(/name="([^"]+)" value="([^"]*)"/g)]
    const form = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
    await one.by.submit(`${new URL(url).origin}/auth/realms/alpha/logout/confirm`, form)
  })
  await until('the session is over', async () => {
    await world.logoutNotices.send()
    return (await endOf('beta', one.claims?.sid)) === 'upstream_logout'
  })
  t.equal(await endOf('beta', two.claims?.sid), undefined, 'of another browser')
})

t.test('who is disabled at the one is out at the other at once, and stays out', async (t) => {
  const { world, alpha, comes, activate, proveEmail, endOf } = await start(t)
  await proveEmail()
  await activate()
  const { claims, by } = await comes()
  await world.users.patch('alpha', alpha.ada.userId, { isDisabled: true }, ACTOR)
  await until('the session is over', async () => {
    await world.logoutNotices.send()
    return (await endOf('beta', claims?.sid)) === 'upstream_logout'
  })
  t.equal((await comes(by)).claims, undefined)
})

t.test('keys of the one are replaced, and people come in at the other all the same', async (t) => {
  const clock = movableClock(Date.now())
  const { world, comes, activate, proveEmail } = await start(t, clock)
  await proveEmail()
  await activate()
  const { claims } = await comes()
  await world.keys.rotate('alpha', { phase: 'prepare' }, ACTOR)
  clock.advance(5 * 60_000)
  await world.keys.rotate('alpha', { phase: 'promote' }, ACTOR)
  t.equal((await comes()).claims?.sub, claims?.sub)
})
