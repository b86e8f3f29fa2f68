/** A story of the console in a browser: a tenant that is served, an operator at a desk and by phone. */
import type { Page } from 'playwright-core'
import { startApplication, startTenant } from './application.ts'
import { DESK, PHONE, startChromium } from './chromium.ts'
import { keep, violations } from './console-browser.ts'
import type { startFleet } from './programs.ts'
import { becomeNewOperator, sharedFleet } from './shared-fleet.ts'

type Scope = Parameters<typeof startFleet>[0] & {
  same(found: unknown, wanted: unknown, message: string): unknown
}

export async function startConsoleStory(t: Scope, tenantId: string) {
  const fleet = await sharedFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, tenantId, application.origin)
  const chromium = await startChromium(t)
  const desk = await chromium.page({ viewport: DESK, colorScheme: 'dark' })
  await becomeNewOperator(desk.page, fleet, tenantId)
  const plain = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await plain.context.addCookies(await desk.context.cookies())
  const at = (path: string) => `${fleet.baseUrl}/console/tenants/${tenantId}${path}`

  /** A page as it stands: dark and light at the desk, for everybody to read. */
  async function look(page: Page, name: string) {
    t.same(await violations(page), [], `${name}, as it is`)
    await keep(page, name)
  }

  /** By its address: dark, light, and as on a phone. It is opened once, and seen in three ways. */
  async function lookAt(path: string, name: string) {
    const { page } = desk
    await page.goto(at(path))
    await look(page, `${name}-desk-dark`)
    await page.emulateMedia({ colorScheme: 'light' })
    await look(page, `${name}-desk-light`)
    await page.setViewportSize(PHONE)
    await look(page, `${name}-phone-light`)
    await page.setViewportSize(DESK)
    await page.emulateMedia({ colorScheme: 'dark' })
  }

  return { fleet, tenant, chromium, desk, plain, at, look, lookAt }
}
