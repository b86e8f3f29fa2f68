/** What a newcomer does, in a real browser: open, sign in, be greeted, look, sign out. */
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { createDemoApplication } from '../../control-plane/launch/demo-application.ts'
import type { AddressInfo } from 'node:net'
import { PASSWORD, startTenant } from '../support/application.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { sharedFleet } from '../support/shared-fleet.ts'

/** `SCREENSHOTS=.docs/screenshots npm run test:only -- test/browser` keeps what was seen. */
const folder = process.env['SCREENSHOTS']
if (folder !== undefined) mkdirSync(folder, { recursive: true })

t.test(
  'the whole sign-in, on a phone without scripts and at a desk in the dark',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
    const fleet = await sharedFleet(t)
    const application = createDemoApplication({ tenantId: 'acme-visit', baseUrl: fleet.baseUrl })
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
    t.after(() => void application.close())
    const { port } = application.address() as AddressInfo
    const tenant = await startTenant(fleet, 'acme-visit', `http://127.0.0.1:${port}`)
    const chromium = await startChromium(t)

    for (const [name, options] of [
      ['phone-light', { viewport: PHONE, javaScriptEnabled: false }],
      ['desk-dark', { viewport: DESK, colorScheme: 'dark' }],
    ] as const) {
      const { page, context, complaints } = await chromium.page(options)
      const keep = async (what: string) => {
        if (folder !== undefined)
          await page.screenshot({ path: `${folder}/${what}-${name}.png`, fullPage: true })
      }
      await page.goto(`${tenant.edge()}/?from=bookmark`)
      t.match(page.url(), `${fleet.baseUrl}/auth/realms/acme-visit/`, `${name}: asked to sign in`)
      await keep('sign-in')
      await page.fill('[name=username]', 'ada')
      await page.fill('[name=password]', 'not the password')
      await page.keyboard.press('Enter')
      await page.locator('[role=alert]').waitFor()
      await keep('sign-in-wrong')
      t.equal(await page.inputValue('[name=username]'), 'ada', 'and the username is kept')
      await page.fill('[name=password]', PASSWORD)
      await page.keyboard.press('Enter')
      await page.waitForURL(`${tenant.edge()}/?from=bookmark`)
      t.match(await page.textContent('h1'), 'Hello, ada of acme-visit')
      await keep('demo')

      const cookies = await context.cookies(tenant.edge())
      t.same(cookies.map((cookie) => cookie.name).sort(), ['service_seen', 'service_session'])
      t.ok(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite === 'Lax'))

      await page.goto(`${tenant.edge()}/service/me`)
      t.match(await page.textContent('main'), 'ada@example.test')
      await keep('me')
      await page.click('text=Sign out')
      t.equal(page.url(), `${tenant.edge()}/service/logout?signed_out`)
      t.match(await page.textContent('h1'), 'signed out')
      t.notOk(await page.getByText('signed_out').isVisible(), 'a code is for who has a problem')
      await keep('signed-out')
      await page.goto(`${tenant.edge()}/admin`)
      t.match(await page.textContent('h1'), 'Page not found')
      await keep('sealed')
      await page.goto(`${fleet.baseUrl}/`)
      await keep('signpost')
      const scriptless = complaints.filter(
        (line) => !/status of (?:404|422)|favicon|Autofocus processing was blocked/.test(line),
      )
      t.same(scriptless, [], `${name}: the browser had nothing to complain about`)
    }
  },
)
