/** Hasty hands, small screens and long names: what a page must stand in Chromium. */
import t from 'tap'
import type { Page } from 'playwright-core'
import { tenantBody } from '../support/application.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep, violations } from '../support/console-browser.ts'
import { becomeNewOperator, sharedFleet } from '../support/shared-fleet.ts'

const NARROW = { width: 320, height: 640 }
const LONG = 'W'.repeat(200)

let story: ReturnType<typeof newStory> | undefined
/** One for all tests: what each of them does is another tenant's, or another page's. */
const startStory = () => (story ??= newStory())

async function newStory() {
  const fleet = await sharedFleet(t)
  await fleet.operator('POST', '/tenants', {
    ...tenantBody('acme-hands', 'http://127.0.0.1:9000'),
    plan: 'premium',
  })
  await fleet.operator('POST', '/tenants/acme-hands/publish')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK })
  await becomeNewOperator(page, fleet, 'acme-hands')
  const at = (path: string) => `${fleet.baseUrl}/console${path}`
  /** The same person elsewhere. */
  const also = async (options: Parameters<typeof chromium.page>[0]) => {
    const other = await chromium.page(options)
    await other.context.addCookies(await context.cookies())
    return other.page
  }
  return { fleet, page, at, also }
}

const isWide = (page: Page) =>
  page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  )

const isCutOff = (page: Page, selector: string) =>
  page.evaluate<boolean>(
    `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('${selector}'))`,
  )

/** Whether all of it is within the width of the screen. */
async function isInSight(page: Page, selector: string): Promise<boolean> {
  const box = await page.locator(selector).first().boundingBox()
  const width = page.viewportSize()?.width ?? 0
  return box !== null && box.width > 0 && box.x >= 0 && box.x + box.width <= width
}

t.test('hasty hands', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { fleet, page, at, also } = await startStory()

  // a double click, with the script and without
  const plain = await also({ viewport: PHONE, javaScriptEnabled: false })
  const fill = async (one: Page) => {
    await one.goto(at('/tenants/acme-hands/webhooks/new'))
    await one.fill('[name=url]', 'https://127.0.0.1:9/hooks')
    await one.getByLabel('session.revoked').check()
    return one.getByRole('button', { name: 'Create webhook' })
  }
  const shown = async (one: Page) => {
    await one.locator('.copyable code').filter({ hasText: 'whsec_' }).waitFor()
    t.match(await one.innerText('.copyable code'), /^whsec_[\w-]{43}$/, 'the secret is seen')
  }
  for (const one of [plain, page]) {
    await (await fill(one)).dblclick()
    await shown(one)
  }
  const { body } = await fleet.operator('GET', '/tenants/acme-hands/webhooks')
  t.equal((body as { items?: unknown[] }).items?.length, 2, 'and each was made once')

  // Enter before the answer is there
  await fleet.operator('POST', '/tenants', tenantBody('globex', 'http://127.0.0.1:9001'))
  await page.goto(at('/tenants'))
  await page.keyboard.press('/')
  await page.locator('#found a').first().waitFor()
  let answer = () => {}
  const asked = new Promise<void>((resolve) => (answer = resolve))
  await page.route(/search\?q=globex/, async (route) => {
    await asked
    await route.continue()
  })
  const question = page.waitForRequest(/search\?q=globex/)
  await page.keyboard.type('globex')
  await page.keyboard.press('Enter')
  await question
  answer()
  await page.waitForURL(/\/console\/tenants\/globex$/)
  t.pass('it goes where the answer to what was typed leads')

  await page.goto(at('/tenants'))
  await page.keyboard.press('/')
  await page.locator('#found a').first().waitFor()
  const nothing = page.waitForResponse(/search\?q=zzzz&/)
  await page.keyboard.type('zzzz')
  await page.keyboard.press('Enter')
  await nothing
  await page.getByText('No results', { exact: true }).waitFor()
  t.equal(page.url(), at('/tenants'), 'and nowhere where nothing was found')
})

t.test('a small screen', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { page, at, also } = await startStory()
  const phone = await also({ viewport: PHONE })
  await phone.goto(at('/tenants/acme-hands/keys'))
  t.ok(await isInSight(phone, '.side [aria-current]'), 'where one is, in the navigation')
  t.ok(await isInSight(phone, '.whose'), 'whose page it is')
  t.match(await phone.innerText('.whose'), /acme-hands/i)
  const bars = await phone.locator('.keys svg rect').count()
  t.ok(bars > 0)
  t.ok(await isInSight(phone, '.keys svg rect.signs'), 'the bar of the key that signs')
  t.same(await violations(phone), [])
  await phone.locator('.account summary').click()
  t.ok(await isInSight(phone, '.menu'), 'the menu of the account')
  await keep(phone, 'hands-where-phone-light')

  await page.goto(at('/tenants/acme-hands/integration/client-secret'))
  await page.getByRole('button', { name: 'Show client secret' }).click()
  await page.locator('.copyable button').waitFor() // shown by the script
  for (const viewport of [PHONE, NARROW]) {
    await page.setViewportSize(viewport)
    t.ok(await isInSight(page, '.copyable button'), 'the button that copies')
    const isCut = await isCutOff(page, '.copyable pre')
    t.notOk(isCut, 'a secret is seen whole')
    t.notOk(await isWide(page))
  }
  await keep(page, 'hands-secret-phone-light')
})

t.test('long names', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { fleet, at, also } = await startStory()
  const named = { ...tenantBody('long', 'http://127.0.0.1:9002'), name: LONG.slice(0, 100) }
  t.equal((await fleet.operator('POST', '/tenants', named)).status, 201)
  const email = `${LONG.slice(0, 60)}@${LONG.slice(0, 60)}.test`
  const user = {
    password: 'a long walk along the harbour wall',
    username: LONG.slice(0, 100),
    email,
    name: LONG.slice(0, 100),
  }
  const made = await fleet.operator('POST', '/tenants/long/users', user)
  t.equal(made.status, 201)
  const { user_id: userId = '' } = made.body as { user_id?: string }
  const narrow = await also({ viewport: NARROW })
  const of = '/tenants/long'
  const pages = [of, `${of}/users`, `${of}/users/${userId}`, `${of}/users/${userId}/remove`]
  pages.push(`${of}/users/${userId}/disable`, `${of}/users/${userId}/edit`, `${of}/settings`)
  pages.push(`${of}/audit`, `${of}/integration`, `${of}/sessions`, `${of}/suspend`, `${of}/delete`)
  pages.push('/tenants', '/search?q=www&in=long', '/audit', '/people', '/fleet', '/figures')
  for (const path of pages) {
    await narrow.goto(at(path))
    t.notOk(await isWide(narrow), `${path} does not scroll sideways`)
  }
  await narrow.goto(at('/search?q=www&in=long'))
  t.match(await narrow.innerText('.found'), /W{20}/, 'the person was found')
  await narrow.keyboard.press('Control+k')
  await narrow.keyboard.type('www')
  await narrow.locator('#found .hint', { hasText: 'test' }).waitFor()
  const isCut = await isCutOff(narrow, '#found')
  t.notOk(isCut, 'nor does what the switcher found')
})
