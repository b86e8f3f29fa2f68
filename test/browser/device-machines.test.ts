/**
 * Chromium on machines of its own, each with an agent on its real port: behind a proxy and kept from
 * the local network, where another program has the port, two machines of one person at once whose
 * clocks are days off, and one that is revoked.
 */
// long: three browsers and a fleet
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import { request } from 'undici'
import t, { type Test } from 'tap'
import { LIMITS } from '../../shared/limits.ts'
import { installAgent } from '../support/agent-program.ts'
import { PASSWORD } from '../support/application.ts'
import { ACT_MS_MAX, START_MS_MAX, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { reaching, startCompany, startCompanyProxy } from '../support/company-machines.ts'
import { startMachine, WITHOUT_MACHINES, type Machine } from '../support/machine.ts'
import { FAKE_TIME } from '../support/stepped-clock.ts'

/** With windows' rules and prompts, unlike its headless shell. */
const PROGRAM = '/usr/bin/chromium'
/** The library by itself: the command `faketime` would stay between us and what it starts. */
const isThere = existsSync(PROGRAM) && FAKE_TIME !== undefined
const skip = WITHOUT_CHROMIUM || WITHOUT_MACHINES || (!isThere && 'needs chromium and libfaketime')
const { deviceProofPort: PORT } = LIMITS

async function startBrowser(t: Test, machine: Machine, args: readonly string[] = []) {
  const browser = await chromium.launch({
    timeout: START_MS_MAX,
    executablePath: machine.wrapped(PROGRAM),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...args],
  })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(ACT_MS_MAX)
  return page
}

async function world(t: Test) {
  const company = await startCompany(t)
  const { tenant } = company
  async function toDevicePage(page: Page) {
    await page.goto(`${tenant.edge()}/work`)
    await page.getByLabel('Username or email').fill('ada')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check this device' }).waitFor()
  }
  return {
    ...company,
    toDevicePage,
    async check(page: Page) {
      await toDevicePage(page)
      await page.getByRole('link', { name: 'Check this device' }).click()
      await page.waitForURL(`${tenant.edge()}/work`)
    },
  }
}

void t.test('behind a proxy, and kept from the local network', { skip }, async (t) => {
  const { fleet, ports, check, tenant } = await world(t)
  const proxy = await startCompanyProxy(t)
  const machine = await startMachine(t, [...ports, proxy.port])
  const agent = await installAgent(t, fleet, { tenantId: 'acme', before: machine.enter })
  await agent.run()
  const page = await startBrowser(t, machine, [
    `--proxy-pac-url=${proxy.configUrl}`,
    // the service is out in the world, as Chromium sees it
    `--ip-address-space-overrides=${ports.map((port) => `127.0.0.1:${port}=public`).join()}`,
    '--enable-features=LocalNetworkAccessChecks:LocalNetworkAccessChecksWarn/false',
  ])
  await check(page)
  t.equal(await page.evaluate(reaching(`${fleet.baseUrl}/health`, ACT_MS_MAX)), 'there')
  const agents = await page.evaluate(reaching(`http://127.0.0.1:${PORT}/`, 3000))
  t.equal(agents, 'blocked', 'what a page may not')
  await page.goto('http://elsewhere.example.test/')
  t.ok(proxy.asked.includes('http://elsewhere.example.test/'), 'the proxy is used')
  t.notMatch(proxy.asked.join(' '), /localhost|127\.0\.0\.1/)
  t.match(tenant.edge(), /localhost/)
})

void t.test('another program has the port', { skip }, async (t) => {
  const { fleet, ports, toDevicePage, application, tenant } = await world(t)
  const machine = await startMachine(t, ports)
  const agent = await installAgent(t, fleet, { tenantId: 'acme', before: machine.enter })
  const [command, ...words] = machine.enter
  const squatter = spawn(command, [...words, process.execPath, '-e', SQUATTER, String(PORT)])
  t.teardown(() => void squatter.kill())
  await once(squatter.stdout, 'data')
  const listener = await agent.run(`port ${PORT} is taken by another program`)
  t.match(await agent.call(['status']), /Sign-ins +port 18653 is taken by another program/)
  const page = await startBrowser(t, machine)
  await toDevicePage(page)
  const link = page.getByRole('link', { name: 'Check this device' })
  const opened = page.context().waitForEvent('page')
  await link.click()
  const theirs = await opened
  await theirs.getByText('Not the agent').waitFor()
  t.match(theirs.url(), /^http:\/\/127\.0\.0\.1:18653\/p\//)
  t.equal(application.received.length, 0, 'never skipped')
  squatter.kill()
  await listener.heard('sign-ins can be answered')
  await link.click()
  await page.waitForURL(`${tenant.edge()}/work`)
})

const SQUATTER = `require('node:http').createServer((request, response) => response.end('Not the agent'))
  .listen(Number(process.argv[1]), '127.0.0.1', () => console.log('ready'))`

void t.test('two machines of one person, days apart; one is revoked', { skip }, async (t) => {
  const { fleet, ports, check, tenant } = await world(t)
  const places = await Promise.all(
    ['-2d', '+2d'].map(async (off) => {
      const machine = await startMachine(t, ports)
      const time = ['env', `FAKETIME=${off}`, `LD_PRELOAD=${FAKE_TIME ?? ''}`]
      const before = [...machine.enter, ...time]
      const agent = await installAgent(t, fleet, { tenantId: 'acme', before })
      const listener = await agent.run()
      const [, saidMs = '0'] = /"time":(\d+)/.exec(listener.said()) ?? []
      t.ok(Math.abs(Number(saidMs) - Date.now()) > 47 * 3_600_000, off)
      return { agent, page: await startBrowser(t, machine) }
    }),
  )
  await Promise.all(places.map(({ page }) => check(page)))

  const status = async (page: Page) => {
    const cookies = await page.context().cookies(tenant.edge())
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const agent = await page.evaluate<string>('navigator.userAgent')
    const headers = { cookie, host: new URL(tenant.edge()).host, 'user-agent': agent }
    const url = `http://127.0.0.1:${fleet.gatewayPorts[0]}/work`
    return async () => (await request(url, { headers })).statusCode
  }
  const [first, second] = await Promise.all(places.map(({ page }) => status(page)))
  t.strictSame([await first?.(), await second?.()], [200, 200])

  const startMs = performance.now()
  const revoked = await fleet.operator('POST', '/tenants/acme/device-revocations', {
    device_ids: [places[0]?.agent.deviceId],
  })
  const answeredMs = performance.now()
  t.match(revoked, { status: 200, body: { sessions: 1 } }, 'each had its own')
  const { gateways, of } = revoked.body['enforced'] as unknown as { gateways: number; of: number }
  let now = await first?.()
  // a gateway that was named as not having it yet takes as long as it takes
  while (now === 200 && gateways < of) now = await first?.()
  const refusedMs = performance.now()
  t.not(now, 200, 'the first request behind the answer is refused')
  t.equal(await second?.(), 200, 'the other machine goes on')
  t.comment(
    `revoked and enforced in ${Math.round(answeredMs - startMs)} ms, refused ${Math.round(refusedMs - answeredMs)} ms behind the answer`,
  )
})
