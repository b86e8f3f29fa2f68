/**
 * A person and their own account in Chromium: sessions at the application's own address, the rest
 * at the realm, a passkey set up and shown there.
 */
import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../support/application.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { axeViolations } from '../support/console-browser.ts'
import { sharedFleet } from '../support/shared-fleet.ts'

const folder = process.env['SCREENSHOTS']
if (folder !== undefined) mkdirSync(folder, { recursive: true })

async function keep(page: Page, name: string) {
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

async function violations(page: Page): Promise<string[]> {
  // all rules there are
  return (await axeViolations(page, { resultTypes: ['violations'] })).flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html}`),
  )
}

/** On the page the reader's own zone, UTC when pointed at. */
async function tellsOwnTime(page: Page, timeZone: string) {
  const time = page.locator('time').first()
  const at = Date.parse((await time.getAttribute('datetime')) ?? '')
  const lang = (await page.getAttribute('html', 'lang')) ?? ''
  const inZone = (zone: string) =>
    new Intl.DateTimeFormat(lang, {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: zone,
    }).format(at)
  t.equal(await time.textContent(), inZone(timeZone), 'the reader’s own time')
  t.equal(await time.getAttribute('title'), `${inZone('UTC')} UTC`, 'with UTC at hand')
}

async function signIn(page: Page, url: string) {
  await page.goto(url)
  await page.fill('[name=username]', 'ada')
  await page.fill('[name=password]', PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL(url)
}

t.test('sessions, and a passkey, by buttons', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const fleet = await sharedFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'acme-account', application.origin)
  const chromium = await startChromium(t)
  const me = `${tenant.edge()}/service/me`
  const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  const inIndia = { viewport: DESK, timezoneId: 'Asia/Kolkata' }
  const desk = await chromium.page({ ...inIndia, colorScheme: 'dark' })
  for (const { page } of [phone, desk]) await signIn(page, me)

  await phone.page.goto(me)
  await keep(phone.page, 'me-phone')
  await keep(desk.page, 'me-desk-dark')
  t.same(await violations(desk.page), [])
  await tellsOwnTime(desk.page, 'Asia/Kolkata')
  t.match(await phone.page.locator('time').first().textContent(), / UTC$/, 'without scripts UTC')
  await phone.page.locator('[name=sid] ~ button').click()
  t.match(await phone.page.textContent('[role=status]'), /Session ended/)
  await desk.page.goto(me)
  t.match(
    desk.page.url(),
    `${fleet.baseUrl}/auth/realms/acme-account/sign-in/`,
    'the other one is out',
  )
  await phone.page.getByRole('button', { name: 'Forget' }).first().click()
  t.match(await phone.page.textContent('[role=status]'), /Browser forgotten/)

  const { page, context, complaints } = desk
  await signIn(page, me)
  await page.getByRole('link', { name: 'Password and account' }).click()
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  await tellsOwnTime(page, 'Asia/Kolkata')
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Set up a passkey' }).click()
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  await page.getByRole('button', { name: 'I saved them, continue' }).click()
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  t.match(await page.textContent('main'), /10 left/)
  await keep(page, 'account-desk-dark')

  // A browser that was left open: the proof is over, and the session was opened with a password
  await context.clearCookies({ name: /_proof/ })
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('heading', { name: "Confirm it's you" }).waitFor()
  const forms = page.locator('form[data-passkey]')
  await forms.locator('[type=password]').fill(PASSWORD)
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.getByRole('button', { name: 'Continue with your passkey' }).click()
  await page.getByText('Second factor removed').waitFor()
  t.match((await sent).url(), '/account/factor', 'what was asked for went on behind the question')
  t.match(await page.textContent('main'), /None yet/)
  t.same(
    complaints.filter((text) => /Content Security Policy|refused/i.test(text)),
    [],
  )
})
