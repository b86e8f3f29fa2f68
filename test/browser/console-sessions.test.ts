/** Sessions in Chromium: looked for, one ended, then all of them, and people really are out. */
import t from 'tap'
import { PASSWORD } from '../support/application.ts'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startConsoleStory } from '../support/console-story.ts'

t.test('one session is ended, then all', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { fleet, tenant, chromium, desk, plain, at, look, lookAt } = await startConsoleStory(
    t,
    'acme-sessions',
  )
  const application = `${tenant.edge()}/dashboard`
  const { page } = plain
  await page.goto(at('/sessions'))
  t.match(await page.textContent('main'), 'No active sessions')
  const visitors = [await chromium.page(), await chromium.page()]
  for (const visitor of visitors) {
    await visitor.page.goto(application)
    await visitor.page.fill('[name=username]', 'ada')
    await visitor.page.fill('[name=password]', PASSWORD)
    await visitor.page.keyboard.press('Enter')
    await visitor.page.waitForURL(application)
  }
  const areIn = async () => {
    const urls: boolean[] = []
    for (const visitor of visitors) {
      await visitor.page.goto(application)
      urls.push(visitor.page.url() === application)
    }
    return urls
  }
  t.same(await areIn(), [true, true])

  await lookAt('/sessions', 'sessions')
  await page.fill('[name=q]', 'ada')
  await page.getByRole('button', { name: 'Search' }).click()
  t.match(await page.textContent('main'), 'End all of these')
  t.equal(await page.locator('tbody tr').count(), 2)
  await page.fill('[name=q]', '203.0.113.1')
  await page.getByRole('button', { name: 'Search' }).click()
  t.match(await page.textContent('main'), 'No matching sessions')
  await page.fill('[name=q]', '127.0.0.1')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.locator('tbody').getByRole('link', { name: /^End/ }).first().click()
  t.match(await page.textContent('main'), /signed out there immediately/)
  await page.getByRole('button', { name: 'End this session' }).click()
  t.match(await page.textContent('.receipt'), /Session ended\.\s+Enforced on 1 of 1/)
  t.equal((await areIn()).filter(Boolean).length, 1, 'one is out, the other goes on')

  const { page: wide } = desk
  await wide.goto(at('/sessions'))
  await wide.getByRole('link', { name: 'End all sessions' }).press('Enter')
  await look(wide, 'sessions-end-all-desk-dark')
  await wide.getByRole('button', { name: 'End all sessions' }).press('Enter')
  await wide.locator('.receipt', { hasText: 'Enforced on 1 of 1' }).waitFor()
  t.same(await areIn(), [false, false])
  t.match(visitors[0]?.page.url(), `${fleet.baseUrl}/auth/realms/acme-sessions`)
  await wide.goto(at('/sessions'))
  t.match(await wide.textContent('main'), 'No active sessions')
  await look(wide, 'sessions-none-desk-dark')
})
