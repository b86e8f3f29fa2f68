/** The realm's pages in a real Chromium, without JavaScript, with an application behind them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  PASSWORD,
  relyingParty,
  startWorld,
  type TestTenant,
} from '../control-plane/realm/realm-world.ts'
import { PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'

async function startEdge(t: Test) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

async function startBrowser(t: Test) {
  const chromium = await startChromium(t)
  return (options: BrowserContextOptions = {}) =>
    chromium.page({ javaScriptEnabled: false, ...options })
}

/** An application: sign-in, callback, its own redirect to another origin, a page, sign-out. */
async function startApplication(t: Test) {
  const edge = await startEdge(t)
  const other = await startEdge(t)
  other.server.on('request', (_request, response: ServerResponse) => {
    response.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>')
  })
  const world = await startWorld(t, { edgePort: edge.port })
  const acme = await world.tenant('acme', { hostnames: ['acme.localhost'] })
  const home = `http://acme.localhost:${edge.port}`
  edge.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answer(request, response).catch((error: unknown) => response.end(String(error)))
  })
  const party = await relyingParty(acme)
  const flows = new Map<string, Awaited<ReturnType<typeof party.begin>>>()
  const idTokens: string[] = []

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '', home)
    const to = (location: string) => response.writeHead(302, { location }).end()
    if (url.pathname === '/service/callback') {
      const tokens = await flows.get(url.searchParams.get('state') ?? '')?.finish(url.href)
      idTokens.push(tokens?.id_token ?? '')
      return to('/dashboard')
    }
    if (url.pathname === '/dashboard') return to(`http://127.0.0.1:${other.port}/`)
    if (url.pathname === '/login') {
      const flow = await party.begin()
      flows.set(flow.state, flow)
      return to(flow.url)
    }
    return response.setHeader('content-type', 'text/html').end('<h1>Signed out</h1>')
  }
  return { world, acme, home, idTokens }
}

async function fillIn(page: Page, password = PASSWORD) {
  await page.getByLabel('Username or email').fill('ada')
  await page.getByLabel('Password').fill(password)
}

const options = { skip: WITHOUT_CHROMIUM }

t.test(
  'a person signs in and out in Chromium, through redirects to other origins',
  options,
  async (t) => {
    const { home, acme, idTokens, world } = await startApplication(t)
    const { page, complaints } = await (await startBrowser(t))()
    await page.goto(`${home}/login`)
    t.equal(await page.title(), 'Sign in · The acme application')
    t.equal(await page.locator(':focus').getAttribute('id'), 'username')

    await fillIn(page, 'wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    t.match(await page.getByRole('alert').textContent(), /Wrong username or password/)
    t.equal(await page.getByLabel('Username or email').inputValue(), 'ada')
    t.equal(await page.getByLabel('Password').inputValue(), '')

    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    t.equal(idTokens.length, 1)

    await page.goto(`${acme.issuer}/logout?${logout(acme, idTokens[0] ?? '', home)}`)
    t.equal(page.url(), `${home}/`)
    await page.goto(`${home}/login`)
    t.ok(await page.getByLabel('Password').isVisible(), 'asked again')
    const refusals = complaints.filter((text) => /Content Security Policy|refused/i.test(text))
    t.same(refusals, [], 'the policy of our own pages is not broken by them')
    t.equal((await world.sessions.list('acme', { limit: 10 })).items[0]?.endReason, 'signed_out')
  },
)

t.test('back, forward, reload and a second tab all lead to the application', options, async (t) => {
  const { home } = await startApplication(t)
  const { page, context } = await (await startBrowser(t))()
  const second = await context.newPage()
  await page.goto(`${home}/login`)
  await second.goto(`${home}/login`)
  await fillIn(page)
  await page.getByRole('button', { name: 'Sign in' }).dblclick()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()

  await fillIn(second)
  await second.keyboard.press('Enter')
  await second.getByRole('heading', { name: 'Welcome' }).waitFor()

  await page.goBack()
  await page.waitForLoadState()
  if (await page.getByLabel('Password').isVisible()) {
    await fillIn(page)
    await page.keyboard.press('Enter')
  }
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
})

t.test('with cookies blocked the page says so and offers to start again', options, async (t) => {
  const { home } = await startApplication(t)
  const { page, context } = await (await startBrowser(t))()
  await page.goto(`${home}/login`)
  await fillIn(page)
  await context.clearCookies()
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.match(await page.getByRole('heading', { level: 1 }).textContent(), /Cookies are blocked/)
  t.equal(await page.getByRole('link', { name: 'Start again' }).getAttribute('href'), `${home}/`)
})

for (const colorScheme of ['light', 'dark'] as const)
  t.test(
    `in ${colorScheme} mode text is readable, and nothing is cut off on a phone`,
    options,
    async (t) => {
      const { home } = await startApplication(t)
      const visit = await startBrowser(t)
      const { page } = await visit({ colorScheme, javaScriptEnabled: true })
      await page.goto(`${home}/login`)
      await fillIn(page, 'wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
      const { scrollWidth, fontSizes, contrasts } = await page.evaluate<Measures>(MEASURE)
      t.ok(scrollWidth <= PHONE.width, 'no sideways scrolling')
      for (const size of fontSizes) t.ok(size >= 16, 'a phone does not zoom into the field')
      for (const { what, ratio } of contrasts)
        t.ok(ratio >= 4.5, `${what}: ${ratio.toFixed(1)} to 1`)
    },
  )

function logout({ clientId }: TestTenant, idToken: string, home: string): string {
  const parameters = {
    client_id: clientId,
    id_token_hint: idToken,
    post_logout_redirect_uri: `${home}/`,
  }
  return new URLSearchParams(parameters).toString()
}

interface Measures {
  readonly scrollWidth: number
  readonly fontSizes: number[]
  readonly contrasts: { what: string; ratio: number }[]
}

/** Runs in the page. WCAG 2.2, success criterion 1.4.3, for opaque colours. */
const MEASURE = `(() => {
  const luminance = (color) => {
    const [r, g, b] = color.map((channel) => {
      const part = channel / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const groundOf = (element) => {
    if (element === null) return [255, 255, 255]
    const color = channels(getComputedStyle(element).backgroundColor)
    return color[3] === 0 ? groundOf(element.parentElement) : color.slice(0, 3)
  }
  const texts = 'h1, header p, label, .alert span, button, footer span, .mark, input'
  const contrasts = [...document.querySelectorAll(texts)].map((element) => {
    const text = luminance(channels(getComputedStyle(element).color).slice(0, 3))
    const ground = luminance(groundOf(element))
    const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)
    return { what: element.tagName, ratio }
  })
  const inputs = [...document.querySelectorAll('input')]
  const fontSizes = inputs.map((input) => parseFloat(getComputedStyle(input).fontSize))
  return { scrollWidth: document.documentElement.scrollWidth, fontSizes, contrasts }
})()`

t.test('a button shows the password, and says whether it does', options, async (t) => {
  const { home } = await startApplication(t)
  const { page, complaints } = await (await startBrowser(t))({ javaScriptEnabled: true })
  await page.goto(`${home}/login`)
  await fillIn(page)
  const button = page.getByRole('button', { name: 'Show password' })
  const state = async () => [
    await page.locator('#password').getAttribute('type'),
    await button.getAttribute('aria-pressed'),
  ]
  t.same(await state(), ['password', 'false'])
  await button.press('Enter')
  t.same(await state(), ['text', 'true'])
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: `${folder}/show-password.png` })
  await button.click()
  t.same(await state(), ['password', 'false'])
  await button.click()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  t.same(complaints, [])
})
