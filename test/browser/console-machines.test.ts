/** Machines in Chromium: one is added and gets its secret, at a desk and on a phone. */
import t from 'tap'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/machines'

t.test('a machine is added, and its secret is shown', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  const { machines } = services
  const name = 'Nightly export of the orders of a department with a long name'
  const { serviceId } = await machines.create('acme', name, ACTOR)
  for (const days of [7, 90]) await machines.addSecret('acme', serviceId, days * 86_400, ACTOR)
  const { secretId } = (await machines.one('acme', serviceId)).secrets[0]!
  const use = { tenantId: 'acme', serviceId, secretId, atMs: Date.now(), ip: '2001:db8::7' }
  await machines.used([{ ...use, requests: 12_345 }])
  const ada = await person('acme', 'Ada')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'light' })
  await enter(context, ada)
  await page.goto(at(PAGE))
  await page.getByLabel('Name').last().fill('CI')
  await page.getByRole('button', { name: 'Add machine' }).click()
  await page.getByText('CI added').waitFor()
  t.same(await violations(page), [], 'at a desk')
  await keep(page, 'machines-desk-light')
  await page.getByRole('button', { name: 'Create secret' }).click()
  await page.getByText('Copy it now').waitFor()
  t.same(await violations(page), [], 'the secret')
  await keep(page, 'machine-secret-desk-light')
  await page.goto(at(PAGE))
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.reload()
  t.same(await violations(page), [], 'on a phone, in the dark')
  await keep(page, 'machines-phone-dark')
  await page.goto(at('/console/tenants/acme/sessions'))
  await page.getByText('12,345').waitFor()
  t.same(await violations(page), [], 'among the sessions, on a phone')
  await keep(page, 'sessions-machines-phone-dark')
  await page.setViewportSize(DESK)
  await page.emulateMedia({ colorScheme: 'light' })
  t.same(await violations(page), [], 'at a desk')
  await keep(page, 'sessions-machines-desk-light')
})
