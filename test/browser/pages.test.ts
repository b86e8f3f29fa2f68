/**
 * Every page in a real Chromium, under its own policy: WCAG 2.2 AA as far as axe-core can tell, in
 * both languages, light and dark, on the narrowest phone and at a desk. `SCREENSHOTS=folder` keeps
 * what was seen.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults, RunOptions } from 'axe-core'
import t from 'tap'
import type { Page as BrowserPage } from 'playwright-core'
import { pageHeaders } from '../../control-plane/realm/answers.ts'
import type { Page } from '../../control-plane/realm/pages/layout.ts'
import { english } from '../../control-plane/realm/pages/texts/english.ts'
import { german } from '../../control-plane/realm/pages/texts/german.ts'
import { EXAMPLES } from '../control-plane/realm/pages-examples.ts'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}
/** WCAG 2.2, 1.4.10: nothing scrolls sideways down to here. */
const NARROW = { width: 320, height: 568 }
const HOME = 'https://id.example.com/'

const folder = process.env['SCREENSHOTS']
if (folder !== undefined) mkdirSync(folder, { recursive: true })

/** As the realm would send it: with the headers that the page asks for. */
async function open(browser: BrowserPage, shown: Page) {
  const body = String(await shown.html)
  await browser.unrouteAll()
  await browser.route(`${HOME}**`, (route) => route.fulfill({ headers: pageHeaders(shown), body }))
  await browser.goto(HOME)
}

async function violations(browser: BrowserPage): Promise<string[]> {
  await browser.evaluate(AXE)
  const results = await browser.evaluate<AxeResults>(`axe.run(${JSON.stringify(RULES)})`)
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

/** Each page in both languages, at both widths, in both schemes. */
const VISITS = [
  { where: 'phone', viewport: NARROW, colorScheme: 'light', texts: german },
  { where: 'phone', viewport: NARROW, colorScheme: 'dark', texts: english },
  { where: 'desk', viewport: DESK, colorScheme: 'light', texts: english },
  { where: 'desk', viewport: DESK, colorScheme: 'dark', texts: german },
] as const

for (const { where, viewport, colorScheme, texts } of VISITS)
  t.test(
    `on a ${where}, ${colorScheme}, in ${texts.language}: every page can be read by everybody`,
    { skip: WITHOUT_CHROMIUM },
    async (t) => {
      const chromium = await startChromium(t)
      const { page, complaints } = await chromium.page({ viewport, colorScheme })
      for (const [name, example] of Object.entries(EXAMPLES)) {
        await open(page, example({ texts, name: 'Acme & Söhne', host: 'id.example.com' }))
        t.same(await violations(page), [], name)
        const width = await page.evaluate('document.documentElement.scrollWidth')
        t.ok(Number(width) <= viewport.width, `${name}: no sideways scrolling`)
        const file = `${name.replaceAll(/[^\w]+/g, '-')}-${where}-${colorScheme}.png`
        if (folder !== undefined)
          await page.screenshot({ path: join(folder, file), fullPage: true })
      }
      t.same(complaints, [], 'the policy of each page allows what the page needs')
    },
  )

t.test(
  'whoever has only a keyboard sees where they are, on every page',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const chromium = await startChromium(t)
    const { page } = await chromium.page({ viewport: DESK })
    for (const [name, example] of Object.entries(EXAMPLES)) {
      await open(page, example({ texts: english, name: 'Acme', host: 'id.example.com' }))
      const reachable = 'input:not([type=hidden]), button, a[href], summary'
      const count = await page.locator(reachable).count()
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
    }
  },
)
