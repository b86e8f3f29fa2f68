/** Connections in Chromium: from the first draft to the button on the sign-in page. */
import t from 'tap'
import { relyingParty } from '../control-plane/realm/realm-world.ts'
import { startConnected } from '../control-plane/realm/connections/connected.ts'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/connections'
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'
const OWN = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'

t.test('a provider is connected, tested and activated', { skip: WITHOUT_CHROMIUM }, async (t) => {
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
      await keep(page, `connections-${name}-${where}`)
    }
    await page.setViewportSize(DESK)
  }

  await page.goto(at(PAGE))
  await seen('empty')
  await page.getByRole('link', { name: 'Microsoft Entra ID' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Acme')
  await page.getByLabel('Issuer').fill(`https://login.microsoftonline.com/${PERSONAL}/v2.0`)
  await page.getByLabel('Client ID').fill('4f0c1a52-87b5-4d8e-a1f2-8f6f39b6a1c0')
  await page.getByLabel('Client secret').fill('a secret that nobody guesses')
  await page.getByRole('button', { name: 'Create connection' }).click()
  await page.getByText('personal Microsoft accounts').last().waitFor()
  await seen('refused')
  await page.getByLabel('Issuer').fill(`https://login.microsoftonline.com/${OWN}/v2.0`)
  await page.getByLabel('Client secret').fill('a secret that nobody guesses')
  await page.getByRole('button', { name: 'Create connection' }).click()
  await page.getByText('Connection created as a draft.').waitFor()
  await seen('draft')

  const [draft] = await services.connections.list('acme')
  await services.connections.noteTested('acme', draft!.connectionId, draft!.updatedAt, ACTOR)
  await page.reload()
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByText('Connection activated.').waitFor()
  await seen('active')
  await page.getByRole('link', { name: 'Edit' }).click()
  await seen('edit')
  await page.goto(at(PAGE))
  await seen('list')
})

t.test('its button stands on the sign-in page', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { tenant } = await startConnected(t, {}, { name: 'Acme Corporation of North America' })
  const { url } = await (await relyingParty(tenant)).begin()
  const chromium = await startChromium(t)
  const { page } = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await page.goto(url)
  t.ok(await page.getByText('Continue with Acme Corporation').isVisible())
  await keep(page, 'connections-sign-in-phone')
  await page.setViewportSize(DESK)
  await keep(page, 'connections-sign-in-desk')
})
