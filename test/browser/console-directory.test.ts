// long: a browser, and a database of an application
/** A user directory in Chromium: a table of an application's own, tried, saved, used, removed. */
import t from 'tap'
import { WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startConsoleStory } from '../support/console-story.ts'
import { NO_POSTGRES, startPostgres } from '../support/postgres.ts'
import {
  ADA_EMAIL,
  COLUMNS,
  fillDatabase,
  PASSWORD,
  QUERIES,
  READER,
} from '../control-plane/user-directory/directory-world.ts'

const skip = WITHOUT_CHROMIUM || NO_POSTGRES

t.test('people of an own database sign in', { skip }, async (t) => {
  const database = await startPostgres(t)
  await fillDatabase(database)
  const { tenant, chromium, desk, plain, at, look, lookAt } = await startConsoleStory(
    t,
    'acme-directory',
  )
  await lookAt('/directory', 'directory-none')
  await lookAt('/directory/edit', 'directory-edit')
  const { page } = plain // without a script
  await page.goto(at('/directory'))
  await page.getByRole('link', { name: 'Connect a database' }).click()
  const fields: Record<string, string> = {
    host: '127.0.0.1',
    port: String(database.port),
    database: 'app',
    username: READER.username,
    password: 'not this one',
    query: QUERIES.postgres,
    ...Object.fromEntries(Object.entries(COLUMNS).map(([role, name]) => [`column_${role}`, name])),
    login: ADA_EMAIL,
  }
  for (const [name, value] of Object.entries(fields)) await page.fill(`[name=${name}]`, value)
  await page.selectOption('[name=tls]', 'off')
  await page.getByRole('button', { name: 'Test' }).click()
  t.match(await page.textContent('main'), /The test failed.*Connect.*failed/s)
  t.equal(await page.inputValue('[name=password]'), '')
  t.equal(await page.inputValue('[name=host]'), '127.0.0.1', 'all else stays')
  await page.fill('[name=password]', READER.password)
  await page.getByRole('button', { name: 'Test' }).click()
  t.match(await page.textContent('main'), /The test passed.*User found \(masked\)/s)
  await page.getByRole('button', { name: 'Save' }).click()
  t.match(await page.textContent('.receipt'), 'User directory saved.')

  const visitor = await chromium.page()
  await visitor.page.goto(`${tenant.edge()}/dashboard`)
  await visitor.page.fill('[name=username]', ADA_EMAIL)
  await visitor.page.fill('[name=password]', PASSWORD)
  await visitor.page.keyboard.press('Enter')
  await visitor.page.waitForURL(`${tenant.edge()}/dashboard`)

  await lookAt('/directory', 'directory')
  await lookAt('/directory/remove', 'directory-remove')
  const { page: wide } = desk
  await wide.goto(at('/directory'))
  await wide.fill('[name=login]', ADA_EMAIL)
  await wide.keyboard.press('Enter')
  await wide.getByText('The test passed.').waitFor()
  await look(wide, 'directory-tried-desk-dark')
  await wide.getByRole('link', { name: 'Remove directory' }).press('Enter')
  await wide.getByRole('button', { name: 'Remove directory' }).press('Enter')
  await wide.getByText('User directory removed.').waitFor()
})
