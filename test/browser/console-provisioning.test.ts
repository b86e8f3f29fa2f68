/** Provisioning in Chromium: a token is made, shown once and revoked. */
import t from 'tap'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/provisioning'

t.test('a provider gets a token', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  const ada = await person('acme', 'Ada')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'light' })
  await enter(context, ada)
  const seen = async (name: string) => {
    for (const [viewport, where] of [
      [DESK, 'desk'],
      [PHONE, 'phone'],
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: where === 'desk' ? 'light' : 'dark' })
      t.same(await violations(page), [], `${name}, ${where}`)
      await keep(page, `provisioning-${name}-${where}`)
    }
    await page.setViewportSize(DESK)
  }

  await page.goto(at(PAGE))
  await page.getByText('Microsoft Entra ID', { exact: true }).click()
  await seen('empty')
  await page.getByLabel('Name', { exact: true }).fill('Entra 2026')
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByText('Token created.').waitFor()
  await seen('made')
  const [token] = await services.scimTokens.list('acme')
  const asked = { tenantId: 'acme', tokenId: token!.tokenId, requestId: 'r1' }
  const atMs = services.clock.nowMs()
  services.scimLog.note({
    ...asked,
    ...{ at: atMs, method: 'GET', status: 200, detail: '' },
    path: '/Users?filter=userName eq "ada@acme.example"',
  })
  services.scimLog.note({
    ...asked,
    ...{ at: atMs + 1, method: 'POST', path: '/Users', status: 409 },
    detail:
      'Another user already has this email address. Accounts that provisioning did not create are never taken over: change or delete the other account in the console, then try again.',
  })
  await page.getByRole('link', { name: 'Done' }).click()
  await page.getByText('Another user already has').waitFor()
  await seen('used')
  await page.getByRole('link', { name: 'Revoke Entra 2026' }).click()
  await seen('revoke')
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('Token revoked.').waitFor()
})
