/**
 * A provider lets people through who have signed in there days ago. Whoever asks how old a proof is
 * hears that, and a browser that was left open is not enough to change the account.
 */
import { decodeJwt } from 'jose'
import t from 'tap'
import { accountOf } from '../account-visit.ts'
import type { Browser, TestTenant, World } from '../realm-world.ts'
import { begin, codeAt, enrolApp, isAskingForCode } from '../steps.ts'
import { atProvider, GRACE, startConnected, usersOf } from './connected.ts'

const nowSeconds = () => Math.floor(Date.now() / 1000)
const HOURS_AGO = 7200

type Came = Awaited<ReturnType<typeof startConnected>>

async function come({ peer, world, tenant, connection }: Came, authTime: unknown, asked = {}) {
  const person = await atProvider(world, tenant, connection, asked)
  const claims = { ...GRACE, auth_time: authTime as number }
  const back = await person.browser.visit(peer.signIn(person.to, claims))
  return { ...person, back }
}

const tokenOf = async ({ flow, back }: Awaited<ReturnType<typeof come>>) =>
  decodeJwt((await flow.finish(back.url)).id_token ?? '')

/** Without a page: the session goes on. */
async function renewed(world: World, tenant: TestTenant, browser: Browser) {
  const { page, claims } = await begin(world, tenant, {}, browser)
  return claims(page.url)
}

t.test('a token says when the person has shown who they are, at the provider', async (t) => {
  const came = await startConnected(t)
  const { world, tenant } = came
  const provenAt = nowSeconds() - HOURS_AGO
  const old = await come(came, provenAt)
  const { auth_time: authTime, exp = 0, iat = 0 } = await tokenOf(old)
  t.equal(authTime, provenAt)
  t.ok(exp - iat > HOURS_AGO, 'the session is as long as ever')
  t.equal((await renewed(world, tenant, old.browser)).auth_time, provenAt, 'and stays so old')

  // the last one by a clock that is behind
  for (const said of [undefined, 'yesterday', -1, nowSeconds() + 3600, nowSeconds() - 30]) {
    const { auth_time } = await tokenOf(await come(came, said))
    t.ok(Math.abs(Number(auth_time) - nowSeconds()) < 5, `${said} says nothing`)
  }
})

t.test('a factor that is shown here is shown now', async (t) => {
  const came = await startConnected(t)
  const { world, tenant } = came
  await come(came, undefined)
  const grace = (await usersOf(world)).find(({ email }) => email === GRACE.email)
  const { seed } = await enrolApp(world, tenant, grace?.userId)
  const old = await come(came, nowSeconds() - HOURS_AGO, { acr_values: 'aal2' })
  t.ok(isAskingForCode(old.back.html))
  const back = await old.browser.submit(old.back.url, { code: codeAt(seed, Date.now()) })
  const { auth_time, acr } = await tokenOf({ ...old, back })
  t.equal(acr, 'aal2')
  t.ok(Math.abs(Number(auth_time) - nowSeconds()) < 5)
})

t.test('who is asked to prove it again is asked by the provider', async (t) => {
  const came = await startConnected(t)
  const { world, tenant, connection } = came
  const askedWith = async (parameters: Record<string, string>, browser?: Browser) => {
    const { page, browser: used } = await begin(world, tenant, parameters, browser)
    const start = `${page.url.split('?')[0]}/connection/${connection.connectionId}`
    const to = (await used.once(start)).headers.get('location') ?? ''
    const { searchParams } = new URL(to)
    return [searchParams.get('prompt'), searchParams.get('max_age')]
  }
  t.strictSame(await askedWith({}), [null, null])
  t.strictSame(await askedWith({ prompt: 'login' }), ['login', '0'])
  const { browser, flow, back } = await come(came, undefined)
  await flow.finish(back.url)
  await new Promise((done) => setTimeout(done, 2000))
  t.strictSame(await askedWith({ max_age: '1' }, browser), ['login', '0'])
})

t.test('an account is changed by who has shown lately who they are', async (t) => {
  const came = await startConnected(t)
  const { tenant } = came
  const at = async (authTime: unknown) => {
    const { browser, flow, back } = await come(came, authTime)
    await flow.finish(back.url)
    return accountOf(browser, tenant).open('/authenticator')
  }
  const recent = await at(nowSeconds() - 300)
  t.match(recent, { response: { status: 200 }, html: /name="sealed"/ })
  const old = await at(nowSeconds() - HOURS_AGO)
  t.match(old, { response: { status: 403 }, html: /step_up=1/ }, 'and is told where to')
  t.notMatch(old.html, /name="sealed"|name="proof_password"/)
})
