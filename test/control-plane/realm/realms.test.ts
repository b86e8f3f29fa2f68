import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Refusal } from '../../../shared/errors.ts'
import { createPasswordHasher } from '../../../control-plane/accounts/passwords/hasher.ts'
import { updateTenant } from '../../../control-plane/store/queries/tenants.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ACTOR,
  Browser,
  exchange,
  PASSWORD,
  relyingParty,
  signIn,
  startWorld,
} from './realm-world.ts'
import { tenantNamed } from '../../support/control-plane.ts'

const HTML = { headers: { accept: 'text/html' } }
const JSON_ONLY = { headers: { accept: 'application/json' } }

t.test('a tenant that is unknown, unpublished or misspelt has no realm', async (t) => {
  const world = await startWorld(t)
  await world.tenants.create(tenantNamed('draft'), ACTOR)
  const paths = ['nobody', 'draft', 'NOBODY', 'a%2Fb', '..', '', 'x'.repeat(300), '__proto__']
  for (const name of paths)
    for (const rest of ['/.well-known/openid-configuration', '/authorize?client_id=x']) {
      const url = `${world.address}/auth/realms/${name}${rest}`
      const page = await fetch(url, HTML)
      t.equal(page.status, 404, url)
      t.match(await page.text(), /No application found/)
      const answer = await fetch(url, JSON_ONLY)
      t.equal(answer.status, 404, url)
      t.match(await answer.json(), { error: 'tenant_not_found', detail: String })
    }
})

t.test('a realm answers 404 to what it does not have', async (t) => {
  const world = await startWorld(t)
  const { issuer } = await world.tenant('acme')
  for (const path of ['', '/', '/nowhere', '/sign-in', '/sign-in/short', '/session/end', '/auth'])
    t.equal((await fetch(`${issuer}${path}`, HTML)).status, 404, path)
})

t.test('suspended: nobody signs in, running flows stop, keys stay published', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const party = await relyingParty(acme)
  const flow = await party.begin()
  const page = await browser.visit(flow.url)
  await world.tenants.suspend('acme', ACTOR)
  for (const answer of [
    await browser.visit((await party.begin()).url),
    await browser.visit(page.url),
    await browser.submit(page.url, { username: 'ada', password: PASSWORD }),
  ]) {
    t.equal(answer.response.status, 503)
    t.ok(answer.response.headers.get('retry-after'))
    t.match(answer.html, /Sign-in is paused/)
  }
  const token = await fetch(`${acme.issuer}/token`, { method: 'POST' })
  t.equal(token.status, 503)
  t.match(await token.json(), { error: 'tenant_suspended' })
  t.equal((await fetch(`${acme.issuer}/jwks`)).status, 200)
  t.equal((await fetch(`${acme.issuer}/.well-known/openid-configuration`)).status, 200)
  await world.tenants.activate('acme', ACTOR)
  const { url } = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test('a licence that blocks: new sign-ins are refused, running sessions go on', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party, claims } = await signIn(browser, acme)
  const waiting = new Browser(world.baseUrl)
  const page = await waiting.visit((await party.begin()).url)
  await world.tenants.setLicence('acme', { state: 'expired', blocksSignin: true }, ACTOR)
  for (const answer of [
    await waiting.visit((await party.begin()).url),
    await waiting.visit(page.url),
    await waiting.submit(page.url, { username: 'ada', password: PASSWORD }),
  ]) {
    t.equal(answer.response.status, 403)
    t.match(answer.html, /New sign-ins are paused/)
  }
  const flow = await party.begin()
  const { url } = await browser.visit(flow.url)
  t.equal((await flow.finish(url)).claims()?.sid, claims.sid)
})

t.test('a change of the tenant counts from the next request on', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const party = await relyingParty(acme)
  t.match((await new Browser(world.baseUrl).visit((await party.begin()).url)).html, /The acme/)
  await world.tenants.patch('acme', { name: 'Renamed', hostnames: ['new.example'] }, ACTOR)
  const old = await new Browser(world.baseUrl).visit((await party.begin()).url)
  t.equal(old.response.status, 400, 'the old hostname is not registered any more')
  const redirect_uri = 'http://new.example:8000/service/callback'
  const page = await new Browser(world.baseUrl).visit((await party.begin({ redirect_uri })).url)
  t.match(page.html, /<h1>Renamed<\/h1>/)
})

t.test('a change that another control plane has made counts as well', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { file, masterKey } = world
  const other = await startWorld(t, { file, masterKey })
  t.equal((await published(acme.issuer)).length, 1)
  await other.keys.rotate('acme', { phase: 'prepare' }, ACTOR)
  t.equal((await published(acme.issuer)).length, 2)
})

t.test('a database that is busy is no failure of ours, and one may come again', async (t) => {
  let isBusy = false
  const world = await startWorld(t, {
    adapt: ({ sessions }) => ({
      sessions: {
        ...sessions,
        find: (...which) =>
          isBusy ? Promise.reject(new Refusal('unavailable')) : sessions.find(...which),
      },
    }),
  })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party } = await signIn(browser, acme)
  const done = await party.begin()
  const { url: callbackUrl } = await browser.visit(done.url)
  const flow = await party.begin()
  isBusy = true
  const busy = await browser.visit(flow.url)
  t.equal(busy.response.status, 503)
  t.ok(busy.response.headers.get('retry-after'))
  const code = new URL(callbackUrl).searchParams.get('code') ?? ''
  const token = await exchange(acme, { code, code_verifier: done.verifier })
  t.equal(token.status, 503)
  t.ok(token.headers.get('retry-after'))
  t.match(await token.json(), { error: 'temporarily_unavailable' })
  t.notMatch(world.logged.join(''), 'realm failed')
  isBusy = false
  const { url } = await browser.visit(flow.url)
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test('in sdk mode people return to the application itself', async (t) => {
  const world = await startWorld(t)
  const origin = 'https://app.customer.example'
  const acme = await world.tenant('acme', { mode: 'sdk', origin })
  const redirectUri = `${origin}/service/callback`
  const { claims } = await signIn(new Browser(world.baseUrl), { ...acme, redirectUri })
  t.equal(claims.sub, acme.ada.userId)
})

t.test('behind TLS every address is https and every cookie secure', async (t) => {
  const world = await startWorld(t, { baseUrl: 'https://id.example' })
  await world.tenant('acme')
  const at = (path: string) =>
    fetch(`${world.address}/auth/realms/acme${path}`, { redirect: 'manual' })
  const discovery = await at('/.well-known/openid-configuration')
  t.match(await discovery.json(), { token_endpoint: 'https://id.example/auth/realms/acme/token' })
  t.match(discovery.headers.get('strict-transport-security'), /max-age/)
  const query = new URLSearchParams({
    client_id: 'acme-user',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: 'http://acme.example:8000/service/callback',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  })
  const begun = await at(`/authorize?${query.toString()}`)
  t.match(begun.headers.get('location'), /^https:\/\/id\.example\/auth\/realms\/acme\/sign-in\//)
  const cookies = begun.headers.getSetCookie()
  t.ok(cookies.length > 0)
  for (const cookie of cookies) {
    t.match(cookie, /^__Secure-realm_acme_/)
    t.match(cookie, /; path=\/auth\/realms\/acme\//i)
    t.match(cookie, /; secure/i)
    t.match(cookie, /; httponly/i)
    t.match(cookie, /; samesite=lax/i)
  }
})

t.test('when too many passwords are being checked, the page says to wait', async (t) => {
  const passwords = createPasswordHasher({ concurrency: 1, waitingMax: 1 })
  const world = await startWorld(t, { passwords })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  let isOver = false
  const press = async () => {
    while (!isOver) await passwords.verify('x', undefined).catch(() => nextTurn())
  }
  const flood = Promise.all([press(), press(), press()])
  const ada = { username: 'ada', password: PASSWORD }
  const busy = await browser.submit(page.url, ada)
  t.equal(busy.response.status, 503)
  t.ok(Number(busy.response.headers.get('retry-after')) > 0)
  t.match(busy.html, /value="ada"/)
  isOver = true
  await flood
  const { url } = await browser.submit(page.url, ada)
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test('the number of realms in memory is bounded', async (t) => {
  const built: string[] = []
  const world = await startWorld(t, {
    adapt: ({ keys }) => ({
      keys: {
        signingSet(tenantId) {
          built.push(tenantId)
          return keys.signingSet(tenantId)
        },
      },
    }),
  })
  const ask = async (tenantId: string) =>
    (await fetch(`${world.address}/auth/realms/${tenantId}/jwks`)).status
  const key = await world.keys.generate()
  for (let n = 0; n <= LIMITS.realmsCachedMax; n++) {
    const tenantId = `t-${n}`
    await world.tenants.create(tenantNamed(tenantId), ACTOR)
    await world.store.change(async (change) => {
      await world.keys.ensureCurrent(change, tenantId, { ...key, kid: `${key.kid}-${n}` })
      await updateTenant(change.queries, tenantId, { status: 'published' })
    })
    if ((await ask(tenantId)) !== 200) t.fail(tenantId)
    // each is the newest again then, and t-0 the one that goes next
    if (n === LIMITS.realmsCachedMax - 1)
      for (let kept = 0; kept <= n; kept++) await ask(`t-${kept}`)
  }
  t.equal(built.length, LIMITS.realmsCachedMax + 1, 'as many as there is room for stay')
  t.equal(await ask('t-0'), 200)
  t.strictSame(built.slice(LIMITS.realmsCachedMax + 1), ['t-0'], 'one more, and the oldest goes')
})

async function published(issuer: string): Promise<unknown[]> {
  return ((await (await fetch(`${issuer}/jwks`)).json()) as { keys: unknown[] }).keys
}
