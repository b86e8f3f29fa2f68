/** The ways in which people leave the straight path through a sign-in, and still arrive. */
import t from 'tap'
import {
  Browser,
  PASSWORD,
  relyingParty,
  sidOf,
  signIn,
  startWorld,
  userNamed,
  ACTOR,
  ADA,
} from './realm-world.ts'

t.test('five tabs that were opened before signing in all arrive', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const party = await relyingParty(acme)
  const flows = await Promise.all(Array.from({ length: 5 }, () => party.begin()))
  const pages = []
  for (const flow of flows) pages.push(await browser.visit(flow.url))
  for (const [tab, page] of pages.entries()) {
    const { url } = await browser.submit(page.url, ADA)
    const tokens = await flows[tab]?.finish(url)
    t.equal(tokens?.claims()?.sub, acme.ada.userId)
  }
})

t.test(
  'a waiting tab that is reloaded after another has signed in goes on by itself',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    const waiting = await (await relyingParty(acme)).begin()
    const page = await browser.visit(waiting.url)
    await signIn(browser, acme)
    const { url } = await browser.visit(page.url)
    t.equal((await waiting.finish(url)).claims()?.sub, acme.ada.userId)
  },
)

t.test('the back button leads from the sign-in page on to the application', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { page } = await signIn(browser, acme)
  const { url } = await browser.visit(page.url)
  t.ok(url.startsWith(`${acme.redirectUri}?code=`), url)
})

t.test('after the back button the form works, for another account too', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const bob = await world.users.create('acme', userNamed('bob', 'Bob'), ACTOR)
  const browser = new Browser(world.baseUrl)
  const party = await relyingParty(acme)
  const flow = await party.begin()
  const page = await browser.visit(flow.url)
  const asAda = await flow.finish((await browser.submit(page.url, ADA)).url)
  const { url } = await browser.submit(page.url, { ...ADA, username: 'bob' })
  t.equal((await flow.finish(url)).claims()?.sub, bob.userId)
  const sid = sidOf(asAda)
  t.equal((await world.sessions.find('acme', sid))?.endReason, 'account_switched')
})

t.test('a form that is sent twice at once leads both answers on', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const [first, second] = await Promise.all([
    browser.once(page.url, { method: 'POST', body: new URLSearchParams(ADA) }),
    browser.once(page.url, { method: 'POST', body: new URLSearchParams(ADA) }),
  ])
  t.equal(first.status, 303)
  t.equal(second.status, 303)
  const { url } = await browser.visit(second.headers.get('location') ?? '')
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test('a second click whose first answer was lost, cookies and all, still signs in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const before = browser.cookies
  await browser.submit(page.url, ADA)
  const impatient = new Browser(world.baseUrl)
  impatient.remember(before)
  const { url } = await impatient.submit(page.url, ADA)
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test('the way back from the sign-in page can be taken twice', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const posted = await browser.once(page.url, { method: 'POST', body: new URLSearchParams(ADA) })
  const resume = posted.headers.get('location') ?? ''
  await browser.visit(resume)
  const { url } = await browser.visit(resume)
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test(
  'without our cookie the page says what to do and leads back to the application',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const flow = await (await relyingParty(acme)).begin()
    const page = await new Browser(world.baseUrl).visit(flow.url)
    const other = new Browser(world.baseUrl)
    for (const answer of [await other.visit(page.url), await other.submit(page.url, ADA)]) {
      t.equal(answer.response.status, 400)
      t.match(answer.html, /Cookies are blocked/)
      t.match(answer.html, /href="http:\/\/acme\.example:8000\/"/)
    }
  },
)

t.test('a sign-in that is gone ends on a page that offers to start again', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme', { hostnames: ['acme.example', 'other.example'] })
  const browser = new Browser(world.baseUrl)
  const gone = `${acme.issuer}/sign-in/${'x'.repeat(43)}`
  const named = await browser.visit(`${gone}?app=other.example:8000`)
  t.equal(named.response.status, 410)
  t.match(named.html, /href="http:\/\/other\.example:8000\/"/)
  const lured = await browser.visit(`${gone}?app=evil.example`)
  t.match(lured.html, /href="http:\/\/acme\.example:8000\/"/)
  t.notMatch(lured.html, /evil/)
  await signIn(browser, acme)
  t.equal((await browser.visit(gone)).url, 'http://acme.example:8000/', 'signed in: simply go on')
})

t.test('a restart in the middle of a sign-in is not noticed', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  await world.close()
  const { file, masterKey, port } = world
  const after = await startWorld(t, { file, masterKey, port })
  const posted = await browser.once(page.url, { method: 'POST', body: new URLSearchParams(ADA) })
  t.equal(posted.status, 303)
  await after.close()
  await startWorld(t, { file, masterKey, port })
  const { url } = await browser.visit(posted.headers.get('location') ?? '')
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test('a new master key signs nobody out', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party, claims } = await signIn(browser, acme)
  const goOn = async () => {
    const flow = await party.begin()
    const { url } = await browser.visit(flow.url)
    t.equal((await flow.finish(url)).claims()?.sid, claims.sid)
  }
  await world.close()
  const { file, masterKey: previousMasterKey, port } = world
  const masterKey = Buffer.alloc(32, 2)
  const during = await startWorld(t, { file, masterKey, previousMasterKey, port })
  await goOn()
  await during.jobs.run()
  await during.close()
  await startWorld(t, { file, masterKey, port })
  await goOn()
})

t.test('a wrong password keeps the username and says so, and the next try works', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const wrong = await browser.submit(page.url, { username: 'ada', password: 'wrong' })
  t.equal(wrong.response.status, 422)
  t.match(wrong.html, /role="alert"/)
  t.match(wrong.html, /value="ada"/)
  t.notMatch(wrong.html, /value="wrong"/)
  const { url } = await browser.submit(page.url, {
    username: 'ADA@example.test',
    password: PASSWORD,
  })
  t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
})

t.test(
  'where the application names another account, the page says that this is not it',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    await world.users.create('acme', userNamed('bob', 'Bob'), ACTOR)
    const { idToken, party } = await signIn(new Browser(world.baseUrl), acme)
    const browser = new Browser(world.baseUrl)
    const flow = await party.begin({ id_token_hint: idToken })
    const page = await browser.visit(flow.url)
    const asBob = await browser.submit(page.url, { ...ADA, username: 'bob' })
    t.match(asBob.html, /asked for a different account/)
    const { url } = await browser.submit(asBob.url, ADA)
    t.equal((await flow.finish(url)).claims()?.sub, acme.ada.userId)
  },
)
