/** Each test is headed by what an attacker would try at a realm. */
import { request as httpRequest } from 'node:http'
import { decodeJwt } from 'jose'
import * as oidc from 'openid-client'
import t from 'tap'
import {
  ACTOR,
  Browser,
  PASSWORD,
  relyingParty,
  sidOf,
  signIn,
  startWorld,
  userNamed,
  type TestTenant,
} from './realm-world.ts'

const ADA = { username: 'ada', password: PASSWORD }

/** An authorization request with something about it changed; null leaves a parameter out. */
async function requestWith(tenant: TestTenant, changes: Record<string, string | null>) {
  const { url } = await (await relyingParty(tenant)).begin()
  const changed = new URL(url)
  for (const [name, value] of Object.entries(changes))
    if (value === null) changed.searchParams.delete(name)
    else changed.searchParams.set(name, value)
  return changed.href
}

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
    t.notMatch(answer.html, /name="password"/, response_mode)
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
    for (const grant_type of ['refresh_token', 'client_credentials', 'password', 'implicit'])
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
})

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

t.test(
  'the Host header is poisoned, or forwarding headers are: every address stays ours',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const poison = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example;proto=https',
    }
    const raw = (target: string) =>
      new Promise<string>((resolve, reject) => {
        const { port, hostname } = new URL(world.address)
        const sent = httpRequest({ port, hostname, path: target, headers: poison }, (response) => {
          let text = JSON.stringify(response.headers)
          response.on('data', (chunk: Buffer) => (text += chunk.toString()))
          response.on('end', () => resolve(text))
        })
        sent.on('error', reject)
        sent.end()
      })
    const { pathname, search } = new URL(await requestWith(acme, {}))
    const targets = [
      '/auth/realms/acme/.well-known/openid-configuration',
      pathname + search,
      `${pathname}?client_id=acme-user`,
      '/auth/realms/acme/logout',
      '/auth/realms/nobody/authorize',
    ]
    for (const target of targets) t.notMatch(await raw(target), /evil|https:\/\/127/, target)
    const absolute = await raw(`http://evil.example${pathname}${search}`)
    t.notMatch(absolute, /evil/, 'absolute-form')
  },
)

t.test(
  'another site sends the form (login CSRF): refused before the password is looked at',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    const page = await browser.visit(await requestWith(acme, {}))
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'same-origin', origin: 'http://evil.example' },
    ]
    for (const headers of foreign) {
      const answer = await browser.submit(page.url, ADA, headers)
      t.equal(answer.response.status, 403, JSON.stringify(headers))
    }
    const own = { 'sec-fetch-site': 'same-origin', origin: new URL(world.baseUrl).origin }
    t.match((await browser.submit(page.url, ADA, own)).url, /\?code=/)
  },
)

t.test(
  "an attacker's sign-in is planted in a browser (session fixation): nothing follows",
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    await world.users.create('acme', userNamed('mallory', 'Mallory'), ACTOR)
    const mallory = new Browser(world.baseUrl)
    const flow = await (await relyingParty(acme)).begin()
    const page = await mallory.visit(flow.url)
    const posted = await mallory.once(page.url, {
      method: 'POST',
      body: new URLSearchParams({ ...ADA, username: 'mallory' }),
    })
    const victim = new Browser(world.baseUrl)
    const lured = await victim.visit(posted.headers.get('location') ?? '')
    t.equal(lured.response.status, 400, 'the way back is bound to the browser that began')
    t.equal(victim.cookies.length, 0)

    const fixed = new Browser(world.baseUrl)
    const ada = await signIn(fixed, acme)
    const before = fixed.cookies.find(({ name }) => name.endsWith('_session'))?.value
    await signIn(fixed, acme, { prompt: 'login' })
    const after = fixed.cookies.find(({ name }) => name.endsWith('_session'))?.value
    t.ok(before)
    t.not(after, before, 'the cookie is another one after every sign-in')
    t.ok(ada.claims.sid)
  },
)

t.test('cookies are altered or guessed: they are signed, and bound to their sign-in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const [one, two] = [await requestWith(acme, {}), await requestWith(acme, {})]
  const [first, second] = [await browser.visit(one), await browser.visit(two)]
  const uidOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? ''
  const swapped = browser.cookies.map((cookie) => ({
    ...cookie,
    path: cookie.path.replace(uidOf(first.url), 'x').replace(uidOf(second.url), uidOf(first.url)),
  }))
  const thief = new Browser(world.baseUrl)
  thief.remember(swapped)
  t.equal((await thief.submit(first.url, ADA)).response.status, 400)
  thief.remember(browser.cookies.filter(({ name }) => !name.endsWith('.sig')))
  t.equal((await thief.submit(first.url, ADA)).response.status, 400)
})

t.test(
  'who exists? the answers to a wrong password and an unknown user are the same',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const gone = await world.users.create('acme', userNamed('gone', 'Gone'), ACTOR)
    await world.users.patch('acme', gone.userId, { isDisabled: true }, ACTOR)
    const answers = []
    for (const [username, password] of [
      ['ada', 'wrong'],
      ['bob', 'wrong'],
      ['gone', PASSWORD],
      ['bob', 'x'.repeat(5000)],
    ] as const) {
      const browser = new Browser(world.baseUrl)
      const page = await browser.visit(await requestWith(acme, {}))
      const { response, html } = await browser.submit(page.url, { username, password })
      const { pathname, search } = new URL(page.url)
      const text = html
        .replaceAll(username, 'USER')
        .replaceAll(pathname.split('/').at(-1) + search, '')
      const headers = [...response.headers.entries()]
        .filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))
        .map((entry) => entry.join(': ').replaceAll(pathname.split('/').at(-1) ?? '', ''))
      answers.push({
        status: response.status,
        text: text.replaceAll(/sign-in\/[^"]+/g, ''),
        headers,
      })
    }
    for (const answer of answers.slice(1)) t.same(answer, answers[0])
  },
)

t.test('markup in a name, a hint or a username stays text', async (t) => {
  const world = await startWorld(t)
  const evil = `"><script>alert(1)</script>`
  const acme = await world.tenant('acme', { name: `Acme ${evil}` })
  const browser = new Browser(world.baseUrl)
  const page = await browser.visit(await requestWith(acme, { login_hint: evil }))
  const wrong = await browser.submit(page.url, { username: evil, password: 'wrong' })
  const error = await browser.visit(await requestWith(acme, { prompt: evil, redirect_uri: evil }))
  const lost = await browser.visit(`${acme.issuer}/sign-in/${'x'.repeat(43)}?app=${evil}`)
  for (const { html } of [page, wrong, error, lost]) t.notMatch(html, /<script/)
  t.match(page.html, /value="&quot;&gt;&lt;script/)
})

t.test('the page is framed, sniffed, cached or scripted: its headers forbid it', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const pages = [
    await browser.visit(await requestWith(acme, {})),
    await browser.visit(`${acme.issuer}/authorize`),
    await browser.visit(`${world.baseUrl}/auth/realms/nobody/authorize`),
    await browser.visit(`${acme.issuer}/nowhere`),
  ]
  for (const { response, html } of pages) {
    const policy = response.headers.get('content-security-policy') ?? ''
    t.match(policy, /default-src 'none'/)
    t.match(policy, /frame-ancestors 'none'/)
    t.notMatch(policy, /unsafe|script-src|form-action/)
    t.equal(response.headers.get('x-content-type-options'), 'nosniff')
    t.match(response.headers.get('referrer-policy'), /^(no-referrer|same-origin)$/)
    t.equal(response.headers.get('cache-control'), 'no-store')
    t.ok(response.headers.get('x-request-id'))
    t.notMatch(html, /<script|\son[a-z]+=|style="/)
  }
})

t.test(
  'a form that is too long, repeats a field or is no form: asked again, never a 5xx',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    const page = await browser.visit(await requestWith(acme, {}))
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const post = (body: string, headers: Record<string, string>) =>
      browser.visit(page.url, { method: 'POST', body, headers })
    t.equal((await post(`username=${'x'.repeat(20_000)}`, form)).response.status, 413)
    t.equal((await post('username=ada&username=bob&password=x', form)).response.status, 400)
    t.equal((await post('{}', { 'content-type': 'application/json' })).response.status, 400)
    t.equal((await post('username=ada', form)).response.status, 422)
    t.equal((await post('', form)).response.status, 422)
    t.equal((await post('username=%ff%fe&password=%00', form)).response.status, 422)
    t.equal((await post('__proto__=x&constructor=y', form)).response.status, 422)
    t.match((await browser.submit(page.url, ADA)).url, /\?code=/, 'and the right one still works')
  },
)

t.test('a sign-in leaves no secret in the log', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { tokens, idToken, callback } = await signIn(new Browser(world.baseUrl), acme)
  const lines = world.logged.join('')
  t.match(lines, /signed_in/)
  const secrets = [PASSWORD, idToken, tokens.access_token, codeIn(callback), acme.clientSecret]
  for (const secret of secrets) t.notOk(lines.includes(secret))
  t.ok(decodeJwt(idToken).sub)
})

function codeIn(url: string): string {
  return new URL(url).searchParams.get('code') ?? ''
}

function exchange(
  tenant: Pick<TestTenant, 'issuer' | 'clientId' | 'clientSecret' | 'redirectUri'>,
  fields: Record<string, string | undefined> | [string, string][],
) {
  const given = Array.isArray(fields)
    ? fields
    : Object.entries({
        grant_type: 'authorization_code',
        redirect_uri: tenant.redirectUri,
        ...fields,
      })
  const body = new URLSearchParams()
  for (const [name, value] of given) if (value !== undefined) body.append(name, value)
  const credentials = `${tenant.clientId}:${tenant.clientSecret}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return fetch(`${tenant.issuer}/token`, { method: 'POST', body, headers: { authorization } })
}

async function userinfoStatus({ issuer }: TestTenant, accessToken: string): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await fetch(`${issuer}/userinfo`, { headers })).status
}
