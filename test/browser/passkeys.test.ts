/** Passkeys with Chromium's own virtual authenticator: a browser that signs, and no finger. */
import type { Page } from 'playwright-core'
import t from 'tap'
import {
  PASSWORD,
  startWorld,
  type TestTenant,
  type World,
} from '../control-plane/realm/realm-world.ts'
import { begin, eventsOf, setPolicy } from '../control-plane/realm/steps.ts'
import { startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'

const options = { skip: WITHOUT_CHROMIUM }

async function withAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const isPresent = (enabled: boolean) =>
    session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
  const credentials = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return { isPresent, credentials, session, authenticatorId }
}

/** To the page behind the password; the application behind it all is a name that leads nowhere. */
async function enterPassword(world: World, tenant: TestTenant, page: Page) {
  const { flow } = await begin(world, tenant)
  const arrived = page
    .waitForRequest((request) => request.url().startsWith(tenant.redirectUri))
    .then((request) => request.url())
  arrived.catch(() => {}) // not every test arrives
  await page.goto(flow.url)
  await page.getByLabel('Username or email').fill('ada')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  const claims = async () => {
    const callback = await arrived
    // the browser's own page about it, which would interrupt what is opened next
    while (!page.url().startsWith('chrome-error:')) await page.waitForEvent('framenavigated')
    return (await flow.finish(callback)).claims()
  }
  return { flow, claims }
}

t.test('a passkey is set up on the way in', options, async (t) => {
  const world = await startWorld(t, { hostname: 'localhost' })
  const acme = await world.tenant('acme', { hostnames: ['acme.localhost'] })
  await setPolicy(world, 'mfa', { mode: 'required' })
  const { page, complaints } = await (await startChromium(t)).page()
  const { credentials } = await withAuthenticator(page)
  const first = await enterPassword(world, acme, page)
  await page.getByRole('button', { name: 'Set up a passkey' }).click()
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  t.equal((await credentials()).length, 1)
  await page.getByRole('button', { name: 'I saved them, continue' }).click()
  t.match(await first.claims(), { acr: 'aal2', amr: ['pwd', 'hwk', 'mfa'] })

  const refusals = complaints.filter((text) => /Content Security Policy|refused/i.test(text))
  t.same(refusals, [], 'the policy lets exactly this script run')
})

t.test(
  'a passkey signs in, its answer counts once, and strangers have none',
  options,
  async (t) => {
    const world = await startWorld(t, { hostname: 'localhost' })
    const acme = await world.tenant('acme', { hostnames: ['acme.localhost'] })
    await setPolicy(world, 'mfa', { mode: 'required' })
    const chromium = await startChromium(t)
    const { page, context } = await chromium.page()
    const { credentials, isPresent } = await withAuthenticator(page)
    const enrolled = await enterPassword(world, acme, page)
    await page.getByRole('button', { name: 'Set up a passkey' }).click()
    await page.getByRole('button', { name: 'I saved them, continue' }).click()
    await enrolled.claims()

    await context.clearCookies()
    const person = await enterPassword(world, acme, page)
    await page.getByRole('heading', { name: "Confirm it's you" }).waitFor()
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Use your passkey' }).click()
    const body = new URLSearchParams((await sent).postData() ?? '')
    t.match(await person.claims(), { acr: 'aal2', amr: ['pwd', 'hwk', 'mfa'] })
    const [credential] = await credentials()
    t.equal(credential?.signCount, 2)

    const thief = await begin(world, acme)
    await thief.password()
    const stolen = await thief.send({ passkey: body.get('passkey') ?? '' })
    t.equal(stolen.response.status, 422, 'it was signed for another sign-in')

    await context.clearCookies()
    await isPresent(false)
    await enterPassword(world, acme, page)
    await page.getByRole('button', { name: 'Use your passkey' }).waitFor()
    t.equal(await page.getByText('Passkeys need JavaScript').count(), 0)
    t.notOk(await page.getByRole('alert').isVisible())
    await page.evaluate('navigator.credentials.get = () => Promise.reject(new Error("cancelled"))')
    await page.getByRole('button', { name: 'Use your passkey' }).click()
    t.match(await page.getByRole('alert').textContent(), /did not work/)
    t.ok(await page.getByLabel('Recovery code').isVisible(), 'there is another way')
    t.equal((await eventsOf(world, 'signin.step_up')).length, 4)
  },
)

t.test('without JavaScript the page says so, and a code from paper works', options, async (t) => {
  const world = await startWorld(t, { hostname: 'localhost' })
  const acme = await world.tenant('acme', { hostnames: ['acme.localhost'] })
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  const [code = ''] = await world.store.change(async (change) => {
    const passkey = { id: 'AAAA', publicKey: 'AAAA', transports: [] }
    await world.factors.addPasskey(change, owner, passkey, 0)
    return world.factors.renewRecoveryCodes(change, owner)
  })
  const { page } = await (await startChromium(t)).page({ javaScriptEnabled: false })
  const person = await enterPassword(world, acme, page)
  await page.getByText('Passkeys need JavaScript').waitFor()
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.getByRole('heading', { name: "Confirm it's you" }).waitFor()
  await page.getByLabel('Recovery code').fill(code)
  await page.getByRole('button', { name: 'Confirm' }).click()
  t.match(await person.claims(), { acr: 'aal2', amr: ['pwd', 'otp', 'mfa'] })
})
