/**
 * The modules of the OpenID Foundation's conformance suite that apply to this profile, by their
 * names, re-enacted over HTTP: the basic plan, and the one of RP-initiated logout. Left out is
 * what the profile does not offer: refresh tokens, dynamic registration, implicit and hybrid flows.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { movableClock } from '../../support/control-plane.ts'
import {
  Browser,
  codeIn,
  exchange,
  PASSWORD,
  relyingParty,
  requestWith,
  signIn,
  startWorld,
  userinfoStatus,
  type TestTenant,
  type World,
} from './realm-world.ts'

type Run = (given: {
  readonly t: Test
  readonly world: World
  readonly acme: TestTenant
  readonly browser: Browser
  readonly clock: ReturnType<typeof movableClock>
}) => Promise<void>

/** Each in a world of its own, by a clock that can be moved. */
function modules(plan: string, all: Readonly<Record<string, Run>>) {
  for (const [name, run] of Object.entries(all))
    t.test(`${plan}: ${name}`, async (t) => {
      const clock = movableClock(Date.now())
      const world = await startWorld(t, { clock })
      const acme = await world.tenant('acme')
      await run({ t, world, acme, browser: new Browser(world.baseUrl), clock })
    })
}

/** Signs in with these parameters and without what the suite leaves out; answers where it ends. */
async function authorize(
  browser: Browser,
  acme: TestTenant,
  changes: Record<string, string | null> = {},
) {
  const page = await browser.visit(await requestWith(acme, changes))
  if (!page.url.includes('/sign-in/')) return page
  return browser.submit(page.url, { username: 'ada', password: PASSWORD })
}

const parameter = (url: string, name: string) => new URL(url).searchParams.get(name)

const arrives =
  (changes: Record<string, string | null>): Run =>
  async ({ t, acme, browser }) => {
    const { url } = await authorize(browser, acme, changes)
    t.ok(url.startsWith(acme.redirectUri))
    t.ok(codeIn(url))
  }

const scopes =
  (scope: string): Run =>
  async ({ t, acme, browser }) => {
    const { tokens } = await signIn(browser, acme, { scope })
    t.ok(tokens.id_token)
    t.equal(await userinfoStatus(acme, tokens.access_token), 200)
  }

const codeReuseAfter =
  (pauseMs: number): Run =>
  async ({ t, acme, browser, clock }) => {
    const flow = await (await relyingParty(acme)).begin()
    const page = await browser.visit(flow.url)
    const { url } = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
    const tokens = await flow.finish(url)
    t.equal(await userinfoStatus(acme, tokens.access_token), 200)
    clock.advance(pauseMs)
    const again = await exchange(acme, { code: codeIn(url), code_verifier: flow.verifier })
    t.equal(again.status, 400)
    t.match(await again.json(), { error: 'invalid_grant' })
    t.equal(await userinfoStatus(acme, tokens.access_token), 401)
  }

async function userinfo({ issuer }: TestTenant, init: RequestInit) {
  const answer = await fetch(`${issuer}/userinfo`, init)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

modules('oidcc-basic', {
  'oidcc-server': async ({ t, acme, browser }) => {
    const { tokens, claims } = await signIn(browser, acme)
    t.equal(tokens.token_type, 'bearer')
    t.match(claims, { iss: acme.issuer, sub: acme.ada.userId, aud: acme.clientId, nonce: String })
  },
  'oidcc-response-type-missing': async ({ t, acme, browser }) => {
    const { url, response } = await authorize(browser, acme, { response_type: null })
    const error = url.startsWith(acme.redirectUri) ? parameter(url, 'error') : response.status
    t.ok(error === 'invalid_request' || error === 'unsupported_response_type' || error === 400)
  },
  'oidcc-userinfo-get': async ({ t, acme, browser }) => {
    const { tokens, claims } = await signIn(browser, acme)
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    t.match(await userinfo(acme, { headers }), { status: 200, body: { sub: claims.sub } })
  },
  'oidcc-userinfo-post-header': async ({ t, acme, browser }) => {
    const { tokens, claims } = await signIn(browser, acme)
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const answer = await userinfo(acme, { method: 'POST', headers })
    t.match(answer, { status: 200, body: { sub: claims.sub } })
  },
  'oidcc-userinfo-post-body': async ({ t, acme, browser }) => {
    const { tokens, claims } = await signIn(browser, acme)
    const body = new URLSearchParams({ access_token: tokens.access_token })
    const answer = await userinfo(acme, { method: 'POST', body })
    t.match(answer, { status: 200, body: { sub: claims.sub } })
  },
  'oidcc-idtoken-signature': async ({ t, acme, browser }) => {
    const { idToken } = await signIn(browser, acme)
    const keys = createRemoteJWKSet(new URL(`${acme.issuer}/jwks`))
    const { protectedHeader } = await jwtVerify(idToken, keys, { issuer: acme.issuer })
    t.equal(protectedHeader.alg, 'RS256')
    t.ok(decodeProtectedHeader(idToken).kid)
  },
  'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': arrives({ nonce: null }),
  'oidcc-scope-profile': scopes('openid profile'),
  'oidcc-scope-email': scopes('openid email'),
  'oidcc-scope-address': scopes('openid address'),
  'oidcc-scope-phone': scopes('openid phone'),
  'oidcc-scope-all': scopes('openid profile email address phone'),
  'oidcc-ensure-other-scope-order-succeeds': scopes('email openid'),
  'oidcc-display-page': arrives({ display: 'page' }),
  'oidcc-display-popup': arrives({ display: 'popup' }),
  'oidcc-prompt-login': async ({ t, acme, browser, clock }) => {
    const first = await signIn(browser, acme)
    clock.advance(2000)
    const second = await signIn(browser, acme, { prompt: 'login' })
    t.ok(Number(second.claims['auth_time']) > Number(first.claims['auth_time']))
    t.equal(second.claims.sub, first.claims.sub)
  },
  'oidcc-prompt-none-not-logged-in': async ({ t, acme, browser }) => {
    const { url } = await browser.visit(await requestWith(acme, { prompt: 'none' }))
    t.ok(url.startsWith(acme.redirectUri))
    t.equal(parameter(url, 'error'), 'login_required')
    t.ok(parameter(url, 'state'))
  },
  'oidcc-prompt-none-logged-in': async ({ t, acme, browser, clock }) => {
    const first = await signIn(browser, acme)
    clock.advance(2000)
    const flow = await (await relyingParty(acme)).begin({ prompt: 'none' })
    const { url } = await browser.visit(flow.url)
    const claims = (await flow.finish(url)).claims()
    t.equal(claims?.['auth_time'], first.claims['auth_time'])
  },
  'oidcc-max-age-1': async ({ t, acme, browser, clock }) => {
    const first = await signIn(browser, acme)
    await sleep(2100) // the provider compares ages by the clock on the wall
    clock.advance(2100)
    const second = await signIn(browser, acme, { max_age: '1' })
    t.ok(Number(second.claims['auth_time']) > Number(first.claims['auth_time']))
  },
  'oidcc-max-age-10000': async ({ t, acme, browser, clock }) => {
    const first = await signIn(browser, acme)
    clock.advance(2000)
    const flow = await (await relyingParty(acme)).begin({ max_age: '10000' })
    const { url } = await browser.visit(flow.url)
    const claims = (await flow.finish(url)).claims()
    t.equal(claims?.['auth_time'], first.claims['auth_time'])
  },
  'oidcc-ensure-request-with-unknown-parameter-succeeds': arrives({ extra: 'foobar' }),
  'oidcc-id-token-hint': async ({ t, acme, browser }) => {
    const { idToken, claims } = await signIn(browser, acme)
    const flow = await (await relyingParty(acme)).begin({ prompt: 'none', id_token_hint: idToken })
    const { url } = await browser.visit(flow.url)
    t.equal((await flow.finish(url)).claims()?.sub, claims.sub)
  },
  'oidcc-login-hint': async ({ t, acme, browser }) => {
    const page = await browser.visit(await requestWith(acme, { login_hint: 'ada' }))
    t.match(page.html, /value="ada"/)
  },
  'oidcc-ui-locales': async ({ t, acme, browser }) => {
    const page = await browser.visit(await requestWith(acme, { ui_locales: 'xx de en' }))
    t.match(page.html, /lang="de"/)
    t.ok(codeIn((await browser.submit(page.url, { username: 'ada', password: PASSWORD })).url))
  },
  'oidcc-claims-locales': arrives({ claims_locales: 'se' }),
  'oidcc-ensure-request-with-acr-values-succeeds': arrives({ acr_values: '1 2' }),
  'oidcc-codereuse': codeReuseAfter(0),
  'oidcc-codereuse-30seconds': codeReuseAfter(30_000),
  'oidcc-ensure-registered-redirect-uri': async ({ t, acme, browser }) => {
    const changes = { redirect_uri: `${acme.redirectUri}/other` }
    const { url, response } = await browser.visit(await requestWith(acme, changes))
    t.ok(url.startsWith(acme.issuer))
    t.equal(response.status, 400)
  },
  'oidcc-ensure-post-request-succeeds': async ({ t, acme, browser }) => {
    const url = new URL(await requestWith(acme, {}))
    const fields = Object.fromEntries(url.searchParams)
    const page = await browser.submit(`${acme.issuer}/authorize`, fields)
    t.ok(codeIn((await browser.submit(page.url, { username: 'ada', password: PASSWORD })).url))
  },
  'oidcc-server-client-secret-post': async ({ t, acme, browser }) => {
    const flow = await (await relyingParty(acme)).begin()
    const page = await browser.visit(flow.url)
    const { url } = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: codeIn(url),
      redirect_uri: acme.redirectUri,
      code_verifier: flow.verifier,
      client_id: acme.clientId,
      client_secret: acme.clientSecret,
    })
    t.equal((await fetch(`${acme.issuer}/token`, { method: 'POST', body })).status, 200)
  },
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': async ({
    t,
    acme,
    browser,
  }) => {
    const head = Buffer.from('{"alg":"none"}').toString('base64url')
    const request = `${head}.${Buffer.from('{}').toString('base64url')}.`
    const { url, response } = await browser.visit(await requestWith(acme, { request }))
    const error = url.startsWith(acme.redirectUri) ? parameter(url, 'error') : response.status
    t.ok(error === 'request_not_supported' || error === 400, String(error))
  },
  'oidcc-claims-essential': arrives({ claims: '{"userinfo":{"name":{"essential":true}}}' }),
  'oidcc-ensure-request-object-with-redirect-uri': async ({ t, acme, browser }) => {
    const request = `e30.${Buffer.from('{"redirect_uri":"https://evil.example"}').toString('base64url')}.`
    const { url } = await browser.visit(await requestWith(acme, { request }))
    t.notMatch(url, /^https:\/\/evil/)
  },
  'oidcc-ensure-request-with-valid-pkce-succeeds': async ({ t, acme, browser }) => {
    t.ok((await signIn(browser, acme)).idToken)
  },
})

/** Signed in, and a request to sign out with what the module sends. */
const signsOut =
  (
    parameters: (given: { idToken: string; home: string }) => Record<string, string>,
    isRight: (end: { url: string; status: number; html: string; home: string }) => boolean,
  ): Run =>
  async ({ t, acme, browser }) => {
    const { idToken } = await signIn(browser, acme)
    const home = new URL('/', acme.redirectUri).href
    const query = new URLSearchParams(parameters({ idToken, home }))
    const { url, response, html } = await browser.visit(`${acme.issuer}/logout?${query.toString()}`)
    t.ok(isRight({ url, status: response.status, html, home }), `${response.status} ${url}`)
  }

const isOwnPage = ({ url, home }: { url: string; home: string }) => !url.startsWith(home)
const tampered = (token: string) => token.slice(0, -4) + (token.endsWith('AAAA') ? 'BBBB' : 'AAAA')

modules('oidcc-rp-initiated-logout', {
  'oidcc-rp-initiated-logout-discovery-endpoint-verification': async ({ t, acme }) => {
    const url = `${acme.issuer}/.well-known/openid-configuration`
    const document = (await (await fetch(url)).json()) as Record<string, unknown>
    t.equal(document['end_session_endpoint'], `${acme.issuer}/logout`)
  },
  'oidcc-rp-initiated-logout': signsOut(
    ({ idToken, home }) => ({ id_token_hint: idToken, post_logout_redirect_uri: home, state: 's' }),
    ({ url, home }) => url === `${home}?state=s`,
  ),
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': signsOut(
    ({ idToken, home }) => ({ id_token_hint: idToken, post_logout_redirect_uri: `${home}bad` }),
    (end) => isOwnPage(end) && end.status === 400,
  ),
  'oidcc-rp-initiated-logout-modified-id-token-hint': signsOut(
    ({ idToken, home }) => ({ id_token_hint: tampered(idToken), post_logout_redirect_uri: home }),
    (end) => isOwnPage(end) && end.status === 400,
  ),
  'oidcc-rp-initiated-logout-bad-id-token-hint': signsOut(
    ({ home }) => ({ id_token_hint: 'bad', post_logout_redirect_uri: home }),
    (end) => isOwnPage(end) && end.status === 400,
  ),
  'oidcc-rp-initiated-logout-no-id-token-hint': signsOut(
    ({ home }) => ({ post_logout_redirect_uri: home, state: 's' }),
    (end) => isOwnPage(end) && end.status === 200,
  ),
  'oidcc-rp-initiated-logout-no-params': signsOut(
    () => ({}),
    (end) => isOwnPage(end) && end.status === 200 && end.html.includes('Sign out of'),
  ),
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': signsOut(
    ({ idToken }) => ({ id_token_hint: idToken }),
    (end) => isOwnPage(end) && end.html.includes('You&#39;re signed out'),
  ),
  'oidcc-rp-initiated-logout-no-state': signsOut(
    ({ idToken, home }) => ({ id_token_hint: idToken, post_logout_redirect_uri: home }),
    ({ url, home }) => url === home,
  ),
  'oidcc-rp-initiated-logout-only-state': signsOut(
    () => ({ state: 's' }),
    (end) => isOwnPage(end) && end.status === 200,
  ),
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': signsOut(
    ({ idToken, home }) => ({ id_token_hint: idToken, post_logout_redirect_uri: `${home}?foo=1` }),
    (end) => isOwnPage(end) && end.status === 400,
  ),
})

t.test('code injection: a code that somebody else began is worth nothing here', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const victim = await (await relyingParty(acme)).begin()
  const eve = await authorize(new Browser(world.baseUrl), acme)
  const injected = `${acme.redirectUri}?code=${codeIn(eve.url)}&state=${victim.state}&iss=${encodeURIComponent(acme.issuer)}`
  await t.rejects(victim.finish(injected), { code: 'OAUTH_RESPONSE_BODY_ERROR' })
})

t.test('mix-up: the answer names its issuer (RFC 9207), and its token its audience', async (t) => {
  const world = await startWorld(t)
  const [acme, bolt] = [await world.tenant('acme'), await world.tenant('bolt')]
  const { callback, idToken } = await signIn(new Browser(world.baseUrl), acme)
  t.equal(parameter(callback, 'iss'), acme.issuer)
  t.equal(decodeJwt(idToken).aud, acme.clientId)
  const flow = await (await relyingParty(bolt)).begin()
  const mixed = new URL(callback)
  mixed.searchParams.set('state', flow.state)
  await t.rejects(flow.finish(mixed.href), { code: 'OAUTH_INVALID_RESPONSE' })
})
