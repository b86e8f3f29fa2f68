/** What an attacker would send to the endpoints; each test is headed by the attack. */
import * as oidc from 'openid-client'
import t from 'tap'
import {
  ADA,
  Browser,
  codeIn,
  exchange,
  relyingParty,
  requestWith,
  sidOf,
  startWorld,
  type TestTenant,
  userinfoStatus,
} from './realm-world.ts'

t.test('PKCE is left out or downgraded (CVE-2023-48228): refused', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const refused = [
    { code_challenge: null, code_challenge_method: null },
    { code_challenge_method: 'plain' },
    { code_challenge_method: null },
    { code_challenge: null },
  ]
  for (const changes of refused) {
    const { url } = await new Browser(world.baseUrl).visit(await requestWith(acme, changes))
    t.equal(new URL(url).searchParams.get('error'), 'invalid_request', JSON.stringify(changes))
  }
})

t.test('a code is taken without its verifier, or with another one: worthless', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  for (const verifier of [undefined, oidc.randomPKCECodeVerifier()]) {
    const browser = new Browser(world.baseUrl)
    const party = await relyingParty(acme)
    const flow = await party.begin()
    const page = await browser.visit(flow.url)
    const { url } = await browser.submit(page.url, ADA)
    const response = await exchange(acme, { code: codeIn(url), code_verifier: verifier })
    t.equal(response.status, 400)
    t.match(await response.json(), { error: 'invalid_grant' })
  }
})

t.test(
  'the redirect address is bent (CVE-2024-52289): an error page, never a redirect',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const addresses = [
      'http://evil.example/service/callback',
      'http://acme.example:8000/service/callback/',
      'http://acme.example:8000/service/callback?x=1',
      'http://acme.example:8000/service/callback#x',
      'http://acme.example:8000/service/callback/../../evil',
      'http://acme.example:8001/service/callback',
      'http://ACME.example:8000/service/callback',
      'http://acme.example:8000@evil.example/service/callback',
      'https://acme.example:8000/service/callback',
      'http://acmeXexample:8000/service/callback',
      'javascript:alert(1)',
      '//evil.example',
      '',
    ]
    for (const redirect_uri of addresses) {
      const browser = new Browser(world.baseUrl)
      const { response, html } = await browser.visit(await requestWith(acme, { redirect_uri }))
      t.equal(response.status, 400, redirect_uri)
      t.match(html, /This sign-in link does not work/, redirect_uri)
      t.notMatch(html, /evil/, redirect_uri)
    }
  },
)

t.test('a response mode or type that leaks the code (CVE-2023-6927): refused', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const modes = ['fragment', 'form_post', 'web_message', 'query.jwt', 'jwt', 'nonsense']
  for (const response_mode of modes) {
    const browser = new Browser(world.baseUrl)
    const answer = await browser.visit(await requestWith(acme, { response_mode }))
    t.notMatch(answer.html, /<form/, response_mode)
    t.match(answer.url, /[?&]error=unsupported_response_mode/, response_mode)
    t.notMatch(answer.url, /[?#&]code=/, response_mode)
  }
  for (const response_type of ['token', 'id_token', 'code id_token', 'none', 'nonsense']) {
    const browser = new Browser(world.baseUrl)
    const answer = await browser.visit(await requestWith(acme, { response_type }))
    t.match(decodeURIComponent(answer.url), /error=unsupported_response_type/, response_type)
  }
})

t.test(
  'parameters come twice (CVE-2026-9689), or bring a request of their own: refused',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const twice = `${await requestWith(acme, {})}&scope=openid`
    const { url } = await new Browser(world.baseUrl).visit(twice)
    t.equal(new URL(url).searchParams.get('error'), 'invalid_request')
    const uris = `${await requestWith(acme, {})}&redirect_uri=http://evil.example/`
    t.equal((await new Browser(world.baseUrl).visit(uris)).response.status, 400)

    const own = { request_uri: 'http://127.0.0.1:9/ssrf', request: 'eyJhbGciOiJub25lIn0.e30.' }
    for (const [name, value] of Object.entries(own)) {
      const answer = await new Browser(world.baseUrl).visit(
        await requestWith(acme, { [name]: value }),
      )
      t.equal(new URL(answer.url).searchParams.get('error'), `${name}_not_supported`)
    }
    const sent = await exchange(acme, [
      ['grant_type', 'authorization_code'],
      ['grant_type', 'refresh_token'],
    ])
    t.match(await sent.json(), { error: 'invalid_request' })
    const ofMachines = await exchange(acme, { grant_type: 'client_credentials' })
    t.match(await ofMachines.json(), { error: 'invalid_request' }, 'not for the application')
    for (const grant_type of ['refresh_token', 'password', 'implicit'])
      t.match(await (await exchange(acme, { grant_type })).json(), {
        error: 'unsupported_grant_type',
      })
    for (const path of ['reg', 'device/auth', 'request', 'token/revocation', 'backchannel'])
      t.equal((await fetch(`${acme.issuer}/${path}`, { method: 'POST' })).status, 404, path)
  },
)

t.test('a code is used twice: the session that was made from it ends', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const { url } = await browser.submit(page.url, ADA)
  const tokens = await flow.finish(url)
  const again = await exchange(acme, { code: codeIn(url), code_verifier: flow.verifier })
  t.match(await again.json(), { error: 'invalid_grant' })
  const sid = sidOf(tokens)
  t.equal((await world.sessions.find('acme', sid))?.endReason, 'code_reused')
  const { sids } = await world.revocations.revokedState('acme')
  t.ok((sids[sid] ?? 0) > (tokens.claims()?.iat ?? Infinity))
  t.equal(await userinfoStatus(acme, tokens.access_token), 401)
})

t.test('a code comes again while its token is made: the token does not leave', async (t) => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const world = await startWorld(t, {
    adapt: ({ sessions }) => ({
      sessions: {
        ...sessions,
        async find(...which) {
          const work = meanwhile
          meanwhile = undefined
          await work?.()
          return sessions.find(...which)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { url, verifier } = await signedInUrl(browser, acme)
  const fields = { code: codeIn(url), code_verifier: verifier }
  meanwhile = async () => t.equal((await exchange(acme, fields)).status, 400)
  t.match(await (await exchange(acme, fields)).json(), { error: 'invalid_grant' })
  t.same((await world.sessions.list('acme', { limit: 10 })).items, [], 'nobody has a session')
  const { sids } = await world.revocations.revokedState('acme')
  t.equal(Object.keys(sids).length, 1, 'and whatever was made of the code is dead everywhere')
  const again = await relyingParty(acme)
  t.match((await browser.visit((await again.begin()).url)).html, /name="password"/)
})

t.test('a code is used fifty times at once: at most one wins (CVE-2023-26481)', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const { url } = await browser.submit(page.url, ADA)
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      exchange(acme, { code: codeIn(url), code_verifier: flow.verifier }),
    ),
  )
  const won = answers.filter((answer) => answer.status === 200)
  t.ok(won.length <= 1, `${won.length} won`)
  t.ok(answers.every((answer) => answer.status === 200 || answer.status === 400))
  const { items } = await world.sessions.list('acme', { limit: 10 })
  t.same(
    items.filter(({ endedAt }) => endedAt === null),
    [],
    'and what it has won is over',
  )
})

/** On the way back to the application, with the code. */
async function signedInUrl(browser: Browser, tenant: TestTenant) {
  const flow = await (await relyingParty(tenant)).begin()
  const page = await browser.visit(flow.url)
  const { url } = await browser.submit(page.url, ADA)
  return { url, verifier: flow.verifier }
}

t.test(
  "tenant A's code, secret, cookie and token are tried at tenant B: worth nothing",
  async (t) => {
    const world = await startWorld(t)
    const [acme, bolt] = [await world.tenant('acme'), await world.tenant('bolt')]
    const browser = new Browser(world.baseUrl)
    const flow = await (await relyingParty(acme)).begin()
    const page = await browser.visit(flow.url)
    const { url } = await browser.submit(page.url, ADA)
    const stolen = { code: codeIn(url), code_verifier: flow.verifier }

    const atBolt = { ...bolt, redirectUri: acme.redirectUri }
    t.match(await (await exchange(bolt, stolen)).json(), { error: 'invalid_grant' })
    t.match(await (await exchange(atBolt, stolen)).json(), { error: 'invalid_grant' })
    const withAcmesSecret = { ...bolt, clientSecret: acme.clientSecret }
    t.match(await (await exchange(withAcmesSecret, stolen)).json(), { error: 'invalid_client' })
    const asAcme = { ...bolt, clientId: acme.clientId, clientSecret: acme.clientSecret }
    t.match(await (await exchange(asAcme, stolen)).json(), { error: 'invalid_client' })

    const tokens = await flow.finish(url)
    t.equal(await userinfoStatus(bolt, tokens.access_token), 401)
    const hint = tokens.id_token ?? ''
    t.equal(
      (await browser.visit(`${bolt.issuer}/logout?id_token_hint=${hint}`)).response.status,
      400,
    )

    const planted = new Browser(world.baseUrl)
    planted.remember(
      browser.cookies.map((cookie) => ({
        ...cookie,
        name: cookie.name.replace('acme', 'bolt'),
        path: cookie.path.replace('/acme', '/bolt'),
      })),
    )
    const none = await (await relyingParty(bolt)).begin({ prompt: 'none' })
    const answer = await planted.visit(none.url)
    t.equal(new URL(answer.url).searchParams.get('error'), 'login_required')
    t.notOk(browser.cookies.some(({ path }) => !path.startsWith('/auth/realms/acme')))
  },
)
