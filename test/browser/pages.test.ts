/**
 * Every page in a real Chromium, under its own policy: WCAG 2.2 AA as far as axe-core can tell, in
 * both languages, light and dark, on the narrowest phone and at a desk, and there by keyboard as
 * well. `SCREENSHOTS=folder` keeps what was seen.
 */
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import type { Page as BrowserPage } from 'playwright-core'
import { pageHeaders } from '../../control-plane/realm/answers.ts'
import type { Page } from '../../control-plane/realm/pages/layout.ts'
import { english } from '../../control-plane/realm/pages/texts/english.ts'
import { german } from '../../control-plane/realm/pages/texts/german.ts'
import { EXAMPLES } from '../control-plane/realm/pages-examples.ts'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { axeViolations } from '../support/console-browser.ts'

/** WCAG 2.2, 1.4.10: nothing scrolls sideways down to here. */
const NARROW = { width: 320, height: 568 }
const HOME = 'https://id.example.com/'
const PAGES = join(import.meta.dirname, '../../control-plane/realm/pages')
const ACME = { name: 'Acme & Söhne', host: 'id.example.com' }
/** One red point. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)

const folder = process.env['SCREENSHOTS']
if (folder !== undefined) mkdirSync(folder, { recursive: true })

/** As the realm would send it: with the headers that the page asks for. */
async function realmIn(browser: BrowserPage) {
  let shown: { readonly headers: Record<string, string>; readonly body: string }
  await browser.route(`${HOME}**`, (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname.endsWith('.js'))
      return route.fulfill({
        path: join(PAGES, basename(pathname)),
        contentType: 'text/javascript',
      })
    if (pathname.endsWith('/logo')) return route.fulfill({ body: LOGO, contentType: 'image/png' })
    return route.fulfill(shown)
  })
  return async (page: Page) => {
    shown = { headers: pageHeaders(page), body: String(await page.html) }
    await browser.goto(HOME)
  }
}

async function violations(browser: BrowserPage): Promise<string[]> {
  return (await axeViolations(browser)).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

const SCHEMES = ['light', 'dark'] as const

/**
 * Each page in both languages, at both widths, in both schemes. It is opened once in a language, as
 * the page before it was seen last, and then seen in the other way: to open a page, to change a
 * screen and the first look at a document are most of what a visit costs.
 */
const VISITS = [
  {
    texts: german,
    ways: [
      { where: 'phone', viewport: NARROW, colorScheme: 'light' },
      { where: 'desk', viewport: DESK, colorScheme: 'dark' },
    ],
  },
  {
    texts: english,
    ways: [
      { where: 'phone', viewport: NARROW, colorScheme: 'dark' },
      { where: 'desk', viewport: DESK, colorScheme: 'light' },
    ],
  },
] as const

for (const { texts, ways } of VISITS)
  t.test(
    `on a phone and at a desk, in ${texts.language}: every page can be read by everybody`,
    { skip: WITHOUT_CHROMIUM },
    async (t) => {
      const chromium = await startChromium(t)
      const { page, complaints } = await chromium.page()
      const open = await realmIn(page)
      let order: readonly Way[] = ways
      const shapes = new Set<string>()
      await see(page, ways[0])
      for (const [name, example] of Object.entries(EXAMPLES)) {
        await open(example({ ...ACME, texts }))
        const shape = await page.evaluate<string>(SHAPE)
        const isNew = !shapes.has(shape)
        shapes.add(shape)
        for (const way of order) {
          const { where, viewport, colorScheme } = way
          if (way !== order[0]) await see(page, way)
          if (isNew) t.same(await violations(page), [], `${name}, on a ${where}, ${colorScheme}`)
          const width = await page.evaluate('document.documentElement.scrollWidth')
          t.ok(Number(width) <= viewport.width, `${name}, on a ${where}: no sideways scrolling`)
          const file = `${name.replaceAll(/[^\w]+/g, '-')}-${where}-${colorScheme}.png`
          if (folder !== undefined)
            await page.screenshot({ path: join(folder, file), fullPage: true })
          if (texts === english && where === 'desk') await walkThrough(t, page, name)
        }
        order = order.toReversed()
        t.same(complaints, [], `${name}: its policy allows what it needs`)
      }
    },
  )

/** Whoever has only a keyboard reaches everything, and sees where they are. */
async function walkThrough(t: Test, page: BrowserPage, name: string) {
  const reachable = 'input:not([type=hidden], [hidden]), button:not([hidden]), a[href], summary'
  const count = await page.locator(reachable).count()
  // what is folded away is reached by its summary, which opens it
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
  await page.evaluate('document.body.tabIndex = -1, document.body.focus()') // from the top
  const seen = new Set<string>()
  for (let step = 0; step < count; step++) {
    await page.keyboard.press('Tab')
    const { at, outline } = await page.evaluate<{ at: string; outline: number }>(`({
      at: document.activeElement.outerHTML,
      outline: parseFloat(getComputedStyle(document.activeElement).outlineWidth) *
        (getComputedStyle(document.activeElement).outlineStyle === 'none' ? 0 : 1),
    })`)
    t.ok(outline >= 2, `${name}: ${at.slice(0, 60)}`)
    seen.add(at)
  }
  t.equal(seen.size, count, `${name}: everything is reached, each once`)
  await page.evaluate("document.body.removeAttribute('tabindex')")
}

/**
 * Elements, and all of their attributes that hold no words. Two pages that are alike in that have the
 * same styles and the same order, and differ in what is read: axe looks at one of them.
 */
const SHAPE = `(() => {
  const words = ['alt', 'aria-label', 'content', 'href', 'title', 'value']
  const attributesOf = ({ attributes }) =>
    [...attributes].map(({ name, value }) => (words.includes(name) ? name : name + '=' + value))
  const hasWords = ({ childNodes }) =>
    [...childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '')
  const shapeOf = (element) => [
    element.tagName,
    attributesOf(element),
    element.tagName === 'STYLE' ? element.textContent : hasWords(element),
    [...element.children].map(shapeOf),
  ]
  return JSON.stringify(shapeOf(document.documentElement))
})()`

type Way = (typeof VISITS)[number]['ways'][number]

async function see(page: BrowserPage, { viewport, colorScheme }: Way) {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
}

t.test(
  'whatever a tenant chooses for its colour and logo, its pages can be read',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const chromium = await startChromium(t)
    const colours = ['#ffd500', '#000080', '#ffffff', '#000000', '#e4002b', '#7fff00', '#808080']
    const examples = ['signInPage, wrong password', 'blocks, form', 'blocks, list'] as const
    const { page, complaints } = await chromium.page({ viewport: DESK })
    const open = await realmIn(page)
    for (const colour of colours) {
      const brand = { colour, logoUrl: `${HOME}auth/realms/acme/logo?v=abc` }
      for (const name of examples) {
        const shown = EXAMPLES[name]?.({ ...ACME, texts: english, brand })
        if (shown === undefined) throw new Error(`no example ${name}`)
        await open(shown)
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme })
          t.same(await violations(page), [], `${name}, ${colour}, ${colorScheme}`)
        }
      }
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        const { accent, logo } = await page.evaluate<{ accent: string; logo: number }>(`({
          accent: getComputedStyle(document.documentElement).getPropertyValue('--accent'),
          logo: document.querySelector('.logo').naturalWidth,
        })`)
        t.equal(accent, colour, 'it is the colour that was chosen')
        t.equal(logo, 1, 'the logo is there')
        const file = `brand-${colour.slice(1)}-${colorScheme}.png`
        if (folder !== undefined) await page.screenshot({ path: join(folder, file) })
      }
      t.same(complaints, [], colour)
    }
  },
)
