/**
 * From `curl | sh` to live in one command: a cloned Express application, a real edge, and a person who
 * allows it on the console's page in a browser, agrees twice and starts the application.
 */
import t from 'tap'
import { atTerminal } from '../../support/analyzer-program.ts'
import { addUser, PASSWORD, tenantBody } from '../../support/application.ts'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../../support/chromium.ts'
import { becomeOperator, linkForOperator } from '../../support/console-browser.ts'
import { startNewcomer } from '../../support/newcomer.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

const SHOP = {
  'package.json': `{
  "name": "shop",
  "version": "1.0.0",
  "private": true,
  "scripts": {
    "start": "node server.js"
  },
  "dependencies": {
    "express": "^5.0.0"
  }
}
`,
  'server.js': `const express = require('express')

const app = express()
const port = process.env.PORT ?? 3000

app.get('/', (request, response) => {
  const user = request.get('x-service-user') ?? 'a stranger'
  response.send(\`<!doctype html><h1>Welcome, \${user}</h1>\`)
})

app.get('/health', (request, response) => response.send('ok'))

app.listen(port, () => console.log(\`listening on \${port}\`))
`,
  '.gitignore': 'node_modules/\n.env\n',
}

const CODE = /(http:\S+\?code=\S+)\s+Check that it shows this code: (\S+)\r/

t.test('one command, three answers, and it is live', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const [fleet, newcomer, chromium] = await Promise.all([
    wholeFleet(t),
    startNewcomer(t, SHOP),
    startChromium(t),
  ])
  t.equal((await newcomer.run('npm', ['install'])).code, 0, 'their own packages')
  await newcomer.git('init', '--quiet')
  await newcomer.git('add', '--all')
  await newcomer.git('commit', '--quiet', '--message', 'a shop')
  const tenant = { plan: 'premium', sealed: [], excluded: [] }
  const body = tenantBody('setup-shop', newcomer.origin, tenant)
  t.equal((await fleet.operator('POST', '/tenants', body)).status, 201)
  const ada = await addUser(fleet, 'setup-shop', 'ada')
  await fleet.operator('POST', '/tenants/setup-shop/publish')
  await fleet.settled()
  await newcomer.start() // as it was before, and it goes on until somebody restarts it
  const { page } = await chromium.page({ viewport: DESK })
  await becomeOperator(page, await linkForOperator(fleet))

  const installed = await newcomer.shell(`curl -fsS ${fleet.baseUrl}/api/v1/cli/install | dash`)
  t.equal(installed.code, 0, installed.err)
  const environment = { ...newcomer.environment, PORT: String(newcomer.port) }
  const wish = { columns: 100, environment, folder: newcomer.folder }
  const session = atTerminal(t, 'service-analyzer setup', wish)

  await session.shown(CODE)
  const [, address = '', code = ''] = CODE.exec(session.screen()) ?? []
  await page.goto(address)
  t.equal(await page.textContent('.device-code'), code, 'the same code on both screens')
  if ((await page.locator('select[name=tenant_id]').count()) > 0)
    await page.selectOption('[name=tenant_id]', 'setup-shop')
  await page.getByRole('button', { name: 'Allow' }).click()

  await session.shown('and run npm install? [y/N]')
  session.type('y\r')
  await session.shown(/port \d+ runs without the middleware: restart it/)
  await newcomer.start()
  await session.shown('requires a sign-in. [y/N]')
  session.type('y\r')
  const { code: ended, screen } = await session.ended
  t.equal(ended, 0, screen.replaceAll(/\s+/g, ' ').slice(-600))

  const edge = fleet.edge('setup-shop.localhost')
  t.equal((await fleet.browser().once(`${edge}/`)).status, 302, 'a stranger is asked to sign in')
  const visitor = fleet.browser()
  const welcome = await visitor.signIn(`${edge}/`, 'ada', PASSWORD)
  t.match(welcome.text, `Welcome, ${ada}`)
  t.notMatch(screen + fleet.logs(), /sak_[\w-]{16}/, 'no key is on the screen or in a log')

  const undo = atTerminal(t, `service-analyzer undo --yes --go-back`, wish)
  t.match(await undo.ended, { code: 0, screen: /Protection is off/ })
  t.equal(await newcomer.git('status', '--porcelain', '--', 'server.js', 'package.json'), '')
})
