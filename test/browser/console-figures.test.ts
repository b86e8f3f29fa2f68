/**
 * Overview, Alerts and Events of a tenant, and Metrics of the service, with a mouse, with a keyboard
 * and without scripts; a chart is drawn, told apart without colours, and has its numbers in a table.
 */
import t, { type Test } from 'tap'
import type { Page } from 'playwright-core'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { busyDay, serveConsole } from '../support/served-console.ts'

const OPTIONS = { skip: WITHOUT_CHROMIUM }
const TENANT = '/console/tenants/acme'
const DARK = { viewport: DESK, colorScheme: 'dark', timezoneId: 'Europe/Berlin' } as const
const LIGHT = { viewport: DESK, timezoneId: 'Europe/Berlin' } as const

async function start(t: Test) {
  const served = await serveConsole(t)
  const chromium = await startChromium(t)
  const open = async (
    role: string,
    path: string,
    options: Parameters<typeof chromium.page>[0] = {},
  ) => {
    const tab = await chromium.page(options)
    await served.enter(tab.context, await served.person(role))
    await tab.page.goto(served.at(path))
    return tab
  }
  return { ...served, served, open }
}

/** Colours of what is painted there, so that an empty canvas is none. */
const paintedColours = (page: Page) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector('.plot canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const colours = new Set()
    for (let at = 0; at < data.length; at += 4)
      if (data[at + 3] === 255) colours.add(data.slice(at, at + 3).join())
    return colours.size
  })()`)

t.test('a tenant at a glance, hour by hour, and what was refused', OPTIONS, async (t) => {
  const { served, services, open } = await start(t)
  await busyDay(served, 'acme')
  await services.enforcement.receive('edge-1', [
    { tenant_id: 'acme', outcome: 'sealed', reason: 'sealed', ip: '203.0.113.9' },
  ])
  const { page, complaints } = await open('acme', `${TENANT}/overview`, DARK)
  await page.locator('.plot canvas').nth(2).waitFor()
  t.ok((await paintedColours(page)) >= 3, 'the lines are drawn')
  t.same(await violations(page), [], 'dark, at a desk')
  await keep(page, 'overview-desk-dark')

  const shown = page.locator('figure').first()
  const whole = await shown.locator('[data-value]').first().innerText()
  await shown.locator('.u-over').hover({ position: { x: 300, y: 60 } })
  t.match(
    await shown.locator('figcaption').innerText(),
    /\d\d?:\d\d/,
    'the moment under the pointer',
  )
  t.not(await shown.locator('[data-value]').first().innerText(), whole, 'and its number')
  await page.mouse.move(2, 2)
  await shown.locator('figcaption', { hasText: 'Requests, per hour' }).waitFor()
  t.equal(await shown.locator('[data-value]').first().innerText(), whole)

  await page.getByRole('link', { name: 'Week' }).click()
  await page.getByText('in the last 7 days').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  const widthPx = async () =>
    (await page.locator('.plot canvas').first().boundingBox())?.width ?? Infinity
  const beforePx = await widthPx()
  await page.setViewportSize({ width: 700, height: 800 })
  // not in the page, whose policy allows no predicate that is text
  while ((await widthPx()) >= beforePx - 100)
    await page.evaluate('new Promise(requestAnimationFrame)')
  await page.setViewportSize(DESK)
  await page.locator('summary', { hasText: 'Show data table' }).first().click()
  t.equal(await shown.locator('tbody tr').count(), 168, 'a row for each hour')
  t.same(await violations(page), [], 'with a table open')
  await page.emulateMedia({ colorScheme: 'light' })
  t.ok((await paintedColours(page)) >= 3, 'drawn anew in the light')
  t.same(await violations(page), [], 'light')
  await page.getByRole('link', { name: '203.0.113.9' }).click()
  await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
  t.same(complaints, [], 'the browser had nothing to complain about')

  const phone = await open('acme', `${TENANT}/overview?range=hour`, { viewport: PHONE })
  await phone.page.locator('.plot canvas').nth(2).waitFor()
  t.same(await violations(phone.page), [], 'light, on a phone')
  await keep(phone.page, 'overview-phone-light')
  const plain = await open('acme', `${TENANT}/overview`, {
    viewport: PHONE,
    javaScriptEnabled: false,
  })
  await plain.page.locator('summary', { hasText: 'Show data table' }).first().click()
  t.match(await plain.page.locator('figure table').first().innerText(), /UTC/, 'without a script')
})

t.test(
  'an alert is tried, made and removed, by keyboard and without scripts',
  OPTIONS,
  async (t) => {
    const { served, open } = await start(t)
    await busyDay(served, 'acme')
    const { page, complaints } = await open('acme', `${TENANT}/alerts`, LIGHT)
    t.same(await violations(page), [], 'empty')
    await keep(page, 'alerts-empty-desk-light')
    await page.getByRole('link', { name: 'Create alert' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Alert at or above').waitFor()
    await page.getByLabel('Alert at or above').fill('3')
    await page.keyboard.press('Enter')
    await page.getByText('It would have triggered').waitFor()
    await page.locator('.plot canvas').waitFor()
    t.same(await violations(page), [], 'tried on the last day')
    await keep(page, 'alert-preview-desk-light')
    await page.getByRole('button', { name: 'Create alert' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Alert created.').waitFor()
    t.same(complaints, [])

    const dark = await open('acme', `${TENANT}/alerts`, DARK)
    t.same(await violations(dark.page), [], 'dark')
    await keep(dark.page, 'alerts-desk-dark')

    const plain = await open('acme', `${TENANT}/alerts/new`, {
      viewport: PHONE,
      javaScriptEnabled: false,
    })
    await plain.page.selectOption('[name=metric]', 'step_ups')
    await plain.page.fill('[name=threshold]', 'a lot')
    await plain.page.getByRole('button', { name: 'Create alert' }).click()
    t.match(await plain.page.textContent('#threshold-error'), /whole number/)
    await plain.page.fill('[name=threshold]', '5')
    await plain.page.getByRole('button', { name: 'Preview on the last 24 hours' }).click()
    await plain.page.getByText('In the last 24 hours').waitFor()
    t.same(await plain.page.locator('[name=metric]').inputValue(), 'step_ups')
    await plain.page.getByRole('button', { name: 'Create alert' }).click()
    await plain.page.getByText('Alert created.').waitFor()
    await keep(plain.page, 'alerts-phone-light')
    await plain.page.getByRole('link', { name: 'Delete the alert for Second factors' }).click()
    await keep(plain.page, 'alert-remove-phone-light')
    await plain.page.getByRole('button', { name: 'Delete alert' }).click()
    await plain.page.getByText('Alert deleted.').waitFor()
  },
)

t.test('events are found, and followed from one to the next', OPTIONS, async (t) => {
  const { services, open } = await start(t)
  for (let count = 0; count < 30; count++) {
    const ip = `203.0.113.${count}`
    const of = { tenant_id: 'acme', ip, app_host: 'app.acme.example' }
    await services.enforcement.receive('edge-1', [
      { ...of, outcome: 'sealed', reason: 'sealed' },
      { ...of, outcome: 'step_up', reason: 'binding', subject: `user_${count % 3}` },
    ])
  }
  await services.store.change(async (change) => {
    for (let count = 0; count < 5; count++)
      await change.emit('signin.denied', 'acme', {
        subject: 'user_1',
        ip: '203.0.113.5',
        reason: 'network_denied',
      })
  })
  const { page, complaints } = await open('acme', `${TENANT}/events`, DARK)
  t.same(await violations(page), [], 'dark')
  await page.goto(`${page.url()}?limit=12`)
  await keep(page, 'events-desk-dark')
  await page.goto(page.url().replace('limit=12', 'limit=50'))
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByText('End of list').waitFor()
  await page.getByLabel('Type').selectOption('step_up')
  await page.getByLabel('User ID').fill('user_1')
  await page.keyboard.press('Enter')
  await page.waitForURL(/subject=user_1/)
  t.equal(await page.locator('main tbody tr').count(), 10)
  await page.getByRole('link', { name: 'Webhook events' }).click()
  await page.getByText('Events that a webhook can subscribe to').waitFor()
  t.same(await violations(page), [], 'for webhooks')
  await keep(page, 'events-told-desk-dark')
  t.same(complaints, [])

  const plain = await open('acme', `${TENANT}/events`, {
    viewport: PHONE,
    javaScriptEnabled: false,
  })
  await plain.page.getByLabel('Address').fill('192.0.2.99')
  await plain.page.getByRole('button', { name: 'Show', exact: true }).click()
  await plain.page.getByText('No matching events').waitFor()
  await plain.page.getByRole('link', { name: 'Clear filters' }).click()
  await plain.page.locator('main tbody tr').first().waitFor()
  const phone = await open('acme', `${TENANT}/events?limit=5`, { viewport: PHONE })
  await keep(phone.page, 'events-phone-light')
  t.same(await violations(phone.page), [], 'light, on a phone')
})

t.test('operators see all tenants together', OPTIONS, async (t) => {
  const { served, open } = await start(t)
  for (const tenantId of ['acme', 'other']) await busyDay(served, tenantId)
  const { page, complaints } = await open('operator', '/console/figures', LIGHT)
  await page.locator('.plot canvas').nth(2).waitFor()
  t.same(await violations(page), [], 'light')
  await keep(page, 'figures-desk-light')
  await page.getByRole('link', { name: 'Month' }).click()
  await page.getByText('in the last 30 days').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  t.same(await violations(page), [], 'a month')
  t.same(complaints, [])
  const dark = await open('operator', '/console/figures?range=month', { ...DARK, viewport: PHONE })
  await dark.page.locator('.plot canvas').first().waitFor()
  t.same(await violations(dark.page), [], 'dark, on a phone')
  await keep(dark.page, 'figures-phone-dark')
})
