/** People of the console in Chromium: a page per person, colleagues, keys, and forms that went stale. */
import t, { type Test } from 'tap'
import type { Page } from 'playwright-core'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep, violations } from '../support/console-browser.ts'
import { CONSOLE_PASSWORD, type Person, giveRole } from '../support/console.ts'
import { addFactor } from '../support/factors.ts'
import { serveConsole } from '../support/served-console.ts'
import { failSignIns, signIns } from '../support/sign-ins.ts'

const OPTIONS = { skip: WITHOUT_CHROMIUM }
const PHONE = { width: 390, height: 844 }
const ACME = '/console/tenants/acme/administrators'

async function start(t: Test) {
  const served = await serveConsole(t)
  const chromium = await startChromium(t)
  /** Without a script, as everything has to work. */
  const open = async (person: Person, path: string, options = {}) => {
    const tab = await chromium.page({ viewport: DESK, javaScriptEnabled: false, ...options })
    await served.enter(tab.context, person)
    await tab.page.goto(served.at(path))
    return tab
  }
  let tab: ReturnType<typeof chromium.page> | undefined
  /** At a desk in the dark, and as on a phone: opened once, and seen in both ways. */
  const look = async (person: Person, path: string, name: string) => {
    const { page, context } = await (tab ??= chromium.page())
    await context.clearCookies()
    await served.enter(context, person)
    await page.goto(served.at(path))
    for (const [where, viewport, colorScheme] of [
      ['desk-dark', DESK, 'dark'],
      ['phone-light', PHONE, 'light'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      t.same(await violations(page), [], `${name}, ${where}`)
      await keep(page, `${name}-${where}`)
    }
  }
  return { ...served, chromium, open, look }
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).press('Enter')

t.test('an administrator invites a colleague, who accepts', OPTIONS, async (t) => {
  const { services, person, open, look, at, chromium } = await start(t)
  const ada = await person('acme', 'Ada Lovelace')
  const links: string[] = []
  await look(ada, ACME, 'administrators-alone')
  const { page } = await open(ada, ACME)
  await page.fill('[name=email]', 'bob@acme.test')
  await press(page, 'Send invitation')
  t.match(await page.textContent('.receipt'), 'An invitation is on its way to bob@acme.test.')
  await look(ada, ACME, 'administrators')

  const { accountMail } = services
  const invite = accountMail.inviteColleague
  accountMail.inviteColleague = async (change, tenantId, letter, language) => {
    links.push(letter.link)
    return invite(change, tenantId, letter, language)
  }
  await press(page, 'Resend')
  t.match(await page.textContent('.receipt'), 'A new link is on its way')
  const bob = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await bob.page.goto(links[0] ?? '')
  t.match(await bob.page.textContent('h1'), 'Administer acme')
  await keep(bob.page, 'invitation-phone-light')
  await bob.page.fill('[name=name]', 'Bob Builder')
  await bob.page.fill('[name=password]', CONSOLE_PASSWORD)
  await press(bob.page, 'Create account')
  t.match(await bob.page.textContent('h1'), 'Account created')
  await keep(bob.page, 'invitation-done-phone-light')
  await page.goto(at(ACME))
  t.match(await page.textContent('table'), /Bob Builder.*bob@acme\.test/s)
  const desk = await chromium.page({ viewport: DESK, colorScheme: 'dark' })
  await desk.page.goto(links[0] ?? '')
  t.match(await desk.page.textContent('main'), /ticket_spent/)
  await keep(desk.page, 'invitation-over-desk-dark')
})

t.test('an operator looks at a person, and helps', OPTIONS, async (t) => {
  const { services, person, open, look } = await start(t)
  const grace = await person('operator', 'Grace Hopper')
  const ada = await person('acme', 'Ada Lovelace')
  const owner = { tenantId: 'console', userId: ada.userId }
  await giveRole(services, ada.userId, 'other')
  await signIns(services, owner, 1)
  await addFactor(services, owner)
  const { lockout } = await services.policies.of('console')
  await failSignIns(services, owner, lockout.user_failures, { ip: '203.0.113.9' })
  const path = `/console/people/${ada.userId}`
  await look(grace, path, 'person')
  const { page } = await open(grace, '/console/people?tenant_id=acme')
  await page.getByRole('link', { name: 'Ada Lovelace', exact: true }).press('Enter')
  t.match(await page.textContent('[role=alert]'), 'Account locked')
  t.match(await page.textContent('#audit'), /lockout policy.*Account locked/s)
  await press(page, 'Unlock now')
  t.match(await page.textContent('.receipt'), 'can sign in again now')
  await page.getByRole('link', { name: 'Reset second factors' }).press('Enter')
  await press(page, 'Reset second factors')
  t.match(await page.textContent('.receipt'), 'Second factors reset.')
  for (const action of ['sign-out', 'reset-factors', 'revoke-access'])
    await look(grace, `${path}/${action}`, `person-${action}`)
  await page.getByRole('link', { name: 'Revoke access' }).press('Enter')
  await press(page, 'Revoke access')
  t.match(await page.textContent('.receipt'), 'Ada Lovelace no longer has access.')
})

t.test('the keys of the console are rotated by keyboard', OPTIONS, async (t) => {
  const { person, open, look } = await start(t)
  const grace = await person('operator', 'Grace Hopper')
  const { page } = await open(grace, '/console/tenants')
  await page.getByRole('link', { name: 'Console keys' }).press('Enter')
  await press(page, 'Publish next key')
  t.match(await page.textContent('.receipt'), 'Next key published.')
  await page.getByRole('link', { name: 'Start signing' }).press('Enter')
  await press(page, 'Start signing')
  t.match(await page.textContent('.receipt'), 'Key rotated.')
  await look(grace, '/console/keys', 'keys-of-console')
  await look(grace, '/console/keys/retire', 'keys-of-console-retire')
})

t.test('what was typed survives another tab, and being signed out', OPTIONS, async (t) => {
  const { services, person, signedIn, open, enter, at, look } = await start(t)
  const ada = await person('acme', 'Ada Lovelace')
  const form = '/console/tenants/acme/users/new'
  const { page, context } = await open(ada, form)
  const type = async (email: string) => {
    await page.fill('[name=email]', email)
    await page.fill('[name=name]', 'Bob Builder')
  }
  await type('bob@acme.test')
  await enter(context, await signedIn(ada.userId)) // a fresh sign-in in another tab
  await press(page, 'Create user')
  t.match(await page.textContent('.receipt'), 'An invitation is on its way')

  await page.goto(at(form))
  await type('eve@acme.test')
  await page.fill('[name=password]', CONSOLE_PASSWORD)
  await context.clearCookies()
  await press(page, 'Create user')
  t.match(await page.textContent('main'), /not signed in.*What you typed is kept for an hour/s)
  await keep(page, 'signed-out-desk-light')
  const link = await page.getByRole('link', { name: 'Sign in and go back' }).getAttribute('href')
  const back = new URL(link ?? '', 'http://x').searchParams.get('return_to') ?? ''
  const again = await signedIn(ada.userId)
  await enter(context, again)
  await page.goto(at(back))
  t.match(await page.textContent('[role=alert]'), 'You were signed out when you sent this form')
  t.equal(await page.inputValue('[name=email]'), 'eve@acme.test')
  t.equal(await page.inputValue('[name=password]'), '')
  await look(again, back, 'unsent')
  await press(page, 'Create user')
  t.match(await page.textContent('.receipt'), 'An invitation is on its way')

  await page.goto(at(form))
  await type('mia@acme.test')
  await enter(context, await person('acme', 'Someone Else'))
  await press(page, 'Create user')
  t.match(await page.textContent('[role=alert]'), 'with another account')
  t.equal(await page.inputValue('[name=name]'), 'Bob Builder')
  await keep(page, 'stale-desk-light')
  t.equal(await services.users.byLogin('acme', 'mia@acme.test'), undefined)
})
