/** A story of the console in a browser: a tenant that is served, an operator at a desk and by phone. */
import type { Page } from 'playwright-core'
import { startApplication, startTenant } from './application.ts'
import { DESK, PHONE, startChromium } from './chromium.ts'
import { becomeOperator, keep, linkForOperator, violations } from './console-browser.ts'
import { startFleet, type FleetOptions } from './programs.ts'

type Scope = Parameters<typeof startFleet>[0] & {
  same(found: unknown, wanted: unknown, message: string): unknown
}

export async function startConsoleStory(t: Scope, options: FleetOptions = {}) {
  const fleet = await startFleet(t, options)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'acme', application.origin)
  const chromium = await startChromium(t)
  const desk = await chromium.page({ viewport: DESK, colorScheme: 'dark' })
  await becomeOperator(desk.page, await linkForOperator(fleet))
  const cookies = await desk.context.cookies()
  const phone = await chromium.page({ viewport: PHONE })
  const plain = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  for (const { context } of [phone, plain]) await context.addCookies(cookies)
  for (const { page } of [desk, phone, plain]) page.setDefaultTimeout(10_000)
  const at = (path: string) => `${fleet.baseUrl}/console/tenants/acme${path}`

  /** A page as it stands: dark and light at the desk, for everybody to read. */
  async function look(page: Page, name: string) {
    t.same(await violations(page), [], `${name}, as it is`)
    await keep(page, name)
  }

  /** By its address: dark, light, and on a phone. */
  async function lookAt(path: string, name: string) {
    await desk.page.goto(at(path))
    await look(desk.page, `${name}-desk-dark`)
    await desk.page.emulateMedia({ colorScheme: 'light' })
    await look(desk.page, `${name}-desk-light`)
    await desk.page.emulateMedia({ colorScheme: 'dark' })
    await phone.page.goto(at(path))
    await look(phone.page, `${name}-phone-light`)
  }

  return { fleet, tenant, chromium, desk, phone, plain, at, look, lookAt }
}
