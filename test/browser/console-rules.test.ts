/** Access rules in Chromium: one is written by keyboard and without scripts, at a desk and on a phone. */
import t from 'tap'
import { HOUR_MS } from '../../shared/clock.ts'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/rules'

t.test('a rule is written, looked at and asked about', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  const { accessRules, groups, users, sessions, clock } = services
  for (const name of ['finance', 'administrators of the warehouse system'])
    await groups.create('acme', { name, description: 'Books and invoices' }, ACTOR)
  const account = { username: 'bob', email: 'bob@example.test', name: 'Bob', password: '' }
  const { userId } = await users.create('acme', account, ACTOR)
  const issuedAtMs = clock.nowMs()
  const times = { issuedAtMs, expiresAtMs: issuedAtMs + HOUR_MS }
  const session = { tenantId: 'acme', sid: 'bobs', userId, ip: '198.51.100.7', userAgent: 'test' }
  await sessions.record({ ...session, ...times })
  const networks = { office: ['192.0.2.0/24', '2001:db8:1234::/48'] }
  const rules = [
    { path: '/', allow: [{ signed_in: true as const }] },
    {
      path: '/admin',
      methods: ['GET', 'POST'],
      allow: [
        { group: 'administrators of the warehouse system', strength: 'mfa' as const, max_age: 900 },
      ],
      deny: [{ not_network: 'office' }],
    },
  ]
  await accessRules.put('acme', { networks, rules, contact: 'help@example.test' }, ACTOR)
  const ada = await person('acme', 'Ada')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({
    viewport: DESK,
    colorScheme: 'light',
    javaScriptEnabled: true,
  })
  await enter(context, ada)
  await page.goto(at(PAGE))
  t.same(await violations(page), [], 'the list')
  await keep(page, 'rules-desk-light')
  await page.getByRole('link', { name: 'Add a rule' }).click()
  t.same(await violations(page), [], 'the form')
  await keep(page, 'rule-form-desk-light')
  await page.getByRole('textbox', { name: 'Path' }).fill('/reports')
  await page.getByLabel('Member of', { exact: true }).first().selectOption('finance')
  await page.keyboard.press('Tab')
  await page.getByRole('textbox', { name: 'Path' }).press('Enter')
  await page.getByText('Could no longer open it').waitFor()
  t.same(await violations(page), [], 'its effect')
  await keep(page, 'rule-effect-desk-light')
  await page.getByRole('button', { name: 'Save anyway' }).click()
  await page.getByText('Rule saved.').waitFor()
  t.equal((await accessRules.of('acme')).rules.length, 3)

  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(at(PAGE))
  t.same(await violations(page), [], 'the list on a phone, in the dark')
  await keep(page, 'rules-phone-dark')
  await page.goto(at(`${PAGE}/1`))
  t.same(await violations(page), [], 'the form on a phone')
  await keep(page, 'rule-form-phone-dark')
  await page.goto(at(`${PAGE}/1/remove`))
  await keep(page, 'rule-remove-phone-dark')
  await page.goto(at(`${PAGE}/who?path=/reports/2026&person=bob`))
  t.same(await violations(page), [], 'who can open it')
  await keep(page, 'rule-who-phone-dark')
  await page.goto(at(`${PAGE}/json`))
  t.same(await violations(page), [], 'as JSON')
  await page.goto(at('/console/tenants/acme/groups/finance'))
  t.same(await violations(page), [], 'a group')
  await keep(page, 'group-phone-dark')
  await page.setViewportSize(DESK)
  await page.goto(at('/console/tenants/acme/groups'))
  t.same(await violations(page), [], 'groups')
  await keep(page, 'groups-desk-dark')
  await page.goto(at(`${PAGE}/who`))
  await keep(page, 'rule-who-desk-dark')
})
