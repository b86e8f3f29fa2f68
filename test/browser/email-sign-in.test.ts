/**
 * Sign-in by email in Chromium: turned on in the console, asked for on a phone without JavaScript and
 * come in by the link, at a desk by the code; and in another browser by neither.
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

t.test('a link on a phone, a code at a desk', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const story = await startConsoleStory(t, 'acme-email')
  const { fleet, tenant, chromium, desk, plain, at, look } = story
  const file = join(fleet.folder, 'data', 'mailbox.jsonl')
  const application = `${tenant.edge()}/dashboard`

  async function textOfNext(known: ReadonlySet<string>): Promise<string> {
    const texts = () =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .filter((line) => line.includes('Tenant acme-email'))
            .map((line) => (JSON.parse(line) as { text: string }).text)
        : []
    return untilFound(() => texts().find((text) => codeIn(text) !== '' && !known.has(text)))
  }

  async function ask(page: Page) {
    await page.goto(application)
    await page.fill('[name=username]', 'ada')
    await page.getByRole('button', { name: 'Email me a sign-in link' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
  }

  const before = await chromium.page({ viewport: PHONE })
  await before.page.goto(application)
  t.equal(await before.page.getByRole('button', { name: /Email me/ }).count(), 0, 'not so far')

  const { page } = plain // the administrator, without a script
  await page.goto(at('/policies/password'))
  await keep(page, 'policy-email-phone')
  await page.getByLabel('Let people sign in with an email').check()
  await page.getByRole('button', { name: 'Preview impact' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  t.match(await page.textContent('.receipt'), 'Passwords policy saved.')
  await desk.page.goto(at('/policies'))
  t.match(await desk.page.textContent('main'), /Sign-in by email\s*on/)

  const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await phone.page.goto(application)
  await keep(phone.page, 'sign-in-with-email-phone')
  await ask(phone.page)
  await keep(phone.page, 'email-asked-phone')
  const first = await textOfNext(new Set())
  const other = await chromium.page({ viewport: DESK })
  await other.page.goto(linkIn(first))
  await other.page.getByRole('heading', { name: 'Use the browser where you asked' }).waitFor()
  t.equal(await other.page.locator('form').count(), 0)
  await look(other.page, 'email-other-browser-desk')
  await phone.page.goto(linkIn(first))
  await keep(phone.page, 'email-opened-phone')
  t.match(await phone.page.textContent('main'), /as ada\?/)
  await phone.page.getByRole('button', { name: 'Sign in' }).click()
  await phone.page.waitForURL(application)
  t.match(await phone.page.textContent('body'), `user=${tenant.ada}`)

  const own = await chromium.page({ viewport: DESK })
  await ask(own.page)
  const second = await textOfNext(new Set([first]))
  await own.page.getByLabel('Code from the email').fill('0000 0000')
  await own.page.keyboard.press('Enter')
  await own.page.getByText('That code is not valid').first().waitFor()
  await look(own.page, 'email-wrong-code-desk')
  await own.page.getByLabel('Code from the email').fill(codeIn(second))
  await own.page.keyboard.press('Enter')
  await own.page.waitForURL(application)
  t.match(await own.page.textContent('body'), `user=${tenant.ada}`)
  await own.page.goto(linkIn(second))
  t.match(await own.page.textContent('body'), `user=${tenant.ada}`, 'signed in already')
  t.same(
    own.complaints.filter((text) => /Content Security Policy|refused/i.test(text)),
    [],
  )
})
