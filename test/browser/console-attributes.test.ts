/** Attributes of a person, a rule that asks for them, and a machine's key, in Chromium. */
import t from 'tap'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const TENANT = '/console/tenants/acme'

t.test('attributes are typed and shown', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  const { users, machines } = services
  const bob = { username: 'bob', email: 'bob@example.test', name: 'Bob', password: '' }
  const { userId } = await users.create('acme', bob, ACTOR)
  const { serviceId } = await machines.create('acme', 'Nightly export', ACTOR)
  const ada = await person('acme', 'Ada')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'light' })
  await enter(context, ada)
  const looked = async (name: string) => {
    t.same(await violations(page), [], `${name}, at a desk`)
    await keep(page, `${name}-desk-light`)
    await page.setViewportSize(PHONE)
    await page.emulateMedia({ colorScheme: 'dark' })
    t.same(await violations(page), [], `${name}, on a phone, in the dark`)
    await keep(page, `${name}-phone-dark`)
    await page.setViewportSize(DESK)
    await page.emulateMedia({ colorScheme: 'light' })
  }
  await page.goto(at(`${TENANT}/users/${userId}/attributes`))
  const long = 'International Accounting Standards and Consolidated Reporting'
  await page.getByLabel('Attributes').fill(`department = audit\ncost_center = ${long}`)
  await looked('user-attributes-form')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Attributes of Bob saved').waitFor()
  await looked('user-attributes')
  await page.goto(at(`${TENANT}/rules/new`))
  await page.locator('[name=path]').fill('/audit')
  await page.getByLabel('With these attributes').first().fill('department = audit')
  await looked('rule-attributes-form')
  await page.getByRole('button', { name: 'Preview impact' }).click()
  await page.getByText('with department “audit”').first().waitFor()
  await looked('rule-attributes')
  await page.goto(at(`${TENANT}/machines/${serviceId}/keys`))
  await looked('machine-key-form')
})
