/** Branding in Chromium, without a script: looked at on a phone and a desk, then saved. */
import t from 'tap'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startConsoleStory } from '../support/console-story.ts'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

t.test(
  'what people would see is shown before it is saved',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const { tenant, chromium, desk, plain, at, look, lookAt } = await startConsoleStory(
      t,
      'acme-branding',
    )
    const { page } = plain
    await page.goto(at('/branding'))
    await page.fill('#brand_colour', 'red')
    await page.getByRole('button', { name: 'Preview' }).click()
    t.match(await page.textContent('[role=alert]'), /Fix one field.*Color/s)
    t.equal(await page.evaluate('document.activeElement.id'), 'brand_colour', 'without a script')
    await page.fill('#name', 'Acme Coffee')
    await page.fill('#brand_colour', '#ffd500')
    await page.setInputFiles('#brand_logo', {
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PNG, 'base64'),
    })
    await page.getByRole('button', { name: 'Preview' }).click()
    const frames = page.locator('iframe')
    t.equal(await frames.count(), 4)
    for (const [index, scheme] of ['light', 'dark'].entries()) {
      const frame = frames.nth(index).contentFrame()
      await frame.getByRole('heading', { name: 'Acme Coffee' }).waitFor()
      const said = await frame.locator('meta[name=color-scheme]').getAttribute('content')
      t.equal(said, scheme)
      t.ok(await frame.getByRole('img', { name: 'Acme Coffee' }).isVisible(), 'the logo')
    }
    await page.getByRole('button', { name: 'Save branding' }).click()
    t.match(await page.textContent('.receipt'), 'Branding saved.')
    await lookAt('/branding', 'branding')
    await desk.page.getByRole('button', { name: 'Preview' }).click()
    await desk.page.getByRole('heading', { name: 'Preview branding' }).waitFor()
    await look(desk.page, 'branding-preview-desk-dark')
    const visitor = await chromium.page()
    await visitor.page.goto(`${tenant.edge()}/dashboard`)
    await visitor.page.getByRole('heading', { name: 'Acme Coffee' }).waitFor()
  },
)
