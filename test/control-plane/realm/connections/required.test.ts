/** A tenant whose people come in by their company's provider, and by no password of their own. */
import t from 'tap'
import type { PasswordPolicy } from '../../../../control-plane/policy/policies.ts'
import { schema } from '../../../../control-plane/store/schema.ts'
import { ACTOR, ADA, Browser, relyingParty } from '../realm-world.ts'
import { enrolApp, isAskingForCode, isAskingForPassword, recordedSignIns } from '../steps.ts'
import { activeConnection, GRACE, identitiesOf, startConnected } from './connected.ts'

type Connected = Awaited<ReturnType<typeof startConnected>>

const put = ({ world }: Connected, settings: Partial<PasswordPolicy>) =>
  world.policies.put('acme', 'password', settings, ACTOR)
const require = (connected: Connected, ...people: string[]) =>
  put(connected, { sign_in: 'break_glass', break_glass: people })

/** At the address of the sign-in page, which nobody has opened so far. */
async function arrive({ world, tenant }: Connected, parameters: Record<string, string> = {}) {
  const flow = await (await relyingParty(tenant)).begin(parameters)
  const browser = new Browser(world.baseUrl)
  const sent = await browser.once(flow.url)
  const url = new URL(sent.headers.get('location') ?? '', world.baseUrl).href
  const claims = async (callback: string) => (await flow.finish(callback)).claims()
  return { browser, url, emergencyUrl: `${url}&emergency`, claims }
}

/** Sent to the provider, and back as Grace or somebody else. */
async function byProvider(connected: Connected, person: typeof GRACE = GRACE) {
  const { browser, url, claims } = await arrive(connected)
  const sent = await browser.visit(url)
  const back = await browser.visit(connected.peer.signIn(sent.url, person))
  return { browser, sent, back, claims }
}

const problemIn = (html: string) => /role="alert"[\s\S]*?<p>([^<]*)/.exec(html)?.[1]?.trim()

t.test('with one connection the sign-in is one step, and no password opens it', async (t) => {
  const connected = await startConnected(t)
  const { peer, world, tenant } = connected
  await require(connected)
  const grace = await byProvider(connected)
  t.ok(grace.sent.url.startsWith(peer.issuer), 'nothing stands between')
  t.match(await grace.claims(grace.back.url), { name: 'Grace Hopper' })

  const answers = new Set<unknown>()
  for (const typed of [
    { ...ADA, password: 'something else' },
    { ...ADA, username: 'nobody' },
    ADA,
  ]) {
    const { browser, emergencyUrl } = await arrive(connected)
    const page = await browser.visit(emergencyUrl)
    t.ok(isAskingForPassword(page.html))
    t.match(page.html, /or with emergency access/)
    t.notMatch(page.html, /account\/forgotten/)
    const answer = await browser.submit(page.url, typed)
    t.equal(answer.response.status, 422)
    answers.add(problemIn(answer.html))
  }
  t.same(
    [...answers],
    ['Wrong username or password, or this account can’t sign in with a password.'],
  )
  const recorded = await recordedSignIns(world)
  t.match(recorded.at(-1), {
    ...{ userId: tenant.ada.userId, reason: 'connection_required' },
    isFailure: true, // else the count would tell that it was right
  })
})

t.test('whoever does not come back from the provider is shown the other way', async (t) => {
  const connected = await startConnected(t)
  const { peer, tenant } = connected
  await require(connected)
  const { browser, url } = await arrive(connected)
  const sent = await browser.visit(url)
  t.ok(sent.url.startsWith(peer.issuer), 'where nobody answers')
  const again = await (await relyingParty(tenant)).begin()
  const page = await browser.visit(again.url)
  t.match(page.html, /Continue with Company[\s\S]*&amp;emergency[^>]*>Emergency access/)
  t.notOk(isAskingForPassword(page.html))
  const back = await browser.visit(peer.signIn(sent.url, GRACE))
  t.ok(back.url.startsWith(tenant.redirectUri))
  const next = await (await relyingParty(tenant)).begin({ prompt: 'login' })
  t.ok((await browser.visit(next.url)).url.startsWith(peer.issuer), 'and it is one step again')
})

t.test('a password that was given before nobody might is worth nothing', async (t) => {
  const connected = await startConnected(t)
  const { world, tenant } = connected
  const app = await enrolApp(world, tenant)
  const { browser, url } = await arrive(connected)
  const asked = await browser.submit((await browser.visit(url)).url, ADA)
  t.ok(isAskingForCode(asked.html))
  await require(connected)
  const answer = await browser.submit(asked.url, { code: app.code() })
  t.notOk(answer.url.startsWith(tenant.redirectUri), 'she is not in')
  t.match(await recordedSignIns(world).then((all) => all.at(-1)), { outcome: 'asking' })

  await put(connected, {})
  const session = await arrive(connected)
  const opened = await session.browser.submit((await session.browser.visit(session.url)).url, ADA)
  const done = await session.browser.submit(opened.url, { code: app.code(1) })
  t.ok(done.url.startsWith(tenant.redirectUri))
})

t.test('a session of a password is asked for more at the provider', async (t) => {
  const connected = await startConnected(t)
  const { world, tenant, peer } = connected
  const first = await arrive(connected)
  await first.browser.submit((await first.browser.visit(first.url)).url, ADA)
  await enrolApp(world, tenant)
  await require(connected)
  const flow = await (await relyingParty(tenant)).begin({ acr_values: 'aal2' })
  const sent = await first.browser.visit(flow.url)
  t.ok(sent.url.startsWith(peer.issuer))
})

t.test(
  'a session of a provider is asked for a factor alone, whatever passwords are for',
  async (t) => {
    const connected = await startConnected(t)
    const { world, tenant } = connected
    await require(connected)
    const { browser, back, claims } = await byProvider(connected)
    const before = await claims(back.url)
    const { sub = '' } = before ?? {}
    t.equal(before?.acr, 'aal1')
    const app = await enrolApp(world, tenant, sub)
    const flow = await (await relyingParty(tenant)).begin({ acr_values: 'aal2' })
    const asked = await browser.visit(flow.url)
    t.ok(isAskingForCode(asked.html), 'and for no password, which she has not')
    const done = await browser.submit(asked.url, { code: app.code() })
    t.match((await flow.finish(done.url)).claims(), { sub, acr: 'aal2' })
    t.notMatch((await recordedSignIns(world)).at(-1), { reason: 'connection_required' })
  },
)

t.test('people with emergency access come in, with a factor that they have already', async (t) => {
  const connected = await startConnected(t)
  const { world, tenant } = connected
  await require(connected, tenant.ada.userId)
  const lacking = await arrive(connected)
  const refused = await lacking.browser.submit(lacking.emergencyUrl, ADA)
  t.match(problemIn(refused.html), /^Wrong username or password, or/)
  t.notMatch(refused.html, /otpauth/, 'whoever has found the password sets nothing up')

  const app = await enrolApp(world, tenant)
  await world.policies.put('acme', 'mfa', { mode: 'off', risks: [] }, ACTOR)
  const { browser, emergencyUrl, claims } = await arrive(connected)
  const asked = await browser.submit(emergencyUrl, ADA)
  t.ok(isAskingForCode(asked.html), 'although the policy for everybody does not ask for one')
  const done = await browser.submit(asked.url, { code: app.code() })
  t.match(await claims(done.url), { sub: tenant.ada.userId, acr: 'aal2' })
  const entries = await world.store.read.select().from(schema.audit)
  const used = entries.filter(({ action }) => action === 'password.break_glass_used')
  t.match(used, [{ actor: tenant.ada.userId, content: { user_id: tenant.ada.userId } }])
})

t.test(
  'an account that is here first is connected with both, its password and the provider',
  async (t) => {
    const connected = await startConnected(t)
    const { world, tenant } = connected
    await require(connected)
    const mine = { ...GRACE, email: 'ada@example.test' }
    const { browser, back, claims } = await byProvider(connected, mine)
    t.ok(isAskingForPassword(back.html))
    t.strictSame(await identitiesOf(world), [])
    const done = await browser.submit(back.url, ADA)
    t.match(await claims(done.url), { sub: tenant.ada.userId })
    t.match(await identitiesOf(world), [{ subject: 'grace-1', userId: tenant.ada.userId }])
    const again = await byProvider(connected, mine)
    t.match(await again.claims(again.back.url), { sub: tenant.ada.userId }, 'from then on without')
  },
)

t.test('a link of one account opens no other one', async (t) => {
  const connected = await startConnected(t)
  const { world } = connected
  await world.users.create(
    'acme',
    { ...ADA, username: 'bob', email: 'bob@example.test', name: 'Bob' },
    ACTOR,
  )
  await require(connected)
  const { browser, back } = await byProvider(connected, { ...GRACE, email: 'ada@example.test' })
  const answer = await browser.submit(back.url, { ...ADA, username: 'bob' })
  t.equal(answer.response.status, 422)
})

t.test('several connections are buttons, without a form beside them', async (t) => {
  const connected = await startConnected(t)
  await activeConnection(connected.world, 'acme', connected.peer, { name: 'Contractors' })
  await require(connected)
  const { browser, url } = await arrive(connected)
  const page = await browser.visit(url)
  t.match(page.html, /Continue with Company[\s\S]*Continue with Contractors/)
  t.notOk(isAskingForPassword(page.html))
  t.match(page.html, /Emergency access with a password/)
})

t.test('it needs a connection, and the last one stays as long as it is required', async (t) => {
  const connected = await startConnected(t)
  const { world, connection, peer } = connected
  const { connectionId } = connection
  await require(connected)
  const closings = (id: string): (() => Promise<unknown>)[] => [
    () => world.connections.deactivate('acme', id, ACTOR),
    () => world.connections.remove('acme', id, ACTOR),
    () => world.connections.patch('acme', id, { clientId: 'another' }, ACTOR),
  ]
  for (const close of closings(connectionId))
    await t.rejects(close() as Promise<void>, { code: 'connection_required' })
  await world.connections.patch('acme', connectionId, { name: 'Acme' }, ACTOR)
  const other = await activeConnection(world, 'acme', peer)
  await world.connections.deactivate('acme', connectionId, ACTOR)
  await t.rejects(world.connections.remove('acme', other.connectionId, ACTOR), {
    code: 'connection_required',
  })
  await put(connected, {})
  await world.connections.remove('acme', other.connectionId, ACTOR)
  await t.rejects(require(connected), { code: 'connection_not_active' })
})
