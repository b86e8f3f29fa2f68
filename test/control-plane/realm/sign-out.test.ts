import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { isStrangers } from '../../../control-plane/store/precedence.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { fieldIn } from './account-visit.ts'
import {
  ACTOR,
  Browser,
  PASSWORD,
  relyingParty,
  sidOf,
  signIn,
  startWorld,
  userNamed,
} from './realm-world.ts'
import { begin, eventsOf } from './steps.ts'

const HOME = 'http://acme.example:8000/'

function logoutUrl(issuer: string, parameters: Record<string, string>) {
  return `${issuer}/logout?${new URLSearchParams(parameters).toString()}`
}

t.test('without a token of the session a person is asked, and may stay', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party, tokens } = await signIn(browser, acme)
  const parameters = { client_id: acme.clientId, post_logout_redirect_uri: HOME, state: 'x y' }
  const page = await browser.visit(logoutUrl(acme.issuer, parameters))
  t.equal(page.response.status, 200)
  t.match(page.html, /Sign out of The acme application\?/)
  t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endedAt, null)
  t.match((await browser.visit((await party.begin()).url)).url, /code=/, 'still signed in')

  const fields = Object.fromEntries(
    [...page.html.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map((field) => [
      field[1] ?? '',
      field[2] ?? '',
    ]),
  )
  const forged = await browser.submit(`${acme.issuer}/logout/confirm`, {
    ...fields,
    confirmation: 'guessed',
  })
  t.equal(forged.response.status, 410)
  const foreign = await browser.submit(`${acme.issuer}/logout/confirm`, fields, {
    'sec-fetch-site': 'cross-site',
  })
  t.equal(foreign.response.status, 410)
  t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endedAt, null)

  const left = await browser.submit(`${acme.issuer}/logout/confirm`, fields)
  t.equal(left.url, `${HOME}?state=x+y`)
  t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endReason, 'signed_out')
  t.match((await browser.visit((await party.begin()).url)).html, /name="password"/)
})

t.test('signing out without saying where to ends on a page', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { idToken } = await signIn(browser, acme)
  const page = await browser.visit(logoutUrl(acme.issuer, { id_token_hint: idToken }))
  t.equal(page.response.status, 200)
  t.match(page.html, /You&#39;re signed out/)
  t.equal(browser.cookies.filter(({ name }) => /_session$/.test(name)).length, 0)
})

t.test('it may be sent as a form, and from a browser that lost our cookie', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { idToken, tokens } = await signIn(new Browser(world.baseUrl), acme)
  const other = new Browser(world.baseUrl)
  const left = await other.submit(`${acme.issuer}/logout`, {
    id_token_hint: idToken,
    post_logout_redirect_uri: HOME,
  })
  t.equal(left.url, HOME)
  t.ok((await world.sessions.find('acme', sidOf(tokens)))?.endedAt)
})

t.test('a token of the same person from another browser asks as no token does', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const elsewhere = await signIn(new Browser(world.baseUrl), acme)
  const browser = new Browser(world.baseUrl)
  const { tokens } = await signIn(browser, acme)
  const page = await browser.visit(logoutUrl(acme.issuer, { id_token_hint: elsewhere.idToken }))
  t.match(page.html, /Sign out of The acme application\?/)
  for (const one of [tokens, elsewhere.tokens])
    t.equal((await world.sessions.find('acme', sidOf(one)))?.endedAt, null)
})

t.test(
  'nobody is sent to an address that is not registered, with or without a token',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    const { idToken, tokens } = await signIn(browser, acme)
    const addresses = [
      'http://evil.example/',
      'http://acme.example:8000',
      `${HOME}x`,
      '//evil.example',
      'javascript:alert(1)',
      'http://acme.example:8000@evil.example/',
    ]
    const named = [
      ['id_token_hint', idToken],
      ['client_id', acme.clientId],
    ] as const
    for (const uri of addresses)
      for (const [name, value] of named) {
        const parameters = { [name]: value, post_logout_redirect_uri: uri }
        const page = await browser.visit(logoutUrl(acme.issuer, parameters))
        t.equal(page.response.status, 400, uri)
      }
    const anonymous = logoutUrl(acme.issuer, { post_logout_redirect_uri: 'http://evil.example/' })
    const page = await new Browser(world.baseUrl).visit(anonymous)
    t.equal(page.response.status, 200, 'nobody named a client: the address is not even looked at')
    t.notMatch(page.html, /evil/)
    t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endedAt, null, 'and nothing ended')
  },
)

t.test('a token that is forged, of another realm, or a second one: refused', async (t) => {
  const world = await startWorld(t)
  const [acme, bolt] = [await world.tenant('acme'), await world.tenant('bolt')]
  const browser = new Browser(world.baseUrl)
  const { idToken, tokens } = await signIn(browser, acme)
  const foreign = await signIn(new Browser(world.baseUrl), bolt)
  const [head, body] = idToken.split('.')
  const forged = [`${head}.${body}.AAAA`, `${head}.${body}.`, 'x', foreign.idToken]
  for (const id_token_hint of forged) {
    const page = await browser.visit(logoutUrl(acme.issuer, { id_token_hint }))
    t.equal(page.response.status, 400)
  }
  const twice = `${logoutUrl(acme.issuer, { id_token_hint: idToken })}&id_token_hint=x`
  t.equal((await browser.visit(twice)).response.status, 400)
  const other = logoutUrl(acme.issuer, { id_token_hint: idToken, client_id: bolt.clientId })
  t.equal((await browser.visit(other)).response.status, 400)
  t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endedAt, null)
})

t.test("somebody else's token does not sign this browser out unasked", async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await world.users.create('acme', userNamed('bob', 'Bob'), ACTOR)
  const bob = await signIn(
    new Browser(world.baseUrl),
    acme,
    {},
    { username: 'bob', password: PASSWORD },
  )
  const browser = new Browser(world.baseUrl)
  const ada = await signIn(browser, acme)
  const page = await browser.visit(logoutUrl(acme.issuer, { id_token_hint: bob.idToken }))
  t.match(page.html, /Sign out of/)
  t.equal((await world.sessions.find('acme', sidOf(ada.tokens)))?.endedAt, null)
})

t.test('a token that is shown again and again ends its session once', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { idToken, tokens } = await signIn(new Browser(world.baseUrl), acme)
  const ended = async () =>
    (await world.store.read.select().from(schema.audit)).filter(
      ({ action }) => action === 'sessions.revoked',
    ).length
  const show = () =>
    new Browser(world.baseUrl).visit(logoutUrl(acme.issuer, { id_token_hint: idToken }))
  t.match((await show()).html, /You&#39;re signed out/)
  t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endReason, 'signed_out')
  t.equal(await ended(), 1)
  for (let count = 0; count < 3; count++) t.match((await show()).html, /You&#39;re signed out/)
  t.equal(await ended(), 1)
})

t.test('one that has expired is ended once as well', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const { tokens } = await signIn(new Browser(world.baseUrl), acme)
  const sid = sidOf(tokens)
  clock.advance((acme.tenant.maxSessionSeconds + 1) * 1000)
  let ends = 0
  world.store.onCommit(({ revoked }) => void (ends += revoked.size))
  for (let count = 0; count < 3; count++)
    await world.revocations.end('acme', sid, ACTOR, 'signed_out')
  t.equal(ends, 1)
})

t.test('a stranger with a token goes behind the others, the browser itself does not', async (t) => {
  const lanes: boolean[] = []
  const world = await startWorld(t, {
    adapt: ({ revocations }) => ({
      revocations: {
        ...revocations,
        end: (...ending) => {
          lanes.push(isStrangers())
          return revocations.end(...ending)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { idToken } = await signIn(browser, acme)
  const { idToken: other } = await signIn(new Browser(world.baseUrl), acme)
  await browser.visit(logoutUrl(acme.issuer, { id_token_hint: idToken }))
  t.same(lanes, [false])
  await new Browser(world.baseUrl).visit(logoutUrl(acme.issuer, { id_token_hint: other }))
  t.same(lanes, [false, true])
})

t.test('one address signs out so often', async (t) => {
  const rates = { logout: { burst: 2, perSecond: 0.1 } }
  const world = await startWorld(t, { clock: movableClock(Date.now()), rates })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const statuses = []
  for (let count = 0; count < 3; count++)
    statuses.push((await browser.once(`${acme.issuer}/logout`)).status)
  t.same(statuses, [200, 200, 429])
  const confirmed = await browser.once(`${acme.issuer}/logout/confirm`, { method: 'POST' })
  t.equal(confirmed.status, 429)
  t.ok(LIMITS.rateLogout.burst >= 100, 'an office signs out at five')
})

t.test(
  'signed out before a token was fetched: neither the code nor the page opens more',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const { browser, page, flow, send, password } = await begin(world, acme)
    const { url } = await password()
    t.match(url, /code=/)
    const asked = await browser.visit(`${acme.issuer}/logout`)
    const confirmation = fieldIn(asked.html, 'confirmation')
    const left = await browser.submit(`${acme.issuer}/logout/confirm`, { confirmation })
    t.match(left.html, /You&#39;re signed out/)
    t.equal(Object.keys((await world.revocations.revokedState('acme')).sids).length, 1)
    const ended = await flow.finish(url).catch((error: unknown) => error)
    t.match(ended, { error: 'invalid_grant' })
    t.same(await eventsOf(world, 'session.revoked'), [], 'of which nobody had heard')

    const again = await send({ codes_saved: '' })
    t.match(again.url, page.url.split('?')[0], 'the page that was finished leads nowhere')
    t.equal(again.response.status, 410)
    t.match(
      (await browser.visit((await (await relyingParty(acme)).begin()).url)).html,
      /name="password"/,
    )
    await signIn(browser, acme)
  },
)

t.test('the sign-out overtakes a second click: it opens nothing either', async (t) => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const world = await startWorld(t, {
    adapt: ({ policies }) => ({
      policies: {
        ...policies,
        async of(...which) {
          const work = meanwhile
          meanwhile = undefined
          await work?.()
          return policies.of(...which)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  const { browser, sendOnce, password } = await begin(world, acme)
  await password()
  const leaving = new Browser(world.baseUrl)
  leaving.remember(browser.cookies)
  browser.forgetCookies(({ name }) => name.endsWith('_session')) // else it goes by that
  const asked = await leaving.visit(`${acme.issuer}/logout`)
  const confirmation = fieldIn(asked.html, 'confirmation')
  meanwhile = () => leaving.submit(`${acme.issuer}/logout/confirm`, { confirmation })
  const clicked = await sendOnce({ codes_saved: '' })
  t.not(clicked.response.status, 303)
  t.match(clicked.html, /name="password"/)
})

t.test('an old token of a session that is forgotten here writes nothing', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { idToken } = await signIn(new Browser(world.baseUrl), acme)
  await world.store.change(async ({ queries }) => void (await queries.delete(schema.sessions)))
  const url = logoutUrl(acme.issuer, { id_token_hint: idToken })
  t.match((await new Browser(world.baseUrl).visit(url)).html, /You&#39;re signed out/)
  t.same((await world.revocations.revokedState('acme')).sids, {})
})
