/** The ways in which people get stuck: each ends at the application, or on a page that says what to do. */
import t, { type Test } from 'tap'
import { textsFor } from '../../../control-plane/realm/pages/texts/languages.ts'
import { LANGUAGES } from '../../../shared/sign-in/language.ts'
import {
  ADA,
  Browser,
  requestWith,
  startWorld,
  type TestTenant,
  type World,
} from './realm-world.ts'

type Kind = 'expired' | 'cookie_missing' | 'link_gone' | 'cross_site'

async function places(t: Test) {
  const world = await startWorld(t)
  return { world, acme: await world.tenant('acme') }
}

/** Each way, and the page on which it ends. The wish for a language goes along. */
const WAYS: Readonly<
  Record<string, { kind: Kind; go: (acme: TestTenant, me: Me) => Promise<Shown> }>
> = {
  'the page of a sign-in that nobody remembers': {
    kind: 'expired',
    go: (acme, me) => me.visit(`${acme.issuer}/sign-in/${'x'.repeat(43)}?app=acme.example`),
  },
  'an old way back from the sign-in page': {
    kind: 'expired',
    go: (acme, me) => me.visit(`${acme.issuer}/authorize/${'x'.repeat(43)}`),
  },
  'cookies are blocked, or thrown away by a clock that is wrong': {
    kind: 'cookie_missing',
    go: async (acme, me) => {
      const page = await me.visit(await requestWith(acme, {}))
      me.browser.forgetCookies()
      return me.submit(page.url)
    },
  },
  'the address of the sign-in page is opened in another browser': {
    kind: 'cookie_missing',
    go: async (acme, me) => {
      const page = await new Browser(me.world.baseUrl).visit(await requestWith(acme, {}))
      return me.visit(page.url)
    },
  },
  'a link from a mail is used up or too old': {
    kind: 'link_gone',
    go: (acme, me) => me.visit(`${acme.issuer}/account/new-password?ticket=${'x'.repeat(43)}`),
  },
  'the form was saved, and comes from a file': {
    kind: 'cross_site',
    go: async (acme, me) => {
      const page = await me.visit(await requestWith(acme, {}))
      return me.submit(page.url, { origin: 'null' })
    },
  },
}

type Shown = Awaited<ReturnType<Browser['visit']>>
interface Me {
  readonly world: World
  readonly browser: Browser
  visit(url: string): Promise<Shown>
  submit(url: string, headers?: Record<string, string>): Promise<Shown>
}

function somebody(world: World, language: string): Me {
  const browser = new Browser(world.baseUrl)
  const wish = { 'accept-language': language }
  return {
    world,
    browser,
    visit: (url) => browser.visit(url, { headers: wish }),
    submit: (url, headers = {}) => browser.submit(url, ADA, { ...wish, ...headers }),
  }
}

for (const [way, { kind, go }] of Object.entries(WAYS))
  t.test(`${way}: a page says what to do, in every language`, async (t) => {
    const { world, acme } = await places(t)
    for (const language of LANGUAGES) {
      const texts = textsFor({ uiLocales: language })
      const { html, response } = await go(acme, somebody(world, language))
      const { title, steps } = texts.messages[kind]
      t.ok(response.status >= 400 && response.status < 500, `${way}: ${response.status}`)
      t.match(html, `<h1>${title}</h1>`, `${way}, ${language}`)
      for (const step of steps) t.ok(html.includes(step), step)
      t.match(html, 'href="http://acme.example:8000/"', 'and the way back to the application')
    }
  })

t.test('a clock that runs ahead throws no cookie away: each has a length of time', async (t) => {
  const { world, acme } = await places(t)
  const browser = new Browser(world.baseUrl)
  const page = await browser.visit(await requestWith(acme, {}))
  const hour = browser.cookies.map(({ attributes }) => /max-age=(\d+)/i.exec(attributes)?.[1])
  t.ok(hour.length > 0)
  for (const seconds of hour)
    t.ok(Number(seconds) > 3500 && Number(seconds) <= 3600, `${seconds} seconds`)
  await browser.submit(page.url, ADA)
  const kept = browser.cookies.filter(({ attributes }) => /expires=/i.test(attributes))
  t.ok(kept.some(({ name }) => name.endsWith('_session')))
  for (const { name, attributes } of kept) t.match(attributes, /max-age=\d+/i, name)
})
