/**
 * The page of the API in a real Chromium, under its own policy: WCAG 2.2 AA as far as axe-core can
 * tell, light and dark, on the narrowest phone and at a desk, and all of it by keyboard.
 * `SCREENSHOTS=folder` keeps what was seen.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api.ts'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { axeViolations } from '../support/console-browser.ts'

const NARROW = { width: 320, height: 568 }
const HOME = 'https://control.example.com'

const folder = process.env['SCREENSHOTS']
if (folder !== undefined) mkdirSync(folder, { recursive: true })

type Api = Awaited<ReturnType<typeof startApi>>

/** Answered by the API itself, headers and all. */
async function open({ app }: Api, page: Page, path: string) {
  await page.route(`${HOME}/**`, async (route) => {
    const answer = await app.request(new URL(route.request().url()).pathname)
    const headers = Object.fromEntries(answer.headers)
    return route.fulfill({ status: answer.status, headers, body: await answer.text() })
  })
  await page.goto(HOME + path)
}

async function violations(page: Page): Promise<string[]> {
  return (await axeViolations(page)).flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

const OPEN_ALL = `for (const each of document.querySelectorAll('details')) each.open = true`
const CLOSE_ALL = OPEN_ALL.replace('true', 'false')
/** They are alike, and axe takes half a minute where all of them are open. */
const OPEN_SOME = `for (const group of ['integration', 'tenants', 'objects'])
  document.querySelector('#' + group + ' details').open = true`
/**
 * Of the endpoints and objects that are closed, one of each kind of elements and classes stays for
 * axe: the others differ in their words, and were nine tenths of what it walked through.
 */
const LEAVE_ONE_OF_EACH = `{
  const shapes = new Set()
  const partsOf = (element) => [...element.children].filter(({ tagName }) => tagName !== 'WBR')
  const shapeOf = (element) =>
    element.tagName + '.' + element.className + '(' + partsOf(element).map(shapeOf) + ')'
  for (const each of document.querySelectorAll('details:not([open])')) {
    const shape = shapeOf(each.querySelector('summary'))
    if (shapes.has(shape)) each.hidden = true
    shapes.add(shape)
  }
}`
const SHOW_ALL = `for (const each of document.querySelectorAll('details')) each.hidden = false`
const WIDTH = 'document.documentElement.scrollWidth'

for (const [where, viewport] of [
  ['phone', NARROW],
  ['desk', DESK],
] as const)
  void t.test(
    `on a ${where}, light and dark: the API can be read by everybody`,
    { skip: WITHOUT_CHROMIUM },
    async (t) => {
      const api = await startApi(t)
      const { page, complaints } = await (await startChromium(t)).page({ viewport })
      for (const path of ['/api/v1/docs', '/']) {
        const shoot = async (name: string, colorScheme: string) => {
          const file = join(folder ?? '', `${name}-${where}-${colorScheme}.png`)
          if (folder !== undefined) await page.screenshot({ path: file, fullPage: true })
        }
        const name = path === '/' ? 'signpost' : 'api'
        await open(api, page, path)
        // one document, seen in both ways: to look at it for the first time takes longest
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await shoot(name, colorScheme)
          if (path !== '/') await page.evaluate(OPEN_SOME)
          await page.evaluate(LEAVE_ONE_OF_EACH)
          t.same(await violations(page), [], `${path}, ${colorScheme}`)
          await page.evaluate(SHOW_ALL)
          await page.evaluate(OPEN_ALL)
          t.ok(
            Number(await page.evaluate(WIDTH)) <= viewport.width,
            `${path}, ${colorScheme}: no sideways scrolling`,
          )
          await shoot(`${name}-open`, colorScheme)
          await page.evaluate(CLOSE_ALL)
        }
        t.same(complaints, [], `${path}: its policy allows what it needs`)
      }
    },
  )

void t.test(
  'without a mouse and without a script: found from the front page, opened, read',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const api = await startApi(t)
    const chromium = await startChromium(t)
    const { page } = await chromium.page({ viewport: DESK, javaScriptEnabled: false })
    await open(api, page, '/')
    await page.getByRole('link', { name: '/api/v1/docs' }).press('Enter')
    await page.getByRole('link', { name: 'Verification and go-live' }).press('Enter')
    t.match(page.url(), /#verification$/)
    const line = page
      .locator('#verification')
      .getByText('Authorization: Bearer $SERVICE_ANALYZER_KEY')
      .first()
    t.notOk(await line.isVisible())
    await page.keyboard.press('Tab')
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outline')
    t.match(outline, /solid 2px/, 'it shows where one is')
    await page.keyboard.press('Enter')
    await line.waitFor() // opened by the keyboard: the line for a shell
  },
)

void t.test('the page is one document, with nothing from elsewhere and no script', async (t) => {
  const { call } = await startApi(t)
  const { headers, body } = await call('GET', '/api/v1/docs', undefined, { key: null })
  const page = String(body['text'])
  t.match(headers.get('content-type'), /^text\/html/)
  t.match(headers.get('content-security-policy'), /^default-src 'none'; style-src 'sha256-/)
  t.notMatch(page, /<script|\son\w+=|style="|<img|<link|src=/i)
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
  t.equal(new Set(ids).size, ids.length, 'every id is there once')
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)
  t.same(
    [...new Set(targets)].filter((id) => !ids.includes(id)),
    [],
    'every link leads somewhere',
  )
})
