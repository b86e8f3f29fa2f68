/** Whose cookie it is: a realm's session is bound to its client where the tenant wants that. */
import t from 'tap'
import { Agent, fetch } from 'undici'
import { systemClock } from '../../../shared/clock.ts'
import { createRelyingParty } from '../../../shared/sign-in/relying-party.ts'
import {
  ADA,
  Browser,
  relyingParty,
  signIn,
  sidOf,
  startWorld,
  type TestTenant,
} from './realm-world.ts'
import { enrolApp, setPolicy } from './steps.ts'

const AT_HOME = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Firefox/140.0' }
const UPDATED = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:141.0) Firefox/141.0' }
const ELSEWHERE = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36' }

/** Comes with the cookies of ada's browser, as any client that has copied them. */
class Client extends Browser {
  readonly #headers: Record<string, string>

  constructor(home: string, headers: Record<string, string>) {
    super(home)
    this.#headers = headers
  }

  override once(url: string, init: Parameters<Browser['once']>[1] = {}) {
    return super.once(url, { ...init, headers: { ...init.headers, ...this.#headers } })
  }
}

async function isAsked(client: Browser, acme: TestTenant) {
  const { url } = await (await relyingParty(acme)).begin()
  return /name="password"/.test((await client.visit(url)).html)
}

for (const sessionBinding of ['off', 'step_up', 'terminate'] as const)
  t.test(`${sessionBinding}: another browser with the realm's cookie`, async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme', { sessionBinding })
    const home = new Client(world.baseUrl, AT_HOME)
    const { tokens, party } = await signIn(home, acme)
    const updated = new Client(world.baseUrl, UPDATED)
    updated.remember(home.cookies)
    t.notOk(await isAsked(updated, acme), 'an update is the same browser')

    const thief = new Client(world.baseUrl, ELSEWHERE)
    thief.remember(updated.cookies)
    const none = await party.begin({ prompt: 'none' })
    const { searchParams } = new URL((await thief.visit(none.url)).url)
    const isBound = sessionBinding !== 'off'
    t.equal(searchParams.get('error'), isBound ? 'login_required' : null)
    t.equal(await isAsked(thief, acme), isBound)
    const { endReason } = (await world.sessions.find('acme', sidOf(tokens))) ?? {}
    t.equal(endReason, sessionBinding === 'terminate' ? 'binding_terminate' : null)
    if (sessionBinding === 'step_up') t.notOk(await isAsked(updated, acme), 'ada goes on')
    if (sessionBinding === 'terminate') t.ok(await isAsked(updated, acme), 'over for everybody')
    if (isBound) await signIn(thief, acme) // with the password it is a session of its own
  })

t.test("another network with the realm's cookie is asked for the password", async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme', { sessionBinding: 'step_up' })
  const home = new Client(world.baseUrl, AT_HOME)
  const { party } = await signIn(home, acme)
  const cookie = home.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const errorFrom = async (localAddress: string) => {
    const dispatcher = new Agent({ localAddress })
    const { url } = await party.begin({ prompt: 'none' })
    const headers = { ...AT_HOME, cookie }
    const answer = await fetch(url, { headers, redirect: 'manual', dispatcher })
    await dispatcher.close()
    return new URL(answer.headers.get('location') ?? '').searchParams.get('error')
  }
  t.equal(await errorFrom('127.0.1.1'), 'login_required')
  t.equal(await errorFrom('127.0.0.77'), null, 'a neighbour in the same network is not another')
})

t.test('what a gateway asks for is not dropped on its way through the browser', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme', { sessionBinding: 'step_up' })
  await setPolicy(world, 'mfa', { mode: 'off' })
  const party = createRelyingParty({
    fetch: (url, init) => fetch(url, init as object),
    clock: systemClock,
  })
  const { issuer, clientId: id, clientSecret: secret, redirectUri } = acme
  const tenant = { client: { issuer, id, secret } }
  async function stepUp(drop: boolean, fields: Record<string, string> = {}) {
    const state = 'x'.repeat(20)
    const start = await party.start(tenant, { redirectUri, state, isFresh: true })
    const url = new URL(start.location)
    if (drop) url.searchParams.delete('acr_values')
    const browser = new Browser(world.baseUrl)
    const page = await browser.visit(url.href)
    let { url: callbackUrl } = await browser.submit(page.url, ADA)
    if (fields.code !== undefined) ({ url: callbackUrl } = await browser.submit(page.url, fields))
    return party.finish(tenant, { ...start, callbackUrl, state, isFresh: true })
  }
  t.ok(await stepUp(true), 'nobody can be made to have a factor')
  const { code } = await enrolApp(world, acme)
  const refused = await stepUp(true).catch(({ error }: { error?: string }) => error)
  t.equal(refused, 'invalid_grant')
  t.ok(await stepUp(false, { code: code() }))
})
