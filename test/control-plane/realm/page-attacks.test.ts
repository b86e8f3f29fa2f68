/** What an attacker would do to the pages and to who looks at them; each test is headed by the attack. */
import { request as httpRequest } from 'node:http'
import { decodeJwt } from 'jose'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ACTOR,
  ADA,
  Browser,
  codeIn,
  PASSWORD,
  relyingParty,
  requestWith,
  signIn,
  startWorld,
  userNamed,
} from './realm-world.ts'

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
  for (const { html } of [page, wrong, error, lost])
    t.notMatch(html, /<script(?! src="[^"<>]*\/passkey\.js" defer><\/script>)/)
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
    const others = policy.replace(`; script-src ${acme.issuer}/passkey.js;`, ';')
    t.notMatch(
      others,
      /unsafe|script-src|form-action/,
      'one script of our own, where a field needs it',
    )
    t.equal(response.headers.get('x-content-type-options'), 'nosniff')
    t.match(response.headers.get('referrer-policy'), /^(no-referrer|same-origin)$/)
    t.equal(response.headers.get('cache-control'), 'no-store')
    t.ok(response.headers.get('x-request-id'))
    t.notMatch(html, /<script(?! src="[^"<>]*\/passkey\.js" defer><\/script>)|\son[a-z]+=|style="/)
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
    const many = (count: number) => 'username=ada' + '&'.repeat(count - 1)
    t.equal((await post(many(LIMITS.formFieldsMax), form)).response.status, 422)
    t.equal((await post(many(LIMITS.formFieldsMax + 1), form)).response.status, 413)
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
