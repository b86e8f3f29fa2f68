/** Users in Chromium: somebody invited, changed, locked out and let in, disabled, removed. */
import t from 'tap'
import { PASSWORD } from '../support/application.ts'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startConsoleStory } from '../support/console-story.ts'

const LABEL_HEIGHTS = `[...document.querySelectorAll('.filters label')].map((one) => one.offsetHeight)`

t.test('a user from the invitation to the end', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { fleet, tenant, chromium, desk, plain, at, look, lookAt } = await startConsoleStory(
    t,
    'acme-users',
  )
  const { page } = plain // without a script
  await page.goto(at('/users'))
  t.match(await page.textContent('main'), 'ada@')
  await page.getByRole('link', { name: 'New user' }).click()
  await page.fill('[name=email]', 'bob@acme.test')
  await page.fill('[name=password]', 'tiny')
  await page.fill('[name=name]', 'Bob <b>Builder</b>')
  await page.getByRole('button', { name: 'Create user' }).click()
  t.match(await page.textContent('#password-error'), 'Must be text of at least')
  t.equal(await page.inputValue('[name=password]'), '', 'a password is not shown back')
  t.equal(await page.inputValue('[name=name]'), 'Bob <b>Builder</b>')
  await page.getByRole('button', { name: 'Create user' }).click()
  t.match(await page.textContent('.receipt'), /created\. An invitation is on its way/)
  t.equal(await page.textContent('h1'), 'Bob <b>Builder</b>')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.fill('[name=name]', 'Bob Builder')
  await page.getByRole('button', { name: 'Save' }).click()
  t.match(await page.textContent('.receipt'), 'Changes to Bob Builder saved.')
  await page.getByRole('button', { name: 'Resend invitation' }).click()
  t.match(await page.textContent('.receipt'), 'Link sent to bob@acme.test.')

  // ada signs in, and then somebody guesses
  const visitor = await chromium.page()
  const application = `${tenant.edge()}/dashboard`
  const signIn = async (password: string) => {
    await visitor.page.fill('[name=username]', 'ada')
    await visitor.page.fill('[name=password]', password)
    await visitor.page.keyboard.press('Enter')
    await visitor.page.waitForLoadState()
  }
  await visitor.page.goto(application)
  await signIn(PASSWORD)
  await visitor.page.waitForURL(application)
  await visitor.context.clearCookies()
  await fleet.operator('PUT', '/tenants/acme-users/policies/lockout', { user_failures: 2 })
  await visitor.page.goto(application)
  for (const guess of ['letmein1', 'letmein2']) await signIn(guess)

  await page.goto(at('/users?q=ada'))
  await page.locator('tbody a').first().click()
  const ofAda = new URL(page.url()).pathname.replace('/console/tenants/acme-users', '')
  await lookAt(ofAda, 'user')
  await page.reload()
  t.match(await page.textContent('[role=alert]'), /too many failed sign-ins/)
  t.match(await page.textContent('#sign-ins'), /wrong password.*signed in/s)
  t.match(await page.textContent('#sessions'), 'Chrome')
  await page.getByRole('button', { name: 'Unlock now' }).click()
  t.match(await page.textContent('.receipt'), 'can sign in again')
  t.equal(await page.locator('[role=alert]').count(), 0)
  await signIn(PASSWORD)
  await visitor.page.waitForURL(application)

  await lookAt('/users', 'users')
  for (const one of [plain.page, desk.page]) {
    await one.goto(at('/users'))
    const heights = await one.evaluate<number[]>(LABEL_HEIGHTS)
    t.equal(new Set(heights).size, 1, 'each label of the search is one line')
  }
  await lookAt('/users/new', 'user-new')
  await lookAt('/address-blocks', 'address-blocks')
  await lookAt(`${ofAda}/remove`, 'user-remove')

  // by keyboard, with a script: the receipt says that the gateway refuses what was revoked
  const { page: wide } = desk
  await wide.goto(at('/users'))
  const all = wide.getByRole('button', { name: 'Select all on this page' })
  const boxes = wide.locator('[name=user_id]')
  const ticked = wide.locator('[name=user_id]:checked')
  await all.press('Enter')
  t.equal(await ticked.count(), await boxes.count())
  await all.press('Enter')
  t.equal(await ticked.count(), 0)
  await wide.goto(at(ofAda))
  await wide.getByRole('link', { name: 'Disable account' }).press('Enter')
  t.match(await wide.textContent('main'), /active sessions? ends? immediately.*can.t sign in/s)
  await look(wide, 'user-disable-desk-dark')
  await wide.getByRole('button', { name: 'Disable account' }).press('Enter')
  await wide.locator('.receipt', { hasText: 'Enforced on 1 of 1' }).waitFor()
  const answer = await visitor.page.goto(application)
  t.match(answer?.url(), `${fleet.baseUrl}/auth/realms/acme-users`, 'signed out at the gateway')
  await wide.getByRole('button', { name: 'Enable account' }).press('Enter')
  await wide.getByText('can sign in again.').first().waitFor()
  await wide.getByRole('link', { name: 'Delete user' }).press('Enter')
  await wide.getByRole('button', { name: 'Delete user' }).press('Enter')
  await wide.waitForURL(/\/users\?done=/)
  t.match(await wide.textContent('.receipt'), 'is deleted.')
  t.notMatch(await wide.textContent('table'), /\bada\b/)
})
