/**
 * Webhooks and Settings in a browser: the plan is set, a webhook made, tried, rotated, paused and
 * removed, its tenant suspended and deleted; at a desk, and on a phone without scripts.
 */
import t from 'tap'
import type { Page } from 'playwright-core'
import { tenantBody } from '../support/application.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep, violations } from '../support/console-browser.ts'
import { becomeNewOperator, sharedFleet } from '../support/shared-fleet.ts'

const SECRET = /^whsec_[\w-]{43}$/

t.test(
  'the whole life of a webhook, and the end of a tenant',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const fleet = await sharedFleet(t)
    await fleet.operator('POST', '/tenants', tenantBody('acme-webhooks', 'http://127.0.0.1:9000'))
    await fleet.operator('POST', '/tenants/acme-webhooks/publish')
    await fleet.settled()
    const chromium = await startChromium(t)
    const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
    await becomeNewOperator(phone.page, fleet, 'acme-webhooks')
    const desk = await chromium.page({ viewport: DESK })
    await desk.context.addCookies(await phone.context.cookies())
    const at = (path: string) => `${fleet.baseUrl}/console/tenants/acme-webhooks${path}`

    /** As it looks at a desk in the dark, and on a phone in the light: opened once. */
    const look = async (name: string, url: string) => {
      const { page } = desk
      await page.goto(url)
      for (const [how, viewport, colorScheme] of [
        ['desk-dark', DESK, 'dark'],
        ['phone-light', PHONE, 'light'],
      ] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(viewport)
        t.same(await violations(page), [], `${name}, ${how}`)
        await keep(page, `${name}-${how}`)
      }
    }
    const press = (page: Page, name: string) =>
      page.getByRole('button', { name, exact: true }).click()
    const follow = (page: Page, name: string) =>
      page.getByRole('link', { name, exact: true }).click()

    const { page } = phone
    await page.goto(at('/webhooks'))
    await look('webhooks-without-plan', at('/webhooks'))
    await follow(page, 'Upgrade to the premium plan')
    await page.selectOption('[name=plan]', 'premium')
    await press(page, 'Save plan')
    await page
      .locator('.receipt', { hasText: /Plan changed to premium\..*Live on 1 of 1/s })
      .waitFor()
    await look('settings', at('/settings'))

    await follow(page, 'Webhooks')
    await look('webhooks-empty', at('/webhooks'))
    await follow(page, 'Create webhook')
    await page.fill('[name=url]', 'http://localhost/hooks')
    await press(page, 'Create webhook')
    t.match(await page.textContent('[role=alert]'), 'Fix one field', 'no event yet')
    await page.getByLabel('session.revoked').check()
    await page.getByLabel('tenant.suspended').check()
    await press(page, 'Create webhook')
    t.match(await page.textContent('#url-error'), 'cannot be used')
    t.ok(await page.getByLabel('session.revoked').isChecked(), 'what was ticked stays so')
    await keep(page, 'webhook-wrong-phone-light')
    await page.fill('[name=url]', 'https://127.0.0.1:9/hooks')
    await page.fill('[name=description]', 'To the security team')
    await press(page, 'Create webhook')
    t.match(await page.innerText('.copyable code'), SECRET)
    await keep(page, 'webhook-secret-phone-light')
    await follow(page, 'I have saved it')
    const one = page.url()
    t.match(await page.textContent('main'), /No deliveries yet/)

    await press(page, 'Send test')
    t.match(page.url(), /\/deliveries\/dlv_/)
    t.match(await page.textContent('main'), /Queued|Not delivered yet|Failed/)
    await look('delivery', page.url().replace(/\?.*/, ''))
    await follow(page, 'All deliveries')
    await look('webhook', one)
    await look('webhook-new', at('/webhooks/new'))

    await follow(page, 'Rotate secret')
    await press(page, 'Rotate secret')
    t.match(await page.innerText('.copyable code'), SECRET)
    await follow(page, 'I have saved it')
    t.match(await page.textContent('main'), 'Previous secret valid until')
    await follow(page, 'Pause')
    await look('webhook-pause', `${one}/pause`)
    await press(page, 'Pause webhook')
    t.match(await page.textContent('main'), 'No events are sent until you resume it')
    await press(page, 'Resume')
    t.match(await page.textContent('.receipt'), 'Webhook resumed')
    await look('webhooks', at('/webhooks'))
    await follow(page, 'Delete')
    await press(page, 'Delete webhook')
    t.match(await page.textContent('.receipt'), 'Webhook deleted')

    await page.goto(at('/settings'))
    await page.fill('[name=sealed]', '/internal\n/admin')
    await page.fill('[name=origin]', 'nowhere')
    await press(page, 'Save settings')
    t.match(await page.textContent('#origin-error'), /Must be an address like/)
    t.equal(await page.inputValue('[name=sealed]'), '/internal\n/admin')
    await page.fill('[name=origin]', 'http://127.0.0.1:9001')
    await press(page, 'Save settings')
    await page.locator('.receipt', { hasText: /Settings saved\..*Live on 1 of 1/s }).waitFor()
    await follow(page, 'Suspend')
    await press(page, 'Suspend tenant')
    await page.locator('.receipt', { hasText: /is suspended\..*Live on 1 of 1/s }).waitFor()
    await press(page, 'Reactivate tenant')
    t.match(await page.textContent('.receipt'), 'is active again')
    await follow(page, 'Delete tenant')
    await look('tenant-delete', `${at('/settings')}/delete`)
    await page.fill('[name=name]', 'acme-webhooks')
    await press(page, 'Delete tenant')
    t.match(
      await page.textContent('#name-error'),
      'The name doesn’t match. Type it exactly as shown',
    )
    await page.fill('[name=name]', 'Tenant acme-webhooks')
    await press(page, 'Delete tenant')
    await page
      .locator('.receipt', { hasText: /Tenant acme-webhooks is deleted\..*Live on 1 of 1/s })
      .waitFor()
  },
)
