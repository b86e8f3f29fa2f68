/** Hostnames in Chromium: one that waits for its proof, at a desk and on a phone. */
import t from 'tap'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/hostnames'

t.test('a hostname is added, and waits for its proof', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t, {
    acme: {
      authorities: [{ directory: 'http://127.0.0.1:9/directory' }],
      email: null,
      profile: null,
      dns: { name: 'acme.example.com', servers: ['ns1.example.com'] },
      wildcards: ['apps.example.com'],
    },
    ownHostnames: ['auth.example.com'],
  })
  const name = 'orders.of-a-department-with-a-name-that-is-long.customers.example.com'
  await services.hostnames.claim('acme', name, ACTOR)
  await services.hostnames.check('acme', name, ACTOR)
  await services.tenants.patch('acme', { hostnames: ['www.acme.example'] }, ACTOR)
  const ada = await person('acme', 'Ada')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'light' })
  await enter(context, ada)
  await page.goto(at(PAGE))
  await page.getByLabel('Hostname').last().fill('shop.example.com')
  await page.getByRole('button', { name: 'Add hostname' }).click()
  await page.getByText('shop.example.com added').waitFor()
  t.same(await violations(page), [], 'at a desk')
  await keep(page, 'hostnames-desk-light')
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.reload()
  await page.getByText('CNAME records').click()
  t.same(await violations(page), [], 'on a phone, in the dark')
  await keep(page, 'hostnames-phone-dark')

  const grace = await chromium.page({ viewport: PHONE, colorScheme: 'light' })
  await enter(grace.context, await person('operator'))
  await grace.page.goto(at('/console/keys'))
  await grace.page.getByText('CNAME records').click()
  t.same(await violations(grace.page), [], 'the service’s own names')
  await keep(grace.page, 'own-certificates-phone-light')
})
