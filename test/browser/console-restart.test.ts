/**
 * The control plane is killed while somebody fills in a form of the console. What was saved is
 * there, what was typed is not lost, and nothing is done twice.
 */
// long: kills the control plane again and again, and starts it anew each time
import t from 'tap'
import type { Page } from 'playwright-core'
import {
  becomeOperator,
  codeNow,
  GRACE,
  keep,
  linkForOperator,
  violations,
} from '../support/console-browser.ts'
import { startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startFleet, type Fleet } from '../support/programs.ts'

async function fillIn(page: Page, fleet: Fleet, tenantId: string) {
  await page.goto(`${fleet.baseUrl}/console/tenants/new`)
  await page.fill('[name=tenant_id]', tenantId)
  await page.fill('[name=name]', `The tenant ${tenantId}`)
  await page.fill('[name=hostnames]', `${tenantId}.localhost`)
  await page.fill('[name=origin]', 'http://127.0.0.1:9000')
}

const send = (page: Page) => page.getByRole('button', { name: 'Create tenant' }).click()

/** What the button would send, proofs and all. */
async function formOn(page: Page) {
  const form = page.locator('main form')
  const fields = await form.locator('[name]').all()
  const pairs = await Promise.all(
    fields.map(async (field) => [await field.getAttribute('name'), await field.inputValue()]),
  )
  const action = new URL((await form.getAttribute('action')) ?? '', page.url()).href
  return { action, fields: Object.fromEntries(pairs) as Record<string, string> }
}

async function tenantIds(fleet: Fleet): Promise<string[]> {
  const { body } = await fleet.operator('GET', '/tenants')
  return (body['items'] as unknown as { tenant_id: string }[]).map((one) => one.tenant_id)
}

t.test('killed in the middle of a form', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const fleet = await startFleet(t)
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ javaScriptEnabled: false })
  const seed = await becomeOperator(page, await linkForOperator(fleet))
  const kill = () => fleet.controlPlane.stop('SIGKILL')

  await fillIn(page, fleet, 'first')
  await send(page)
  await page.waitForURL(/\/console\/tenants\/first/)

  await fillIn(page, fleet, 'second')
  await kill()
  await fleet.startControlPlane()
  await send(page)
  await page.waitForURL(/\/console\/tenants\/second/)
  t.match(await page.textContent('.receipt'), 'The tenant second created as a draft.')
  t.same(await tenantIds(fleet), ['first', 'second'], 'a form from before goes on as it was')

  await fillIn(page, fleet, 'third')
  await kill()
  await send(page).catch(() => undefined) // the browser says that nobody is there
  await fleet.startControlPlane()
  await page.goto(`${fleet.baseUrl}/console/tenants`)
  t.same(await tenantIds(fleet), ['first', 'second'], 'what never arrived was not done')
  await fillIn(page, fleet, 'third')
  const form = await formOn(page)
  await send(page)
  await page.waitForURL(/\/console\/tenants\/third/)
  await kill()
  await fleet.startControlPlane()
  const headers = { origin: fleet.baseUrl }
  const same = await context.request.post(form.action, { form: form.fields, headers })
  t.match(same.url(), /\/console\/tenants\/third/, 'the same form once more leads where it led')
  t.same(await tenantIds(fleet), ['first', 'second', 'third'], 'and is not done twice')

  await fillIn(page, fleet, 'fourth')
  await kill()
  await context.clearCookies() // the session ended meanwhile
  await fleet.startControlPlane()
  await send(page)
  t.match(await page.textContent('main'), /Your console session has ended.*nothing was changed/s)
  t.match(await page.textContent('main'), 'Sign in and go back')
  t.same(await tenantIds(fleet), ['first', 'second', 'third'])
  await keep(page, 'restart-signed-out-phone-light')
  await page.getByRole('link', { name: 'Sign in and go back' }).click()
  await page.fill('[name=username]', GRACE.email)
  await page.fill('[name=password]', GRACE.password)
  await page.keyboard.press('Enter')
  await page
    .locator('[name=code]')
    .first()
    .fill(codeNow(seed, Date.now() + 30_000))
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/console\/unsent\?form=/)
  t.match(await page.textContent('main'), /You were signed out when you sent this form/)
  t.equal(await page.inputValue('[name=tenant_id]'), 'fourth', 'what was typed is there')
  await send(page)
  await page.waitForURL(/\/console\/tenants\/fourth/)
  t.same(await tenantIds(fleet), ['first', 'fourth', 'second', 'third'])
  const again = await chromium.page()
  await again.context.addCookies(await context.cookies())
  await again.page.goto(`${fleet.baseUrl}/console/tenants/fourth`)
  t.same(await violations(again.page), [])
})
