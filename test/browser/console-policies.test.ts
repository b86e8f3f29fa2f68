/** Policies in Chromium: the effect is looked at, then saved; who would be locked out is warned. */
import t from 'tap'
import { PASSWORD } from '../support/application.ts'
import { PHONE, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startConsoleStory } from '../support/console-story.ts'

t.test('no policy is saved unseen', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { fleet, tenant, chromium, desk, plain, at, look, lookAt } = await startConsoleStory(
    t,
    'acme-policies',
  )
  const application = `${tenant.edge()}/dashboard`
  const visitor = await chromium.page()
  await visitor.page.goto(application)
  await visitor.page.fill('[name=username]', 'ada')
  await visitor.page.fill('[name=password]', PASSWORD)
  await visitor.page.keyboard.press('Enter')
  await visitor.page.waitForURL(application)

  const { page } = plain // without a script
  await page.goto(at('/policies'))
  await page.getByRole('link', { name: 'Edit Networks' }).click()
  t.equal(
    await page.getByRole('button', { name: 'Save', exact: true }).count(),
    0,
    'nothing to save yet',
  )
  await page.fill('#allow', '198.51.100.0/24\nnowhere')
  await page.getByRole('button', { name: 'Preview impact' }).click()
  t.match(await page.textContent('#allow-error'), /Must be addresses or networks/)
  await page.fill('#allow', '198.51.100.0/24')
  await page.getByRole('button', { name: 'Preview impact' }).click()
  t.match(await page.textContent('[role=alert]'), /blocks your own address, 127\.0\.0\.1/)
  t.match(
    await page.textContent('#effect'),
    /\d+ of \d+ sign-ins? of the last 7 days would end differently/,
  )
  t.match(await page.textContent('#effect'), /network not allowed/)
  await page.fill('#allow', '198.51.100.0/24\n127.0.0.0/8')
  await page.getByRole('button', { name: 'Preview impact' }).click()
  t.equal(await page.locator('[role=alert]').count(), 0)
  t.match(await page.textContent('#effect'), /None of \d+ sign-ins? .* would end differently/)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  t.match(await page.textContent('.receipt'), 'Networks policy saved.')
  t.match(await page.textContent('main'), '198.51.100.0/24, 127.0.0.0/8')

  const phone = await chromium.page({ viewport: PHONE })
  await phone.context.addCookies(await desk.context.cookies())
  for (const [one, width] of [
    [desk.page, 'desk-dark'],
    [phone.page, 'phone-light'],
  ] as const) {
    await one.goto(at('/policies/network'))
    await one.fill('#allow', '198.51.100.0/24')
    await one.getByRole('button', { name: 'Preview impact' }).press('Enter')
    await one.getByRole('heading', { name: 'Networks: impact' }).waitFor()
    await look(one, `policy-effect-${width}`)
  }
  await lookAt('/policies', 'policies')
  for (const name of ['password', 'lockout', 'mfa', 'network', 'device', 'session'])
    await lookAt(`/policies/${name}`, `policy-${name}`)

  const { page: wide } = desk
  await wide.goto(at('/policies/session'))
  await wide.fill('[name=max_session_seconds]', '7200')
  await wide.keyboard.press('Enter')
  await wide.getByRole('button', { name: 'Save', exact: true }).press('Enter')
  await wide.locator('.receipt', { hasText: 'Live on 1 of 1' }).waitFor()
  const { body } = await fleet.operator('GET', '/tenants/acme-policies')
  t.match(body, { max_session_seconds: 7200 })
})
