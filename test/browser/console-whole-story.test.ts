/**
 * One morning of a new customer, in browsers alone: an operator makes the tenant and hands it to its
 * administrator by invitation; they invite a user, see the checks pass and go live; the user signs
 * in through the edge, and is signed out for good in another window. Then the tenant is removed.
 */
import t from 'tap'
import type { Page } from 'playwright-core'
import { becomeOperator, GRACE, keep, linkForOperator } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startFleet } from '../support/programs.ts'
import { startVerifyingApplication } from '../support/verifying-application.ts'

const PASSWORD = 'correct horse battery staple'

t.test('from creation to live to a revoked user', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const fleet = await startFleet(t)
  const { baseUrl } = fleet
  const application = await startVerifyingApplication(t, { tenantId: 'acme', baseUrl })
  application.answer = (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Orders</h1>')
  const chromium = await startChromium(t)
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
  const follow = (page: Page, name: string) => page.getByRole('link', { name }).first().click()

  // the operator: a tenant, published, and somebody who looks after it
  const { page: operator } = await chromium.page({ viewport: DESK })
  await becomeOperator(operator, await linkForOperator(fleet), GRACE)
  await follow(operator, 'Create tenant')
  await operator.fill('[name=tenant_id]', 'acme')
  await operator.fill('[name=name]', 'Acme')
  await operator.fill('[name=hostnames]', 'acme.localhost')
  await operator.fill('[name=origin]', application.origin)
  await press(operator, 'Create tenant')
  await press(operator, 'Publish')
  await operator.getByText('is published.').waitFor()
  t.match(await operator.textContent('.receipt'), /Live on 1 of 1/)

  // its checks, and live
  await operator.goto(`${baseUrl}/console/tenants/acme/integration`)
  await press(operator, 'Run checks')
  await operator.getByText('All checks that ran passed').waitFor()
  await follow(operator, 'Go live …')
  await press(operator, 'Go live')
  await operator.getByText('Acme is live.').waitFor()
  t.match(await operator.textContent('.receipt'), /Live on 1 of 1/)

  // a user, who opens the application and is asked who they are
  await operator.goto(`${baseUrl}/console/tenants/acme/users`)
  await follow(operator, 'Invite a user')
  await operator.fill('[name=email]', 'ada@acme.test')
  await operator.fill('[name=name]', 'Ada')
  await operator.fill('[name=password]', PASSWORD)
  await operator.locator('main form button[type=submit]').click()
  await operator.getByText('Ada created, and can sign in').waitFor()
  const { page: user } = await chromium.page({ viewport: PHONE })
  await user.goto(`${fleet.edge('acme.localhost')}/orders`)
  t.match(user.url(), '/auth/realms/acme/', 'nobody gets past the edge unnamed')
  await user.fill('[name=username]', 'ada@acme.test')
  await user.fill('[name=password]', PASSWORD)
  await user.keyboard.press('Enter')
  await user.getByRole('heading', { name: 'Orders' }).waitFor()
  const orders = () => application.seen.filter(({ url }) => url === '/orders').length
  t.equal(orders(), 1)

  // who sees it in the console, and ends it there
  await operator.goto(`${baseUrl}/console/tenants/acme/sessions`)
  await keep(operator, 'sessions-desk-light')
  t.match(await operator.textContent('main'), /Ada/)
  await operator.goto(`${baseUrl}/console/tenants/acme/users`)
  await follow(operator, 'Ada')
  await keep(operator, 'user-desk-light')
  await follow(operator, 'End all sessions')
  await press(operator, 'End all sessions')
  t.match(await operator.textContent('.receipt'), /1 session ended. Enforced on 1 of 1/)
  await user.goto(`${fleet.edge('acme.localhost')}/orders`)
  t.match(user.url(), '/auth/realms/acme/', 'the session is dead at the edge')
  t.equal(orders(), 1, 'and the application was not asked')

  // the account is closed: the password that was right a minute ago is worth nothing
  await follow(operator, 'Disable account')
  await press(operator, 'Disable account')
  await operator.locator('.receipt').waitFor()
  await user.fill('[name=username]', 'ada@acme.test')
  await user.fill('[name=password]', PASSWORD)
  await user.keyboard.press('Enter')
  await user.locator('[role=alert]').first().waitFor()
  t.equal(orders(), 1)

  // and all of it can be read again
  await operator.goto(`${baseUrl}/console/tenants/acme/audit`)
  t.match(
    await operator.textContent('main'),
    /Changed a user.*Disabled.*Turned protection on.*Published the tenant/s,
    'who did what, the newest first',
  )
  await operator.goto(`${baseUrl}/console/tenants/acme`)
  t.notMatch(await operator.textContent('main'), /Not checked yet/)
})
