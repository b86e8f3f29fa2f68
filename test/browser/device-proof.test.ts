/**
 * On which machine a real Chromium runs: it goes to the loopback address by itself, asks nobody for
 * leave, and comes back to the tab that waits. Control plane and gateway are programs, and the agent is
 * the one that is handed out, on its own port.
 */
import type { BrowserContextOptions } from 'playwright-core'
import * as v from 'valibot'
import t from 'tap'
import { request } from 'undici'
import { writeFacts } from '../../control-plane/downloads/device-agent/running/facts-file.ts'
import { CollectedSchema } from '../../control-plane/downloads/device-agent/running/posture.ts'
import { DEVICE_FACTS } from '../../shared/device/facts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { installAgent } from '../support/agent-program.ts'
import { addUser, PASSWORD, startApplication, startTenant } from '../support/application.ts'
import { PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep, violations } from '../support/console-browser.ts'
import { sharedFleet } from '../support/shared-fleet.ts'

const ID = 'proven'
const AT_HOME = /\/work$/

const collected = (hasFirewall: boolean) =>
  v.parse(CollectedSchema, {
    version: 1,
    up_s: 1,
    facts: Object.fromEntries(
      DEVICE_FACTS.map((name) =>
        name === 'firewall' && !hasFirewall
          ? [name, { value: false, reason: 'no_firewall' }]
          : [name, { value: true, reason: 'on' }],
      ),
    ),
    os: { id: 'debian', version: '12' },
  })

void t.test('Chromium and the agent of its machine', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const fleet = await sharedFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, ID, application.origin)
  const bob = await addUser(fleet, ID, 'bob')
  const policy = { require: 'enrolled', facts: ['firewall'] }
  await fleet.operator('PUT', `/tenants/${ID}/policies/device`, policy)
  const agent = await installAgent(t, fleet, { tenantId: ID })
  await writeFacts(agent.facts, collected(true))
  await agent.run()
  const chromium = await startChromium(t)

  /** At the page that asks for the device. */
  async function signIn(username: string, options: BrowserContextOptions = {}) {
    const { page } = await chromium.page(options)
    await page.goto(`${tenant.edge()}/work`)
    await page.getByLabel('Username or email').fill(username)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check this device' }).waitFor()
    return page
  }

  await t.test('by keyboard, without a prompt; the first tab goes on by itself', async (t) => {
    const page = await signIn('ada')
    const asked: string[] = []
    page.context().on('request', (sent) => {
      const { port } = new URL(sent.url())
      if (port === String(LIMITS.deviceProofPort)) asked.push(sent.resourceType())
    })
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Check this device' }).focus()
    await page.keyboard.press('Enter')
    const tab = await opened
    await tab.getByRole('heading', { name: 'This device was checked' }).waitFor()
    t.equal(await tab.evaluate('window.opener'), null)
    await page.waitForURL(AT_HOME)
    t.strictSame(asked, ['document'], 'one navigation, no preflight')
    t.match(application.received.at(-1)?.headers, { 'x-service-user': tenant.ada })
    const path = `/tenants/${ID}/devices/${agent.deviceId}`
    t.match((await fleet.operator('GET', path)).body, { user_id: tenant.ada })

    await page.goto(`${tenant.edge()}/service/me`)
    await page.getByRole('heading', { name: 'Devices with our agent' }).waitFor()
    await keep(page, 'device-me-phone')
    await page.goto(`${fleet.baseUrl}/auth/realms/${ID}/account`)
    await page.getByRole('heading', { name: 'Devices with our agent' }).waitFor()
    t.same(await violations(page), [])
    await keep(page, 'device-account-phone')
  })

  await t.test('without JavaScript and on a phone: a link and a button', async () => {
    await fleet.operator('PATCH', `/tenants/${ID}/devices/${agent.deviceId}`, { owner: bob })
    const page = await signIn('bob', { javaScriptEnabled: false, viewport: PHONE })
    await keep(page, 'device-asked-phone')
    await writeFacts(agent.facts, collected(false))
    const check = async (name: string) => {
      const opened = page.context().waitForEvent('page')
      await page.getByRole('link', { name }).click()
      const tab = await opened
      await tab.getByRole('heading', { name: 'This device was checked' }).waitFor()
      await tab.close()
    }
    await check('Check this device')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: /doesn’t meet the requirements/ }).waitFor()
    await keep(page, 'device-failing-phone')
    await writeFacts(agent.facts, collected(true))
    await check('Check again')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(AT_HOME)
  })

  await t.test('a second profile with the link is refused, and burns it', async (t) => {
    const page = await signIn('ada')
    const uid = /sign-in\/([\w-]+)/.exec(page.url())?.[1] ?? ''
    const at = `${fleet.baseUrl}/auth/realms/${ID}/sign-in/${uid}/device`
    const sent = await page.context().request.get(at, { maxRedirects: 0 })
    const challenge = sent.headers()['location'] ?? ''
    t.equal((await fetch(challenge)).status, 404, 'nothing but a navigation')
    const proven = await request(challenge)
    const confirm = String(proven.headers['location'])
    const other = await signIn('ada')
    await other.goto(confirm)
    await other.getByRole('heading', { name: /started in another browser/ }).waitFor()
    await page.goto(confirm)
    await page.getByRole('heading', { name: /has expired/ }).waitFor()
    const { body } = await fleet.operator('GET', `/audit?tenant_id=${ID}`)
    t.match(JSON.stringify(body), 'device.proof.foreign_browser')
  })
})
