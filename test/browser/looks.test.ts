/** What the other files ask axe by: a second look at a document is shorter, and overlooks nothing. */
import t from 'tap'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { axeViolations } from '../support/console-browser.ts'

const PAGE = `<!doctype html><html lang="en"><head><title>A page</title><style>
  body { background: #fff; color: #111 }
  @media (prefers-color-scheme: dark) { .pale { color: #ddd } }
  @media (max-width: 600px) { .small { display: none } }
</style></head><body><main><h1>A page</h1>
  <p class="pale">Some words</p><label class="small" for="field">Name</label><input id="field">
</main></body></html>`

t.test('what differs between two looks is looked at', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { page } = await (await startChromium(t)).page({ viewport: DESK })
  const found = async () => (await axeViolations(page)).map(({ id }) => id)
  await page.setContent(PAGE)
  t.same(await found(), [], 'light')
  t.same(await found(), [], 'once more')
  await page.emulateMedia({ colorScheme: 'dark' })
  t.same(await found(), ['color-contrast'], 'pale on white')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 500, height: 800 })
  t.same(await found(), ['label'], 'a field that has lost its label')
  await page.setViewportSize(DESK)
  t.same(await found(), [], 'as it was')
  await page.evaluate(`document.querySelector('label').removeAttribute('for')`)
  t.same(await found(), ['label'], 'an attribute')
})
