/** Connections in Chromium: from the first draft to the button on the sign-in page. */
import t from 'tap'
import { relyingParty } from '../control-plane/realm/realm-world.ts'
import { startConnected } from '../control-plane/realm/connections/connected.ts'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { DAY_MS } from '../../shared/clock.ts'
import { advanceDomain, findDomain } from '../../control-plane/store/queries/connection-domains.ts'
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
  await page.getByRole('link', { name: 'Domains' }).click()
  await seen('domains-empty')
  await page.getByLabel('Domain').fill('Acme.example')
  await page.getByRole('button', { name: 'Add domain' }).click()
  await page.getByText('acme.example added. Now publish its TXT record.').waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('No TXT record found for acme.example yet.').waitFor()
  await seen('domains-waiting')
  const owner = { tenantId: 'acme', domain: 'acme.example' }
  const set = async (changes: Parameters<typeof advanceDomain>[2]) =>
    services.store.change(async ({ queries }) => {
      const row = await findDomain(queries, owner.tenantId, owner.domain)
      await advanceDomain(queries, row!, changes)
    })
  const nowMs = Date.now()
  await set({ provenAt: nowMs, lookedAt: nowMs })
  await page.goto(page.url())
  await page.getByText('Proven', { exact: true }).waitFor()
  await set({ missingSince: nowMs - 3 * DAY_MS })
  await page.goto(page.url())
  await page.getByText('Proof missing').waitFor()
  await seen('domains-missing')
  await page.getByRole('link', { name: 'Remove' }).click()
  await seen('domains-remove')
  await page.getByRole('button', { name: 'Remove domain' }).click()
  await page.getByText('acme.example removed.').waitFor()
  await page.getByRole('link', { name: 'Back to the connection' }).click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await seen('edit')
  await page.getByLabel('Sign people out at the provider').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Post-logout redirect address').first().waitFor()
  await seen('signs-out')
  await page.goto(at(`${PAGE}/new?preset=github`))
  await page.getByLabel('Name', { exact: true }).fill('GitHub')
  await page.getByLabel('Organization').fill('not a name')
  await page.getByLabel('Client ID').fill('Iv1.8a61f9b3a7aba766')
  await page.getByLabel('Client secret').fill('a secret that nobody guesses')
  await page.getByRole('button', { name: 'Create connection' }).click()
  await page.getByText('the name of an organization').last().waitFor()
  await seen('github')
  await page.getByLabel('Organization').fill('acme-corp')
  await page.getByLabel('Client secret').fill('a secret that nobody guesses')
  await page.getByRole('button', { name: 'Create connection' }).click()
  await page.getByText('Connection created as a draft.').waitFor()
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

  // by keyboard alone, and without a script
  const focused = () => page.locator(':focus').getAttribute('name')
  t.equal(await focused(), 'username')
  await page.keyboard.type('ada')
  await page.keyboard.press('Enter')
  await page.getByLabel('Password').waitFor()
  t.equal(await focused(), 'password')
  t.equal(await page.getByLabel('Username or email').inputValue(), 'ada', 'for password managers')
  await page.setViewportSize(PHONE)
  await keep(page, 'connections-password-phone')
  await page.getByRole('link', { name: 'Other ways to sign in' }).click()
  await page.getByText('Continue with Acme Corporation').waitFor()
})
