/** Signing in to the console, through the real realm over real sockets. */
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { createPublicServer } from '../../../control-plane/server.ts'
import { upsertPolicy } from '../../../control-plane/store/queries/policies.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { Browser, type Visit } from '../../support/browser.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { codeNow } from '../../support/console-browser.ts'
import { ACTOR, startServices } from '../../support/control-plane.ts'
import { freePort } from '../../support/ports.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'
import { clockOf } from '../../support/clocks.ts'

const GRACE = { email: 'grace@example.test', name: 'Grace', password: 'nanoseconds of copper wire' }

async function startWorld(t: Test) {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const ahead = { ms: 0 }
  const clock = clockOf(() => Date.now() + ahead.ms)
  const log = pino({ level: 'silent' })
  const services = await startServices(t, { baseUrl, clock })
  await services.consoleAccess.ensureRealm()
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY) })
  const server = createPublicServer({ app, realms: services.realms, log, clock })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  t.equal((server.address() as AddressInfo).port, port)
  const { url } = await services.consoleAccess.links.make(false, ACTOR)
  await services.consoleAccess.links.redeem(new URL(url).searchParams.get('link') ?? '', GRACE, '')
  const browser = () => {
    const one = new Browser()
    t.after(() => one.close())
    return one
  }
  return { services, baseUrl, ahead, browser }
}

const enter = (browser: Browser, page: Visit) =>
  browser.submit(page, { username: GRACE.email, password: GRACE.password })

/** The first sign-in, with an app for codes set up on the way. */
async function signIn(browser: Browser, url: string) {
  const enrol = await enter(browser, await browser.open(url))
  const key = /class="secret[^"]*"[^>]*>.*?<code>([^<]+)/s.exec(enrol.text)?.[1] ?? ''
  const seed = key.replaceAll(/\s/g, '')
  const codes = await browser.submit(enrol, { code: codeNow(seed) })
  return { seed, page: await browser.submit(codes, {}) }
}

const sessionOf = (browser: Browser) => browser.cookie('localhost', 'service_console')

void t.test('a password and a second factor lead to the page that was asked for', async (t) => {
  const { baseUrl, browser, services } = await startWorld(t)
  const grace = browser()
  grace.setCookie('localhost', 'service_console', 'A'.repeat(43), '/console')
  const { page } = await signIn(grace, `${baseUrl}/console/audit?limit=5`)
  t.match(page, { status: 200, url: `${baseUrl}/console/audit?limit=5` })
  const id = sessionOf(grace)
  t.match(id, /^[\w-]{43}$/)
  t.not(id, 'A'.repeat(43), 'what was in the browser before is worth nothing')
  const viewer = await services.consoleAccess.sessions.viewer(id)
  t.match(viewer, { email: GRACE.email, isOperator: true })
})

void t.test('whose session is over is told so where they sign in, and comes back', async (t) => {
  const { baseUrl, ahead, browser } = await startWorld(t)
  const grace = browser()
  const url = `${baseUrl}/console/audit?limit=5`
  t.notMatch((await grace.open(url)).text, 'session has expired', 'not who begins')
  const { seed } = await signIn(grace, url)
  ahead.ms += LIMITS.consoleSessionMs + 1
  const asked = await grace.open(url)
  t.match(asked.text, 'Your session has expired. Sign in again to continue.')
  const code = await enter(grace, asked)
  const back = await grace.submit(code, { code: codeNow(seed, Date.now() + ahead.ms) })
  t.match(back, { status: 200, url })
})

void t.test('every sign-in to the console is in the audit trail, with its address', async (t) => {
  const { baseUrl, browser, services } = await startWorld(t)
  const { page } = await signIn(browser(), `${baseUrl}/console/audit`)
  t.match(page.text, /Signed in to the console/)
  t.match(page.text, /127\.0\.0\.1|::1/)
  const { items } = await services.auditTrail.list({ limit: 50 })
  const entries = items.filter(({ action }) => action === 'console.signed_in')
  t.equal(entries.length, 1)
  t.match(entries[0], { actor: `console:${GRACE.email}`, content: { user_id: /^usr_/ } })
})

void t.test('a fresh proof is asked for, and makes another session', async (t) => {
  const { baseUrl, browser, ahead } = await startWorld(t)
  const grace = browser()
  const { seed } = await signIn(grace, `${baseUrl}/console/tenants`)
  const before = sessionOf(grace) ?? ''
  const fresh = `${baseUrl}/console/sign-in?fresh=yes&return_to=%2Fconsole%2Faudit`

  // whoever drops prompt=login on the way to the realm comes back with the old sign-in
  ahead.ms = 10_000
  const away = await grace.once(fresh)
  const realm = new URL(String(away.headers['location']))
  t.equal(realm.searchParams.get('prompt'), 'login')
  realm.searchParams.delete('prompt')
  const stale = await grace.open(realm.href)
  t.match(stale, { status: 400, text: /Sign-in not completed/ })
  t.equal(sessionOf(grace), before, 'and with nothing new')

  ahead.ms = 0
  const asked = await grace.open(fresh)
  t.match(asked.text, /Confirm it’s you.*value="grace@example\.test"/s, 'says why, for whom')
  t.match(asked.text, /name="password"/, 'asked again, although signed in')
  const second = await enter(grace, asked)
  const back = await grace.submit(second, { code: codeNow(seed, Date.now() + 30_000) })
  t.match(back, { status: 200, url: `${baseUrl}/console/audit` })
  t.not(sessionOf(grace), before)
  const old = browser()
  old.setCookie('localhost', 'service_console', before, '/console')
  t.match(await old.once(`${baseUrl}/console/tenants`), { status: 302 }, 'the old one is over')
})

void t.test('an answer of the realm to somebody else opens nothing', async (t) => {
  const { baseUrl, browser } = await startWorld(t)
  const grace = browser()
  const asked = await grace.open(`${baseUrl}/console`)
  t.match(asked.url, `${baseUrl}/auth/realms/console/`)
  const eve = browser()
  for (const query of ['', '?code=x', '?code=x&state=y', '?state=0000000AAAAAAAAAAA.x&code=x']) {
    const answer = await eve.once(`${baseUrl}/console/callback${query}`)
    t.match(answer, { status: 303, headers: { location: '/console' } }, query)
    t.equal(sessionOf(eve), undefined)
  }
  t.match(await eve.once(`${baseUrl}/console/callback?error=access_denied`), { status: 400 })
  const elsewhere = await eve.once(`${baseUrl}/console/sign-in?return_to=https://evil.example`)
  t.match(elsewhere.headers['location'], `${baseUrl}/auth/realms/console/authorize`)
})

void t.test(
  'without a second factor nobody comes in, whatever the policy has become',
  async (t) => {
    const { baseUrl, browser, services } = await startWorld(t)
    await services.store.change(({ queries, nowMs }) =>
      upsertPolicy(queries, {
        tenantId: 'console',
        name: 'mfa',
        settings: { mode: 'off' },
        updatedAt: nowMs,
      }),
    )
    const grace = browser()
    const page = await enter(grace, await grace.open(`${baseUrl}/console`))
    t.match(page, { status: 400, text: /Sign-in not completed/ })
    t.equal(sessionOf(grace), undefined)
  },
)

void t.test('after every step of a key rotation sessions go on, and sign-ins work', async (t) => {
  const { baseUrl, browser, services, ahead } = await startWorld(t)
  const grace = browser()
  const { seed } = await signIn(grace, `${baseUrl}/console/tenants`)
  const before = (await services.keys.signingSet('console')).currentKid
  for (const rotation of [
    { phase: 'prepare' },
    { phase: 'promote' },
    { phase: 'retire', force: true },
  ] as const) {
    await services.keys.rotate('console', rotation, ACTOR)
    t.equal((await grace.once(`${baseUrl}/console/tenants`)).status, 200, rotation.phase)
    ahead.ms += 60_000 // a code is good once
    const other = browser()
    const second = await enter(other, await other.open(`${baseUrl}/console/audit`))
    const code = codeNow(seed, Date.now() + ahead.ms)
    const page = await other.submit(second, { code })
    t.match(page, { status: 200, url: `${baseUrl}/console/audit` }, 'a new sign-in')
  }
  const { currentKid } = await services.keys.signingSet('console')
  t.not(currentKid, before)
  const jwks = await grace.once(`${baseUrl}/auth/realms/console/jwks`)
  t.match(jwks.text, currentKid, 'and publishes the new key')
  t.notMatch(jwks.text, before)
})
