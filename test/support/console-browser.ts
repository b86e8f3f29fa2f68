/** The console in a real browser: the way in from the terminal's link, and what was seen. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Secret, TOTP } from 'otpauth'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES: RunOptions = {
  resultTypes: ['violations'], // of the others one node each: what passes is most of the work
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}

/** `SCREENSHOTS=.docs/screenshots npm run test:only -- test/browser` keeps what was seen. */
const folder = process.env['SCREENSHOTS']
if (folder !== undefined) mkdirSync(folder, { recursive: true })

export async function keep(page: Page, name: string): Promise<void> {
  if (folder !== undefined)
    await page.screenshot({ path: `${folder}/console-${name}.png`, fullPage: true })
}

/** Of a browser that playwright does not drive. */
export function keepImage(image: Buffer, name: string): void {
  if (folder !== undefined) writeFileSync(`${folder}/console-${name}.png`, image)
}

/** What axe-core finds wrong, and whether something scrolls sideways (WCAG 2.2, 1.4.10). */
export async function violations(page: Page): Promise<string[]> {
  const found = (await axeViolations(page)).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
  const isWide = await page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  )
  return isWide ? [...found, `${page.url()} scrolls sideways`] : found
}

/** All that follow from how something is painted. */
const COLOURS: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
}

/**
 * A document that was found right, and is the same to the letter and to the pixel in the other colour
 * scheme, is looked at for its colours alone.
 *
 * What a closed `details` keeps to itself is taken out meanwhile: axe-core reports nothing that
 * cannot be seen, and yet walks through all of it, which in a long table is most of the page. Only
 * an id that stands twice may be one of these, so those are looked for before.
 */
const LOOK = `async (rules, colours) => {
  const ids = new Set()
  const twice = [...document.querySelectorAll('[id]')].filter(
    ({ id }) => ids.size === ids.add(id).size,
  )
  const found = twice.map(({ id }) => ({ id: 'duplicate-id', nodes: [{ html: id }] }))
  const boxes = [...document.querySelectorAll('*')].map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect()
    return [x, y, width, height, one.checkVisibility({ visibilityProperty: true })]
  })
  const seen = [JSON.stringify(rules), document.documentElement.outerHTML, boxes].join()
  const isSeen = window.foundRight === seen
  const kept = [...document.querySelectorAll('details:not([open])')].flatMap((details) => {
    const [summary] = details.getElementsByTagName('summary')
    if (summary?.parentNode !== details) return []
    const nodes = [...details.childNodes]
    const content = nodes.slice(nodes.indexOf(summary) + 1)
    for (const node of content) node.remove()
    return [() => details.append(...content)]
  })
  try {
    // only of what plays something it wants to know more than the document: it reads all styles for it
    const preload = document.querySelector('audio, video') !== null
    const { violations } = await axe.run({ preload, ...(isSeen ? colours : rules) })
    if (found.length + violations.length === 0) window.foundRight = seen
    return [...found, ...violations]
  } finally {
    for (const putBack of kept.reverse()) putBack()
  }
}`

/** Only these come back: the list of what is right is many times the page. */
export async function axeViolations(
  page: Page,
  rules: RunOptions = RULES,
): Promise<AxeResults['violations']> {
  // a document that it has looked at before has it still, compiled and warm
  if (!(await page.evaluate<boolean>(IS_THERE))) await page.evaluate(AXE)
  if (!bringing.has(page)) await page.addInitScript({ content: LATER })
  bringing.add(page)
  return page.evaluate(`(${LOOK})(${JSON.stringify(rules)}, ${JSON.stringify(COLOURS)})`)
}

/** Whose documents bring axe along, to be begun where it is wanted: sent each time it takes twice as long. */
const bringing = new WeakSet<Page>()
const LATER = `window.beginAxe = function () { ${AXE} }`
const IS_THERE = `'axe' in window || ('beginAxe' in window && (beginAxe(), true))`

export interface OperatorAccount {
  readonly email: string
  readonly name: string
  readonly password: string
}

export const GRACE: OperatorAccount = {
  email: 'grace@example.test',
  name: 'Grace Hopper',
  password: 'nanoseconds of copper wire',
}

interface Fleet {
  operator(method: string, path: string, body?: unknown): Promise<{ status: number; body: object }>
}

/** What `npm start` prints. */
export async function linkForOperator(fleet: Fleet): Promise<string> {
  const { body } = await fleet.operator('POST', '/console/operator-links', { force: true })
  return String((body as { url?: string }).url)
}

/** By the link, the account, the realm's own pages and an app for codes; ends in the console. */
export async function becomeOperator(
  page: Page,
  link: string,
  account: OperatorAccount = GRACE,
  look: (page: Page, name: string) => Promise<void> = async () => {},
): Promise<string> {
  await page.goto(link)
  await look(page, 'welcome')
  await page.fill('[name=email]', account.email)
  await page.fill('[name=name]', account.name)
  await page.fill('[name=password]', account.password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.fill('[name=username]', account.email)
  await page.fill('[name=password]', account.password)
  await page.keyboard.press('Enter')
  const seed = (await page.locator('.secret code').first().innerText()).replaceAll(/\s/g, '')
  await page.locator('[name=code]').first().fill(codeNow(seed))
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'I saved them, continue' }).click()
  await page.waitForURL(/\/console/)
  return seed
}

export function codeNow(seed: string, atMs = Date.now()): string {
  return new TOTP({ secret: Secret.fromBase32(seed), digits: 6, period: 30 }).generate({
    timestamp: atMs,
  })
}
