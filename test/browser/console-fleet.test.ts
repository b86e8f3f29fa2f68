/** The fleet as operators see it: real gateways that are up to date, and one that goes away. */
import t from 'tap'
import { becomeOperator, keep, linkForOperator, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startFleet } from '../support/programs.ts'

t.test('gateways that serve, and one that is away', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const fleet = await startFleet(t, { gateways: 2 })
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'dark' })
  await becomeOperator(page, await linkForOperator(fleet))
  await fleet.settled()
  await page.goto(`${fleet.baseUrl}/console`)
  await page.getByRole('link', { name: 'Fleet' }).click()
  await page.getByText('All 2 gateways serve the latest revision.').waitFor()
  t.match(await page.locator('main tbody').innerText(), /gateway-0[^]*gateway-1/)
  t.same(await violations(page), [], 'dark, at a desk')
  await keep(page, 'fleet-desk-dark')

  await page.getByLabel('Gateway ID').fill('edge-far')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText(/^gwk_/).waitFor()
  t.same(await violations(page), [], 'a key that is shown once')
  await keep(page, 'fleet-new-key-desk-dark')
  await page.getByRole('link', { name: 'I have saved it' }).click()
  await page.getByText('Not used yet').waitFor()
  t.same(await violations(page), [], 'with a key')
  await page.getByText('All 2 gateways serve the latest revision.').waitFor()
  await keep(page, 'fleet-keys-desk-dark')
  await page.getByRole('link', { name: /^Revoke key/ }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('No gateway keys').waitFor()

  await fleet.gateways[1]?.stop()
  await page.reload()
  await page.getByText('1 of 2 is offline').waitFor()
  const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await phone.context.addCookies(await context.cookies())
  await phone.page.goto(`${fleet.baseUrl}/console/fleet`)
  t.match(await phone.page.textContent('main'), /1 of 2 is offline/)
  await keep(phone.page, 'fleet-away-phone-light')
  t.same(await violations(page), [], 'with one that is away')
})
