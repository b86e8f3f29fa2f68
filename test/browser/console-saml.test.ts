/** A SAML connection in Chromium: from its metadata to the test sign-in, and its certificates. */
import t from 'tap'
import {
  metadataXml,
  newEcKey,
  newSigningKey,
} from '../control-plane/realm/connections/saml/saml-peer.ts'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/connections'

t.test(
  'a SAML connection is made, changed and activated',
  { skip: WITHOUT_CHROMIUM },
  async (t) => {
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
        await keep(page, `saml-${name}-${where}`)
      }
      await page.setViewportSize(DESK)
    }
    const key = await newSigningKey()
    const next = newEcKey()

    await page.goto(at(PAGE))
    await page.getByRole('link', { name: 'SAML 2.0' }).click()
    await page.getByText('Microsoft Entra ID').click()
    await seen('new')
    await page.getByLabel('Name', { exact: true }).fill('Acme')
    await page.locator('#metadata').fill('<html></html>')
    await page.locator('#groups_attribute').fill('groups')
    await page.locator('#groups').fill('CN=Finance,DC=acme = finance')
    await page.getByRole('button', { name: 'Create connection' }).click()
    await page.getByText('this is not SAML metadata').last().waitFor()
    await seen('refused')
    await page.locator('#file').setInputFiles({
      name: 'metadata.xml',
      mimeType: 'text/xml',
      buffer: Buffer.from(metadataXml([key.certificate, next.certificate])),
    })
    await page.locator('#metadata').fill('')
    await page.getByRole('button', { name: 'Create connection' }).click()
    await page.getByText('Connection created as a draft.').waitFor()
    await page.getByText('Where each of them goes').click()
    await seen('draft')

    const [draft] = await services.connections.list('acme')
    const { connectionId, updatedAt } = draft!
    const saml = await services.samlConnections.get('acme', connectionId)
    t.same(saml.groups, [{ value: 'CN=Finance,DC=acme', group: 'finance' }])
    t.equal(saml.certificates.length, 2)
    await services.connections.noteTested('acme', connectionId, updatedAt, ACTOR)
    await page.reload()
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('Connection activated.').waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await seen('edit')
    await page.locator('#name_attribute').fill('cn')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const changed = await services.samlConnections.get('acme', connectionId)
    t.same([changed.state, changed.nameAttribute, changed.certificates.length], ['active', 'cn', 2])
  },
)
