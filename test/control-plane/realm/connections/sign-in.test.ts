/** People come in by a provider of their company, in the same funnel as with a password. */
import t from 'tap'
import { syncAttributes } from '../../../../control-plane/realm/connections/sync-attributes.ts'
import { isAskingForCode, isAskingForPassword, enrolApp, begin } from '../steps.ts'
import { ADA, ACTOR } from '../realm-world.ts'
import { atProvider, GRACE, identitiesOf, startConnected, usersOf } from './connected.ts'

t.test('a person who is new comes in, and the next time as the same person', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const first = await atProvider(world, tenant, connection)
  t.match(first.page.html, `Continue with Company`)
  t.match(first.page.html, first.start, 'a link, so that it needs no script')
  t.equal(new URL(first.to).searchParams.get('code_challenge_method'), 'S256')
  const back = await first.browser.visit(peer.signIn(first.to, GRACE))
  const claims = await first.claims(back.url)
  t.match(claims, { email: 'grace@company.example', name: 'Grace Hopper', acr: 'aal1' })

  const again = await atProvider(world, tenant, connection)
  const renamed = { ...GRACE, email: 'hopper@company.example' }
  const second = await again.browser.visit(peer.signIn(again.to, renamed))
  t.equal((await again.claims(second.url)).sub, claims.sub, 'whatever their address is by now')
  t.equal((await usersOf(world)).length, 2)
})

t.test('what comes of each way back is timed, in a word', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const steps: unknown[] = []
  world.tracing.onTimed(({ name, attributes }) => {
    if (name === 'sign_in') steps.push(attributes)
  })
  const flow = await atProvider(world, tenant, connection)
  const back = peer.signIn(flow.to, GRACE)
  await flow.browser.visit(back)
  await flow.browser.visit(back)
  const other = await atProvider(world, tenant, connection)
  await other.browser.visit(peer.signIn(other.to, GRACE, { code: null, error: 'access_denied' }))
  t.same(steps, [
    { step: 'connection', outcome: 'signed_in' },
    { step: 'connection', outcome: 'cookie_missing' },
    { step: 'connection', outcome: 'provider_failed' },
  ])
})

t.test('claims that are mapped are attributes, for rules to ask for', async (t) => {
  const attributes = [
    { attribute: 'department', claim: 'dept' },
    { attribute: 'kind', claim: '__proto__' },
  ]
  const { peer, world, tenant, connection } = await startConnected(t, {}, { attributes })
  const rules = [{ path: '/', allow: [{ attr: { department: 'audit' } }] }]
  await world.accessRules.put('acme', { rules }, ACTOR)
  const come = async (more: object) => {
    const flow = await atProvider(world, tenant, connection)
    const back = await flow.browser.visit(peer.signIn(flow.to, { ...GRACE, ...more }))
    return flow.claims(back.url)
  }
  const { sub = '', gb } = await come({ dept: 'audit' })
  t.equal(gb, 'AQ', 'the first token says so')
  const { gb: without } = await come({ dept: 'sales', department: 'audit' })
  t.equal(without, 'AA', 'and the next one no longer')
  t.same(
    (await world.personAttributes.list('acme', sub)).map(({ name, value }) => [name, value]),
    [['department', 'sales']],
  )
  await world.connections.remove('acme', connection.connectionId, ACTOR)
  t.same(await world.personAttributes.list('acme', sub), [], 'no sign-in would take it away')
})

t.test('what a connection has said before it was changed or removed counts no more', async (t) => {
  const attributes = [{ attribute: 'department', claim: 'dept' }]
  const { peer, world, tenant, connection } = await startConnected(t, {}, { attributes })
  const flow = await atProvider(world, tenant, connection)
  const back = await flow.browser.visit(peer.signIn(flow.to, { ...GRACE, dept: 'audit' }))
  const { sub: userId = '' } = await flow.claims(back.url)
  const { connectionId } = connection
  const whose = { tenantId: 'acme', userId }
  const said = { attributes: [{ name: 'department', value: 'sales' }] }
  const held = async () =>
    (await world.personAttributes.list('acme', userId)).map(({ value }) => value)
  const found = () => world.connections.get('acme', connectionId)
  const before = await found()
  await world.connections.patch('acme', connectionId, { attributes: [] }, ACTOR)
  t.same(await held(), [])
  await syncAttributes(world, before, whose, said, 'request')
  t.same(await held(), [], 'nobody would take it away')
  const changed = await found()
  await syncAttributes(world, changed, whose, said, 'request')
  t.same(await held(), ['sales'])
  await world.connections.remove('acme', connectionId, ACTOR)
  t.same(await held(), [])
  await syncAttributes(world, changed, whose, said, 'request')
  t.same(await held(), [], 'nor by one that is gone')
})

t.test('without a connection the page is the one that it was', async (t) => {
  const { world, tenant, connection } = await startConnected(t)
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  const { page } = await begin(world, tenant)
  t.notMatch(page.html, /<nav|class="divider"|connection\//)
  t.equal((await atProvider(world, tenant, connection)).status, 404)
})

t.test('an account that is here first is connected by whoever can open it', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const mine = { ...GRACE, email: 'ada@example.test' }
  const person = await atProvider(world, tenant, connection)
  const page = await person.browser.visit(peer.signIn(person.to, mine))
  t.ok(isAskingForPassword(page.html), 'the password is asked for')
  t.match(page.html, /There is already an account/)
  t.strictSame(await identitiesOf(world), [])
  const done = await person.browser.submit(page.url, ADA)
  t.equal((await person.claims(done.url)).sub, tenant.ada.userId)
  t.match(await identitiesOf(world), [{ subject: 'grace-1', userId: tenant.ada.userId }])

  const again = await atProvider(world, tenant, connection)
  const back = await again.browser.visit(peer.signIn(again.to, mine))
  t.equal((await again.claims(back.url)).sub, tenant.ada.userId)
})

t.test('a wrong password connects nothing, and another account is not connected', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const person = await atProvider(world, tenant, connection)
  const mine = { ...GRACE, email: 'ada@example.test' }
  const page = await person.browser.visit(peer.signIn(person.to, mine))
  const wrong = await person.browser.submit(page.url, { ...ADA, password: 'something else' })
  t.ok(isAskingForPassword(wrong.html))
  t.strictSame(await identitiesOf(world), [])
  await world.users.create(
    'acme',
    { ...ADA, username: 'bob', email: 'bob@example.test', name: 'Bob' },
    ACTOR,
  )
  await person.browser.submit(page.url, { ...ADA, username: 'bob' })
  t.strictSame(await identitiesOf(world), [], 'Bob is not whom the address is about')
})

t.test('a second factor is asked for as behind a password, unless it is mapped', async (t) => {
  const wished = { mfaValues: ['hwk'] }
  const { peer, world, tenant, connection } = await startConnected(t, {}, wished)
  const first = await atProvider(world, tenant, connection)
  const back = await first.browser.visit(peer.signIn(first.to, GRACE))
  const { sub } = await first.claims(back.url)
  const app = await enrolApp(world, tenant, sub)
  await world.policies.put('acme', 'mfa', { mode: 'required', risks: [] }, ACTOR)

  const asked = await atProvider(world, tenant, connection)
  const page = await asked.browser.visit(peer.signIn(asked.to, { ...GRACE, amr: ['pwd', 'mfa'] }))
  t.ok(isAskingForCode(page.html), 'what nobody has mapped counts for nothing')
  const done = await asked.browser.submit(page.url, { code: app.code() })
  t.match(await asked.claims(done.url), { sub, acr: 'aal2' })

  const late = await atProvider(world, tenant, connection)
  const kept = await late.browser.visit(peer.signIn(late.to, GRACE))
  t.ok(isAskingForCode(kept.html))
  const settings = { mfaValues: ['hwk', 'mfa'] }
  await world.connections.patch('acme', connection.connectionId, settings, ACTOR)
  const refused = await late.browser.submit(kept.url, { code: app.code(1) })
  t.notOk(refused.url.startsWith(tenant.redirectUri), 'shown under other settings')

  const mapped = await atProvider(world, tenant, connection)
  const through = await mapped.browser.visit(peer.signIn(mapped.to, { ...GRACE, amr: ['hwk'] }))
  t.match(await mapped.claims(through.url), { sub, acr: 'aal2', amr: ['mfa'] })
})

t.test('a disabled person, and one whose connection has gone, stay outside', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  const first = await atProvider(world, tenant, connection)
  const back = await first.browser.visit(peer.signIn(first.to, GRACE))
  const { sub } = await first.claims(back.url)
  await world.users.patch('acme', sub, { isDisabled: true }, ACTOR)
  const again = await atProvider(world, tenant, connection)
  const refused = await again.browser.visit(peer.signIn(again.to, GRACE))
  t.equal(refused.response.status, 403)

  const late = await atProvider(world, tenant, connection)
  await world.connections.remove('acme', connection.connectionId, ACTOR)
  t.equal((await late.browser.visit(peer.signIn(late.to, GRACE))).response.status, 400)
  t.strictSame(await identitiesOf(world), [])
})

t.test('a test sign-in shows what would come of it, and lets nobody in', async (t) => {
  const { peer, world, tenant } = await startConnected(t)
  const { connections, connectionTickets } = world
  const wished = { preset: 'oidc', name: 'New', issuer: peer.issuer, hostedDomain: null } as const
  const rest = { createsPeople: true, mfaValues: [], clientId: 'client-of-acme' }
  const secret = { clientSecret: 'secret of acme: 1+1%' }
  const { connectionId } = await connections.create(
    'acme',
    { ...wished, ...rest, ...secret },
    ACTOR,
  )
  await t.rejects(connections.activate('acme', connectionId, ACTOR), {
    code: 'connection_not_tested',
  })
  const { browser } = await begin(world, tenant)
  const of = { tenantId: 'acme', connectionId }
  const link = connectionTickets.linkFor(world.baseUrl, of, 'olga')
  const sent = await browser.once(link.url)
  const to = sent.headers.get('location') ?? ''
  const page = await browser.visit(peer.signIn(to, { ...GRACE, department: '<b>x' }))
  t.match(page.html, /The test passed/)
  t.match(page.html, /&lt;b&gt;x/)
  t.notMatch(page.html, /nonce/)
  t.equal((await usersOf(world)).length, 1)
  t.match(await connections.activate('acme', connectionId, ACTOR), { state: 'active' })
  t.match(await connections.patch('acme', connectionId, { clientId: 'other' }, ACTOR), {
    state: 'draft',
  })
  const others = connectionTickets.linkFor(world.baseUrl, { ...of, tenantId: 'other' }, 'olga')
  const wrong = others.url.replace('/other/', '/acme/')
  t.equal((await browser.once(wrong)).status, 404)
})
