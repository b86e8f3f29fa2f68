/** A command line tool is allowed a key in Chromium: without a script, on a phone, in the dark. */
import t from 'tap'
import { DESK, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep, violations } from '../support/console-browser.ts'
import { giveRole } from '../support/console.ts'
import { serveConsole } from '../support/served-console.ts'

const OPTIONS = { skip: WITHOUT_CHROMIUM }
const PHONE = { width: 390, height: 844 }

t.test('from the code in the terminal to the key, on a phone', OPTIONS, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  const chromium = await startChromium(t)
  const kim = await person('acme', 'Kim')
  await giveRole(services, kim.userId, 'other')
  const sdk = { mode: 'sdk', hostnames: [] } as const
  await services.tenants.patch('other', sdk, { name: 'operator', requestId: 'test' })
  const { deviceCodes } = services.consoleAccess
  const ask = (path: string, body: object) =>
    fetch(at(`/api/v1/cli/${path}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(async (answer) => (await answer.json()) as Record<string, string>)
  const machine = 'kims-laptop-with-a-name-that-somebody-made-much-too-long.local'
  const tool = await ask('device-codes', { machine, application: 'shop' })

  const looks = await chromium.page()
  await enter(looks.context, kim)
  const look = async (path: string, name: string) => {
    await looks.page.goto(at(path))
    for (const [where, viewport, colorScheme] of [
      ['desk-dark', DESK, 'dark'],
      ['phone-dark', PHONE, 'dark'],
      ['phone-light', PHONE, 'light'],
    ] as const) {
      await looks.page.emulateMedia({ colorScheme })
      await looks.page.setViewportSize(viewport)
      t.same(await violations(looks.page), [], `${name}, ${where}`)
      await keep(looks.page, `${name}-${where}`)
    }
  }
  await look('/console/device', 'device-code')
  await look('/console/device?code=BBBB-BBBB', 'device-wrong-code')
  await look(`/console/device?code=${tool['user_code'] ?? ''}`, 'device')

  const { page, context } = await chromium.page({ viewport: PHONE, javaScriptEnabled: false })
  await enter(context, kim)
  await page.goto(tool['verification_uri'] ?? '')
  await page.fill('[name=code]', (tool['user_code'] ?? '').toLowerCase().replace('-', ' '))
  await page.keyboard.press('Enter')
  t.equal(await page.textContent('.device-code'), tool['user_code'])
  await page.selectOption('[name=tenant_id]', 'other')
  await page.check('[name=secret_as_well]')
  await page.getByRole('button', { name: 'Allow' }).click()
  t.match(await page.textContent('h1'), 'Return to your terminal')
  const given = await ask('device-tokens', { device_code: tool['device_code'] })
  t.match(given, { tenant_id: 'other', mode: 'sdk', client_secret: /^scs_/ })
  t.match(given['analyzer_key'], /^sak_/)
  await look('/console/device/allowed?tenant_id=acme', 'device-allowed')

  const { userCode } = await deviceCodes.open({ machine, application: '', address: '192.0.2.1' })
  await page.goto(at(`/console/device?code=${userCode}`))
  t.match(await page.textContent('main'), '192.0.2.1 (this browser: ')
  await page.getByRole('button', { name: 'Deny' }).click()
  t.match(await page.textContent('h1'), 'Request denied')
  await look('/console/device/denied', 'device-denied')
})
