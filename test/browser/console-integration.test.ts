/**
 * An application is put behind the service in the console alone: its keys, code and guide, checks, a
 * trial sign-in, live and back again; then its signing key is rotated, and its neighbour in sdk mode
 * is watched. At a desk with scripts, on a phone without.
 */
import t from 'tap'
import type { Page } from 'playwright-core'
import { AI_KEY, startAiProvider } from '../support/ai-provider.ts'
import { tenantBody } from '../support/application.ts'
import {
  becomeOperator,
  GRACE,
  keep,
  linkForOperator,
  violations,
} from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { startFleet } from '../support/programs.ts'
import { startVerifyingApplication } from '../support/verifying-application.ts'

const SERVER = `import express from 'express'

const app = express()
app.get('/', (request, response) => response.send('Hello'))

app.listen(process.env.PORT ?? 3000)
`
const GUIDE = {
  framework: 'express',
  summary: 'A small Express application: the middleware goes before its only route.',
  edits: [
    {
      path: 'server.mjs',
      action: 'modify',
      find: "import express from 'express'\n\nconst app = express()\n",
      replace:
        "import express from 'express'\nimport { verifyClaims } from 'service-node'\n\nconst app = express()\napp.use(verifyClaims().express()) // before everything else\n",
      content: '',
      why: 'Mounts the middleware before everything else.',
    },
  ],
  notes: ['Behind a second proxy, let only the gateways reach the application.'],
  warnings: ['The file of public keys has to be there before the application starts.'],
}

t.test('from the keys to live and back', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const provider = await startAiProvider(t, 'openai')
  provider.says(GUIDE)
  process.env['SERVICE_AI_KEY'] = AI_KEY
  const { baseUrl: aiUrl } = provider.settings()
  const ai = `ai: { provider: openai, model: writer-1, base_url: "${aiUrl}" }`
  const fleet = await startFleet(t, { gatewayConfig: ai })
  delete process.env['SERVICE_AI_KEY']
  const { baseUrl } = fleet
  const application = await startVerifyingApplication(t, { tenantId: 'acme', baseUrl })
  const sealed = { name: 'Acme', sealed: ['/internal'] }
  const created = await fleet.operator(
    'POST',
    '/tenants',
    tenantBody('acme', application.origin, sealed),
  )
  const key = String(created.body['analyzer_key'])
  await fleet.operator('POST', '/tenants/acme/publish')
  await fleet.operator('POST', '/tenants/acme/users', {
    username: 'ada',
    email: 'ada@acme.test',
    name: 'Ada',
    password: 'correct horse battery staple',
  })
  const asked = {
    files: { 'server.mjs': SERVER },
    package_json: { dependencies: { express: '^5' } },
  }
  t.equal((await fleet.api(key, 'POST', '/ai-analyze', asked)).status, 200)
  await fleet.settled()

  const chromium = await startChromium(t)
  const at = (path: string) => `${baseUrl}/console/tenants/${path}`
  const { page, context, complaints } = await chromium.page({ viewport: DESK })
  await becomeOperator(page, await linkForOperator(fleet), GRACE)
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).first().click()
  const main = (on: Page = page) => on.textContent('main')

  // the key: from Start, shown, replaced with time to spare
  await page.goto(at('acme'))
  await follow('Get the analyzer key')
  await page.waitForURL(at('acme/integration#keys'))
  await follow('Show or replace the analyzer key')
  t.notMatch(await main(), key, 'not before it is asked for')
  await press('Show analyzer key')
  await page.getByText(key).waitFor()
  t.notMatch(page.url(), key)
  await page.goto(at('acme/integration/analyzer-key'))
  await keep(page, 'secret-desk-light')
  await page.selectOption('[name=overlap_seconds]', { label: 'Keep valid for 1 hour' })
  await press('Replace analyzer key')
  await page.getByText('Analyzer key replaced').waitFor()
  await page.locator('.receipt', { hasText: /Live on 1 of 1/ }).waitFor()
  const next = (await page.locator('.copyable code').innerText()).trim()
  t.not(next, key)
  for (const one of [key, next])
    t.equal((await fleet.api(one, 'GET', '/integration')).status, 200, 'both count for an hour')
  t.same(await violations(page), [], 'the page with the secret')

  // code and guide
  await follow('Done')
  await page
    .getByRole('navigation', { name: 'Framework' })
    .getByRole('link', { name: 'Koa' })
    .press('Enter')
  await page.waitForURL(/framework=koa/)
  t.match(await page.textContent('#code'), /import Koa.*app\.use\(service\.koa\(\)\)/s)
  t.match(await page.textContent('#guide'), /writer-1.*app\.use\(verifyClaims\(\)/s)
  await follow('Guide')
  await keep(page, 'integration-desk-light')

  // checks, a trial, live
  t.match(await page.textContent('#live'), /not checked yet/)
  await press('Run checks')
  await page.getByText('All checks that ran passed').waitFor()
  await press('Test sign-in')
  await page.getByText('A test user signed in and out').waitFor()
  await follow('Go live …')
  t.match(await main(), /Anyone who opens acme\.localhost without a session is sent to sign in/)
  t.same(await violations(page), [], 'what is asked before')
  await press('Go live')
  await page.getByText('Acme is live.').waitFor()
  await page.locator('.receipt', { hasText: /Live on 1 of 1/ }).waitFor()
  const stranger = await chromium.page()
  await stranger.page.goto(fleet.edge('acme.localhost'))
  t.match(stranger.page.url(), '/auth/realms/acme/', 'and the edge asks who comes')
  await page.goto(at('acme'))
  t.match(await main(), /Live: visitors have to sign in/)
  t.notMatch(await main(), /\(to do\)/, 'Start is ticked to its end')

  // a rotation of the signing key
  await page.goto(at('acme/keys'))
  await press('Publish next key')
  await page.getByText('Next key published.').waitFor()
  await follow('Start signing with it …')
  await press('Start signing')
  await page.getByText('Key rotated.').waitFor()
  await press('Publish next key')
  await page.getByText('Next key published.').waitFor()
  await page.locator('.receipt', { hasText: /Live on 1 of 1/ }).waitFor()
  await page.goto(at('acme/keys'))
  await keep(page, 'keys-desk-light')
  await follow('Delete retired keys …')
  t.match(await main(), /is kept: sessions may use it until/)
  t.same(await violations(page), [], 'what is asked before keys go')

  // who polls in sdk mode
  const sdk = await fleet.operator(
    'POST',
    '/tenants',
    tenantBody('shop', 'http://127.0.0.1:9', { mode: 'sdk', hostnames: [] }),
  )
  await page.goto(at('shop/instances'))
  t.match(await main(), /Publish the tenant first/)
  await fleet.operator('POST', '/tenants/shop/publish')
  const credentials = `${String(sdk.body['client_id'])}:${String(sdk.body['client_secret'])}`
  for (const [name, version, offset] of [
    ['web-7f9c/1', '0.1.0', '12'],
    ['web-7f9c/2', '0.0.9', '-64000'],
  ] as const) {
    const answer = await fetch(`${baseUrl}/api/v1/enforcement/state`, {
      headers: {
        authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
        'x-service-instance': name,
        'x-service-sdk-version': version,
        'x-service-clock-offset': offset,
      },
    })
    t.equal(answer.status, 200)
  }
  await page.reload()
  t.match(await main(), /web-7f9c\/1.*Up to date.*web-7f9c\/2.*Clock is off/s)

  // the same in the dark, and on the narrowest phone
  const again = await chromium.page({ viewport: DESK })
  await again.context.addCookies(await context.cookies())
  const seen = [
    ['integration', 'acme/integration'],
    ['secret', 'acme/integration/client-secret'],
    ['go-back', 'acme/integration/go-back'],
    ['keys', 'acme/keys'],
    ['instances', 'shop/instances'],
    ['no-instances', 'acme/instances'],
  ] as const
  for (const [name, path] of seen) {
    await again.page.goto(at(path))
    for (const [how, viewport, colorScheme] of [
      ['dark', DESK, 'dark'],
      ['narrow', { width: 320, height: 640 }, 'light'],
    ] as const) {
      await again.page.emulateMedia({ colorScheme })
      await again.page.setViewportSize(viewport)
      t.same(await violations(again.page), [], `${name}, ${how}`)
      if (how === 'dark') await keep(again.page, `${name}-desk-dark`)
    }
  }

  // without scripts: tabs, a form, going back
  const phone = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await phone.context.addCookies(await context.cookies())
  await phone.page.goto(at('acme/integration'))
  await keep(phone.page, 'integration-phone-light')
  await phone.page.getByRole('link', { name: 'SDK (no gateway)' }).click()
  t.match(await phone.page.textContent('#code'), /import \{ enforce \}/)
  await phone.page.getByRole('button', { name: 'Run checks' }).click()
  await phone.page.getByText(/All checks that ran passed|checks failed/).waitFor()
  await phone.page.goto(at('acme/keys'))
  await keep(phone.page, 'keys-phone-light')
  await phone.page.goto(at('shop/instances'))
  await keep(phone.page, 'instances-phone-light')
  await phone.page.goto(at('acme/integration'))
  await phone.page.getByRole('link', { name: 'Go back to pass-through …' }).click()
  t.match(await main(phone.page), /Anyone can open the sealed paths: \/internal/)
  await keep(phone.page, 'go-back-phone-light')
  await phone.page.getByRole('button', { name: 'Go back to pass-through' }).click()
  await phone.page.getByText('no one is asked to sign in').first().waitFor()
  await phone.page.locator('.receipt', { hasText: /Live on 1 of 1/ }).waitFor()
  t.same(
    complaints.filter(
      (line) => /Content Security|refused|error/i.test(line) && !/status of 4/.test(line),
    ),
    [],
    'the browser had nothing to complain about',
  )
  t.notMatch(fleet.logs(), next, 'and no log knows the key')
})
