/**
 * Self sign-up in Chromium: opened in the console, asked for on a phone without JavaScript, approved by
 * keyboard, and come in; refused on a phone without JavaScript.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { codeIn, linkIn } from '../control-plane/realm/mail-visits.ts'
import { DESK, PHONE, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep } from '../support/console-browser.ts'
import { startConsoleStory } from '../support/console-story.ts'
import { untilFound } from '../support/fleet.ts'

const PASSWORD = 'nine purple lanterns float'

t.test('asked for on a phone, approved by keyboard', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const story = await startConsoleStory(t, 'acme-sign-up')
  const { fleet, tenant, chromium, desk, plain, at, look } = story
  const file = join(fleet.folder, 'data', 'mailbox.jsonl')
  const application = `${tenant.edge()}/dashboard`

  const mailTo = (to: string, isMeant: (text: string) => boolean) =>
    untilFound(() =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .filter((line) => line.includes(to))
        .map((line) => (JSON.parse(line) as { text: string }).text)
        .find(isMeant),
    )

  async function ask(page: Page, email: string) {
    await page.goto(application)
    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
  }

  const { page } = plain // the administrator, without a script
  await page.goto(at('/policies/password'))
  await page.getByLabel('Who can create an account').selectOption('approval')
  await keep(page, 'policy-sign-up-phone')
  await page.getByRole('button', { name: 'Preview impact' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  t.match(await page.textContent('.receipt'), 'Passwords policy saved.')
  await page.goto(at('/sign-ups'))
  await keep(page, 'sign-ups-none-phone')

  const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await phone.page.goto(application)
  await keep(phone.page, 'sign-in-with-sign-up-phone')
  await phone.page.getByRole('link', { name: 'Create an account' }).click()
  await keep(phone.page, 'sign-up-address-phone')
  await ask(phone.page, 'grace@company.example')
  await keep(phone.page, 'sign-up-asked-phone')
  const text = await mailTo('grace@company.example', (text) => codeIn(text) !== '')
  await phone.page.goto(linkIn(text))
  await keep(phone.page, 'sign-up-opened-phone')
  await phone.page.getByRole('button', { name: 'Confirm' }).click()
  await phone.page.getByLabel('Your name').fill('Grace Hopper')
  await phone.page.locator('[name=password]').fill(PASSWORD)
  await phone.page.locator('[name=repeated]').fill(PASSWORD)
  await keep(phone.page, 'sign-up-details-phone')
  await phone.page.getByRole('button', { name: 'Request account' }).click()
  await phone.page.getByRole('heading', { name: 'Waiting for approval' }).waitFor()
  await keep(phone.page, 'sign-up-waiting-phone')

  const own = await chromium.page({ viewport: DESK })
  await ask(own.page, 'eve@company.example')
  await look(own.page, 'sign-up-asked-desk')
  const code = codeIn(await mailTo('eve@company.example', (text) => codeIn(text) !== ''))
  await own.page.getByLabel('Code from the email').fill(code)
  await own.page.keyboard.press('Enter')
  await own.page.getByLabel('Your name').fill('Eve')
  await own.page.locator('[name=password]').fill('short')
  await own.page.locator('[name=repeated]').fill('short')
  await own.page.keyboard.press('Enter')
  await own.page.getByRole('heading', { name: 'Create an account' }).waitFor()
  await look(own.page, 'sign-up-details-wrong-desk')
  await own.page.locator('[name=password]').fill(PASSWORD)
  await own.page.locator('[name=repeated]').fill(PASSWORD)
  await own.page.keyboard.press('Enter')
  await own.page.getByRole('heading', { name: 'Waiting for approval' }).waitFor()
  await look(own.page, 'sign-up-waiting-desk')

  await desk.page.goto(at('/users'))
  await desk.page.getByRole('link', { name: 'Account requests (2)' }).click()
  await look(desk.page, 'sign-ups-desk')
  await desk.page.getByRole('button', { name: 'Approve grace@company.example' }).focus()
  await desk.page.keyboard.press('Enter')
  await desk.page.getByText('grace@company.example is approved').waitFor()
  await look(desk.page, 'sign-ups-approved-desk')
  await page.goto(at('/sign-ups'))
  await keep(page, 'sign-ups-phone')
  await page.getByRole('link', { name: 'Refuse' }).click()
  await keep(page, 'sign-up-refuse-phone')
  await page.getByRole('button', { name: 'Refuse request' }).click()
  t.match(await page.textContent('main'), /No requests are waiting/)

  await mailTo('grace@company.example', (text) => text.includes('approved your account'))
  await phone.page.goto(application)
  await phone.page.fill('[name=username]', 'grace@company.example')
  await phone.page.fill('[name=password]', PASSWORD)
  await phone.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await phone.page.waitForURL(application)
  t.match(await phone.page.textContent('body'), /user=usr_/)
  t.same(
    own.complaints.filter((text) => /Content Security Policy|refused/i.test(text)),
    [],
  )
})
