/**
 * What people come to the console with: each question is answered at most two clicks from Start,
 * through the browser, by links that are there for whoever looks.
 */
import t from 'tap'
import { busyDay, serveConsole } from '../support/served-console.ts'
import { startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'

const START = '/console/tenants/acme'
const CLICKS_MAX = 2

t.test('five questions, two clicks', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const served = await serveConsole(t)
  const { services } = served
  await busyDay(served, 'acme')
  const actor = { name: 'console:grace@example.test', requestId: 'r1' }
  const { userId } = await services.users.create(
    'acme',
    {
      username: 'ada',
      email: 'augusta.ada.king.of.lovelace@acme.test',
      name: 'Ada Lovelace',
      password: 'by the long pier',
    },
    actor,
  )
  await services.enforcement.receive('edge-1', [
    { tenant_id: 'acme', outcome: 'sealed', reason: 'sealed', path: '/admin/keys', count: 7 },
    { tenant_id: 'acme', outcome: 'refused', reason: 'path_unreadable', subject: userId },
  ])
  await services.tenants.setPlan('acme', 'premium', actor)
  const { webhook } = await services.webhooks.create(
    'acme',
    { url: 'https://hooks.example/service', events: ['session.revoked'], description: '' },
    actor,
  )
  await services.sessions.record({
    ...{ tenantId: 'acme', userId, sid: 'sid-1', ip: '198.51.100.7', userAgent: 'test' },
    issuedAtMs: services.clock.nowMs(),
    expiresAtMs: services.clock.nowMs() + 3_600_000,
  })
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page()
  await served.enter(context, await served.person('acme'))

  const asked = async (question: string, links: readonly string[], answer: RegExp) => {
    t.ok(links.length <= CLICKS_MAX, question)
    await page.goto(served.at(START))
    for (const name of links) await page.getByRole('link', { name }).first().click()
    t.match(await page.textContent('main'), answer, question)
  }
  await asked('why was this person refused', ['Overview', 'Ada Lovelace'], /Recent sign-ins/)
  await asked(
    'what changed last week, and who did it',
    ['Audit', 'Last 7 days'],
    /grace@example\.test.*Created a user/s,
  )
  await asked('which sealed paths are being tried', ['Events', 'Sealed paths'], /\/admin\/keys.*7/s)
  await asked('is this webhook delivering', ['Webhooks', new URL(webhook.url).host], /Deliveries/)
  await page.goto(served.at(START))
  await page.getByRole('link', { name: 'Sessions' }).first().click()
  await page.getByRole('searchbox').first().fill('198.51.100.7')
  await page.keyboard.press('Enter')
  await page.waitForURL(/198\.51\.100\.7/)
  t.match(await page.textContent('main'), 'Ada Lovelace', 'who is signed in from this address')
  await page.setViewportSize({ width: 1280, height: 800 })
  const isCut = await page.evaluate(
    "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.table-frame'))",
  )
  t.notOk(isCut, 'the last column, with what can be done, is there without scrolling')
})
