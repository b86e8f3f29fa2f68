/**
 * Somebody has put cookies of their own into another person's browser (from a sibling host, on a
 * shared machine, over a network without TLS), and waits for what that person proves with them.
 */
import t from 'tap'
import { createRealmRecords } from '../../../control-plane/realm/records.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ADA, Browser, startWorld, type TestTenant, type World } from './realm-world.ts'
import { begin, codeAt, enrolApp, setPolicy } from './steps.ts'

const seedIn = (html: string) =>
  /<code>((?:[A-Z2-7]{1,4} ?)+)<\/code>/.exec(html)?.[1]?.replaceAll(' ', '')

/** The attacker has begun a sign-in, and the victim's browser holds all cookies of it. */
async function planted(world: World, acme: TestTenant, parameters = {}) {
  const attacker = await begin(world, acme, parameters)
  const browser = new Browser(world.baseUrl)
  browser.remember(attacker.browser.cookies)
  const { url } = attacker.page
  const victim = {
    browser,
    open: () => browser.visit(url),
    send: (fields: Record<string, string>) => browser.submit(url, fields),
    sendOnce: (fields: Record<string, string>) =>
      browser.once(url, { method: 'POST', body: new URLSearchParams(fields) }),
  }
  return { attacker, victim, open: () => attacker.browser.visit(url), resume: resumeOf(attacker) }
}

function resumeOf({ page, browser }: Awaited<ReturnType<typeof begin>>) {
  const resume = page.url.replace('/sign-in/', '/authorize/').replace(/\?.*/, '')
  return (path = resume) => browser.visit(path)
}

/** What an attacker gets to see who tries everything; nothing, if all is well. */
async function seen({ attacker, open, resume }: Awaited<ReturnType<typeof planted>>) {
  const answers = [await open(), await resume()]
  for (const [name, value] of [
    ['codes_saved', '1'],
    ['code', '000000'],
    ['new_password', 'x'],
  ] as const)
    answers.push(await attacker.send({ [name]: value }))
  return answers.flatMap(({ response, html, url }) => {
    const isRefused = response.status === 400 && /Cookies are blocked/.test(html)
    return isRefused && /start again/i.test(html) && !url.includes('code=') ? [] : [url + html]
  })
}

t.test('the password was given in another browser: nothing of it is to be had', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const all = await planted(world, acme)
  const answer = await all.victim.sendOnce(ADA)
  t.equal(answer.status, 303)
  t.same(await seen(all), [])
  const { url } = await all.victim.browser.visit(answer.headers.get('location') ?? '')
  t.match(url, /\?code=/, 'and the person themselves arrives')
  t.notMatch((await all.resume()).url, /code=/)
  t.notMatch((await all.attacker.send({ codes_saved: '' })).url, /code=/, 'it is over')
})

t.test('the second factor was shown in another browser', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const all = await planted(world, acme)
  await all.victim.send(ADA)
  t.same(await seen(all), [])
  const answer = await all.victim.sendOnce({ code: code() })
  t.equal(answer.status, 303)
  t.same(await seen(all), [])
  t.match((await all.victim.browser.visit(answer.headers.get('location') ?? '')).url, /\?code=/)
})

t.test('who knows the password as well does not inherit the factor that was shown', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const all = await planted(world, acme)
  await all.victim.send(ADA)
  await all.victim.sendOnce({ code: code() })
  const again = await all.attacker.send(ADA)
  t.match(again.html, /name="code"/, 'it is asked for')
  t.notMatch(again.url, /code=/)
})

t.test('a second factor is set up: nobody else sees the seed or the recovery codes', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const all = await planted(world, acme)
  const seed = seedIn((await all.victim.send(ADA)).html) ?? ''
  t.ok(seed)
  t.same(await seen(all), [])
  const codes = await all.victim.send({ code: codeAt(seed, world.clock.nowMs()) })
  t.match(codes.html, /recovery codes/i)
  t.same(await seen(all), [])
  const before = seedIn((await all.attacker.send(ADA)).html)
  t.notOk(before, 'the factor is asked for, not set up once more')
})

t.test('whoever knew the password first does not know the seed of who comes later', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const all = await planted(world, acme)
  const known = seedIn((await all.attacker.send(ADA)).html)
  all.victim.browser.remember(all.attacker.browser.cookies) // without TLS that one as well
  const own = seedIn((await all.victim.send(ADA)).html)
  t.ok(known && own)
  t.not(own, known)
  t.same(await seen(all), [])
})

t.test('what somebody else has begun is not gone on with', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const all = await planted(world, acme)
  const { html } = await all.attacker.send(ADA)
  t.ok(seedIn(html))
  const lured = await all.victim.open()
  t.match(lured.html, /Cookies are blocked/, 'nobody sets up a factor of the attacker')
  t.match((await all.victim.sendOnce({ code: '123456' })).status, 400)
})

t.test('the way back is not taken by any other spelling of its address', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const all = await planted(world, acme)
  await all.victim.sendOnce(ADA)
  const { issuer } = acme
  const cookies = all.attacker.browser.cookies.map((cookie) => ({ ...cookie, path: '/' }))
  all.attacker.browser.remember(cookies)
  const uid = /sign-in\/([\w-]+)/.exec(all.attacker.page.url)?.[1]
  for (const path of [`/authorize/${uid}/`, `/AUTHORIZE/${uid}`, `/authorize/${'x'.repeat(43)}`])
    t.notMatch((await all.resume(`${issuer}${path}`)).url, /code=/, path)
})

t.test('a step up belongs to the browser whose session it is', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const home = await begin(world, acme)
  await home.password()
  const { code } = await enrolApp(world, acme)
  const more = await begin(world, acme, { acr_values: 'aal2' }, home.browser)
  t.match(more.page.html, /name="code"/)
  const thief = new Browser(world.baseUrl)
  thief.remember(home.browser.cookies.filter(({ name }) => /sign_in|resume/.test(name)))
  t.match((await thief.submit(more.page.url, { code: code() })).html, /Cookies are blocked/)
  t.match((await more.send({ code: code() })).url, /\?code=/)
})

t.test(
  'two tabs with a code each arrive, and the back button asks for no second one',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const { code } = await enrolApp(world, acme)
    const browser = new Browser(world.baseUrl)
    const [one, two] = [
      await begin(world, acme, {}, browser),
      await begin(world, acme, {}, browser),
    ]
    await one.password()
    await two.password()
    t.match((await one.send({ code: code() })).url, /\?code=/)
    t.match((await two.password()).url, /\?code=/)
  },
)

t.test('over TLS no other host can plant what says who somebody is', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { baseUrl: 'https://id.example', clock })
  const acme = await world.tenant('acme')
  const at = (url: string, cookie: string, body?: URLSearchParams) =>
    fetch(url.replace('https://id.example', world.address), {
      redirect: 'manual',
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie, accept: 'text/html' },
      ...(body && { body }),
    })
  const query = new URLSearchParams({
    client_id: 'acme-user',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: acme.redirectUri,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  })
  const pairs = new Map<string, string>()
  const lines: string[] = []
  const keep = (response: Response) => {
    for (const line of response.headers.getSetCookie()) {
      lines.push(line)
      const [name = '', value = ''] = line.split(';', 1)[0]!.split(/=(.*)/s)
      pairs.set(name, value)
    }
    return response
  }
  const cookie = () => [...pairs].map((pair) => pair.join('=')).join('; ')
  const begun = keep(await at(`${acme.issuer}/authorize?${query.toString()}`, ''))
  const page = begun.headers.get('location') ?? ''
  const many = Array.from(
    { length: LIMITS.realmSessionCookiesMax + 10 },
    (_, at) => `__Host-realm_t${at}_session=${at}`,
  )
  const attempts = Array.from(
    { length: LIMITS.attemptCookiesMax + 2 },
    (_, at) =>
      `__Host-realm_t_attempt_${String(at).padStart(12, '0')}=${String(at).padStart(50, '0')}`,
  )
  const sent = [cookie(), ...many, ...attempts].join('; ')
  const posted = keep(await at(page, sent, new URLSearchParams(ADA)))
  t.equal(posted.status, 303)
  const isGone = (line: string) => /max-age=0|1970/i.test(line)
  const attempt = lines.filter((line) => line.startsWith('__Host-realm_acme_attempt_'))
  t.match(attempt, [/; path=\/;.*; secure; httponly/i])
  t.equal(lines.filter((line) => isGone(line) && /realm_t_attempt_/.test(line)).length, 3)
  t.equal(lines.filter((line) => isGone(line) && /realm_t\d+_session=/.test(line)).length, 10)
  keep(await at(posted.headers.get('location') ?? '', cookie()))
  const session = lines.filter((line) => line.startsWith('__Host-realm_acme_session='))
  t.match(session.at(-1), /; path=\/;.*; secure; httponly/i)
  t.notOk(lines.some((line) => /^(?:__Secure-)?realm_acme_session/.test(line)))
})

t.test('who has the first cookie only does not throw the other browser back', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const all = await planted(world, acme)
  await all.victim.send(ADA)
  const restarted = await all.attacker.send({ restart: '1' })
  t.match(restarted.html, /name="password"/)
  t.match((await all.victim.open()).html, /name="code"/, 'still there')
  const answer = await all.victim.sendOnce({ code: code() })
  t.equal(answer.status, 303)
  t.match((await all.victim.browser.visit(answer.headers.get('location') ?? '')).url, /\?code=/)
})

t.test('a sign-in from before browsers had a secret is asked for its password again', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const all = await planted(world, acme)
  await all.victim.send(ADA)
  const uid = /sign-in\/([\w-]+)/.exec(all.attacker.page.url)?.[1] ?? ''
  const records = createRealmRecords({
    ...world,
    tenantId: 'acme',
    onCodeReused: () => Promise.resolve(),
  })
  await world.store.change(async ({ queries }) => {
    const payload = (await records.signInIn(queries, uid))?.payload
    const { attempt, ...rest } = payload as typeof payload & { attempt: object }
    const old = { ...rest, attempt: { ...attempt, browserHash: undefined } }
    await records.saveSignIn(queries, uid, old)
  })
  t.match((await all.victim.open()).html, /name="password"/)
  t.match((await all.victim.sendOnce({ code: code() })).status, 422, 'the code alone is nothing')
  t.match((await all.victim.send(ADA)).html, /name="code"/)
})
