/**
 * The console from nothing: the link from the terminal, an operator with a second factor, a tenant
 * by its form, its way to live; on a phone without scripts and at a desk in the dark.
 */
import t from 'tap'
import {
  becomeOperator,
  codeNow,
  GRACE,
  keep,
  linkForOperator,
  violations,
} from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startFleet } from '../support/programs.ts'

t.test('from the link to a tenant that is published', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const fleet = await startFleet(t)
  const chromium = await startChromium(t)
  const at = (path: string) => fleet.baseUrl + path
  const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  const link = await linkForOperator(fleet)
  const seen = async (page: typeof phone.page, name: string) => {
    await keep(page, `${name}-phone-light`)
    await becomeSure(name)
  }
  const becomeSure = async (name: string) => t.match(phone.page.url(), fleet.baseUrl, name)
  const seed = await becomeOperator(phone.page, link, GRACE, seen)
  t.match(phone.page.url(), at('/console/tenants'), 'an operator begins with the tenants')
  t.match(await phone.page.textContent('main'), 'No tenants yet')
  const cookies = await phone.context.cookies(at('/console'))
  const session = cookies.find(({ name }) => name === 'service_console')
  t.match(session, { httpOnly: true, sameSite: 'Lax', path: '/console' })

  const again = await phone.page.goto(link)
  t.equal(again?.status(), 410, 'the link was for one use')

  const { page } = phone
  await page.goto(at('/console/tenants'))
  await page.getByRole('link', { name: 'Create tenant' }).click()
  await page.fill('[name=tenant_id]', 'Acme!')
  await page.fill('[name=hostnames]', 'app.acme.localhost\nwww.acme.localhost')
  await page.fill('[name=origin]', 'not an address')
  await page.getByRole('button', { name: 'Create tenant' }).click()
  t.match(await page.textContent('[role=alert]'), 'Fix 2 fields')
  t.match(await page.textContent('#origin-error'), /Must be an address like/)
  t.equal(await page.inputValue('[name=hostnames]'), 'app.acme.localhost\nwww.acme.localhost')
  await keep(page, 'new-tenant-wrong-phone-light')
  await page.fill('[name=tenant_id]', 'acme')
  await page.fill('[name=name]', 'Acme <script>alert(1)</script>')
  await page.fill('[name=origin]', 'http://127.0.0.1:9000')
  await page.getByRole('button', { name: 'Create tenant' }).click()
  await page.getByRole('heading', { level: 1, name: 'Acme <script>' }).waitFor()
  t.match(await page.textContent('.receipt'), /created as a draft.*once it is published/s)
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('is published.').waitFor()
  // without scripts a page tells what was so when it was asked for, and has a link to ask again
  const live = page.locator('.receipt', { hasText: /Live on 1 of 1/ })
  const refresh = page.locator('.receipt').getByRole('link', { name: 'Refresh' })
  while ((await live.count()) === 0) await refresh.click()
  await keep(page, 'start-phone-light')

  const desk = await chromium.page({
    viewport: DESK,
    colorScheme: 'dark',
    timezoneId: 'Asia/Tokyo',
  })
  const asked = await fetch(at('/api/v1/cli/device-codes'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"machine":"graces-laptop"}',
  })
  const tool = (await asked.json()) as Record<string, string>
  const waiting = tool['verification_uri_complete'] ?? ''
  await desk.page.goto(waiting)
  t.match(desk.page.url(), '/auth/realms/console/', 'another browser is asked to sign in')
  await desk.page.fill('[name=username]', GRACE.email)
  await desk.page.fill('[name=password]', GRACE.password)
  await desk.page.keyboard.press('Enter')
  await desk.page
    .locator('[name=code]')
    .first()
    .fill(codeNow(seed, Date.now() + 30_000))
  await desk.page.keyboard.press('Enter')
  await desk.page.waitForURL(waiting)
  t.match(await desk.page.textContent('main'), /graces-laptop.*Whose analyzer key it gets/s)
  await desk.page.goto(at('/console/audit'))
  t.match(await desk.page.textContent('main'), /grace@example\.test.*Published the tenant/s)
  t.match(await desk.page.getAttribute('time', 'title'), /UTC$/, 'UTC on hover')
  const alsoNarrow = ['audit', 'tenants', 'new-tenant', 'start', 'people']
  for (const [name, path] of [
    ['audit', '/console/audit'],
    ['tenants', '/console/tenants'],
    ['new-tenant', '/console/tenants/new'],
    ['start', '/console/tenants/acme'],
    ['people', '/console/people'],
    ['search', '/console/search?q=acme'],
    ['nothing', '/console/tenants/nobody'],
  ] as const) {
    await desk.page.goto(at(path))
    t.same(await violations(desk.page), [], `${name}, dark, at a desk`)
    await keep(desk.page, `${name}-desk-dark`)
    if (!alsoNarrow.includes(name)) continue
    await desk.page.emulateMedia({ colorScheme: 'light' })
    await desk.page.setViewportSize({ width: 320, height: 640 })
    t.same(await violations(desk.page), [], `${path}, light, on the narrowest phone`)
    if (name === 'people') await keep(desk.page, 'people-phone-light')
    await desk.page.emulateMedia({ colorScheme: 'dark' })
    await desk.page.setViewportSize(DESK)
  }

  await desk.page.goto(at('/console/tenants'))
  await desk.page.keyboard.press('Control+k')
  await desk.page.keyboard.type('acme')
  await desk.page.locator('#found a', { hasText: 'acme' }).first().waitFor()
  await keep(desk.page, 'switcher-desk-dark')
  await desk.page.keyboard.press('Enter')
  await desk.page.waitForURL(at('/console/tenants/acme'))

  await desk.page.locator('.account summary').click()
  await desk.page.getByRole('button', { name: 'Sign out' }).click()
  await desk.page.getByRole('heading', { name: "You're signed out" }).waitFor()
  await desk.page.goto(at('/console'))
  t.match(desk.page.url(), '/auth/realms/console/', 'and is asked again')
  t.same(
    [...phone.complaints, ...desk.complaints].filter(
      (line) => /Content Security|refused|error/i.test(line) && !/status of 4/.test(line),
    ),
    [],
    'the browsers had nothing to complain about',
  )
})
