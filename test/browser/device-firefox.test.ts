/**
 * On which machine Firefox runs: Debian's, with the agent as it is handed out, the service as programs,
 * and a loopback that is theirs alone.
 */
// long: two browsers and a fleet
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { LIMITS } from '../../shared/limits.ts'
import { installAgent } from '../support/agent-program.ts'
import { PASSWORD } from '../support/application.ts'
import { reaching, startCompany, startCompanyProxy } from '../support/company-machines.ts'
import { keepImage } from '../support/console-browser.ts'
import { startFirefox, WITHOUT_FIREFOX, type Firefox } from '../support/firefox.ts'
import { startMachine, WITHOUT_MACHINES } from '../support/machine.ts'

const skip = WITHOUT_FIREFOX || WITHOUT_MACHINES
const { deviceProofPort: PORT } = LIMITS
const CHECK = 'a[data-check]'
const AT_HOME = /^http:\/\/[a-z]+\.localhost:\d+\/work/

/** The service is out in the world, and pages of it must not reach into this machine. */
const kept = (ports: readonly number[]) => ({
  'network.lna.enabled': true,
  'network.lna.blocking': true,
  'network.lna.local-network-to-localhost.skip-checks': false,
  'network.lna.address_space.public.override': ports.map((port) => `127.0.0.1:${port}`).join(),
})

async function toDevicePage(firefox: Firefox, edge: string, username = 'ada') {
  const page = await firefox.newTab()
  await page.goto(`${edge}/work`)
  await page.type('[name=username]', username)
  await page.type('[name=password]', PASSWORD)
  await page.click('form button[type=submit]')
  await page.seen(CHECK)
  return page
}

async function world(t: Test) {
  const company = await startCompany(t)
  const proxy = await startCompanyProxy(t)
  const machine = await startMachine(t, [...company.ports, proxy.port])
  const agent = await installAgent(t, company.fleet, { tenantId: 'acme', before: machine.enter })
  return { ...company, machine, agent, proxy }
}

void t.test(
  'Firefox goes to the agent of its machine, and nothing else does',
  { skip },
  async (t) => {
    const { fleet, machine, agent, tenant, edge, application, proxy, ports } = await world(t)
    const firefox = await startFirefox(t, machine, {
      'network.proxy.type': 2,
      'network.proxy.autoconfig_url': proxy.configUrl,
      ...kept(ports),
    })
    const shown = async (page: Awaited<ReturnType<Firefox['newTab']>>, name: string) => {
      for (const [kind, width] of [
        ['phone', 360],
        ['desk', 1200],
      ] as const)
        keepImage(await page.screenshot(width, 800), `firefox-${name}-${kind}`)
    }

    t.comment('nobody listens: refused, and told how to get an agent')
    const missing = await toDevicePage(firefox, edge)
    await shown(missing, 'device-asked')
    const nowhere = await firefox.opened(() => missing.click(CHECK))
    const asked = async () => (firefox.requests(PORT).length > 0 ? true : undefined)
    await firefox.until('the navigation', asked)
    await shown(nowhere, 'device-nobody-listens')
    await missing.click('details summary')
    await shown(missing, 'device-asked-open')
    await missing.click('details button')
    await missing.seen('.steps')
    await shown(missing, 'device-missing')
    t.equal(application.received.length, 0, 'never skipped')

    t.comment('another program has the port')
    const [command, ...words] = machine.enter
    const squatter = spawn(command, [...words, process.execPath, '-e', SQUATTER, String(PORT)])
    await once(squatter.stdout, 'data')
    const listener = await agent.run(`port ${PORT} is taken by another program`)
    t.match(await agent.call(['status']), /Sign-ins +port 18653 is taken by another program/)
    const taken = await toDevicePage(firefox, edge)
    const theirs = await firefox.opened(() => taken.click(CHECK))
    await theirs.at(/^http:\/\/127\.0\.0\.1:18653\/p\//)
    t.equal(application.received.length, 0)
    squatter.kill()
    await listener.heard('sign-ins can be answered')

    t.comment('with the agent')
    const before = firefox.requests(PORT).length
    const page = await toDevicePage(firefox, edge)
    const other = await firefox.opened(() => page.click(CHECK))
    await page.at(AT_HOME)
    t.match(await other.url(), /\/device\/confirm/)
    await shown(other, 'device-checked')
    t.equal(await other.evaluate('window.opener === null'), true)
    const navigations = firefox.requests(PORT).slice(before)
    t.strictSame(navigations, ['GET document'], 'one navigation, no preflight')
    t.strictSame(firefox.prompts(), [])
    t.match(application.received.at(-1)?.headers, { 'x-service-user': tenant.ada })
    const device = await fleet.operator('GET', `/tenants/acme/devices/${agent.deviceId}`)
    t.match(device.body, { user_id: tenant.ada })

    t.comment('what pages may not, and what the proxy has seen')
    const health = await page.evaluate(reaching(`${fleet.baseUrl}/health`, 60_000))
    t.equal(health, 'there', 'out in the world, as Firefox sees it')
    t.equal(await page.evaluate(reaching(`http://127.0.0.1:${PORT}/`, 3000)), 'blocked')
    await page.goto('http://elsewhere.example.test/')
    t.ok(proxy.asked.includes('http://elsewhere.example.test/'), 'the proxy is used')
    t.notMatch(proxy.asked.join(' '), /localhost|127\.0\.0\.1/)

    t.comment('without JavaScript, in another profile')
    const plain = await startFirefox(t, machine, { 'javascript.enabled': false })
    const still = await toDevicePage(plain, edge)
    const checked = await plain.opened(() => still.click(CHECK))
    await checked.at(/\/device\/confirm/)
    await still.click('form[data-poll] button')
    await still.at(AT_HOME)
  },
)

void t.test('a challenge of one profile is worth nothing in another', { skip }, async (t) => {
  const { fleet, machine, agent, edge } = await world(t)
  const [firefox, second] = [await startFirefox(t, machine), await startFirefox(t, machine)]
  const page = await toDevicePage(firefox, edge)
  await firefox.opened(() => page.click(CHECK))
  const carried = await firefox.until('the challenge', async () => firefox.addresses(PORT)[0])
  await agent.run()
  const thief = await second.newTab()
  await thief.goto(carried)
  await thief.at(/\/device\/confirm/)
  keepImage(await thief.screenshot(360, 740), 'firefox-device-foreign-phone')
  t.match(await thief.evaluate('document.body.innerText'), /another browser/)
  const { body } = await fleet.operator('GET', '/audit?tenant_id=acme')
  t.match(JSON.stringify(body), 'device.proof.foreign_browser')
  // and its own is as good as before
  await firefox.opened(() => page.click(CHECK))
  await page.at(AT_HOME)
})

void t.test('two machines of one person at once, in two browsers', { skip }, async (t) => {
  const company = await startCompany(t)
  const { fleet, ports, edge, tenant } = company
  const places = await Promise.all(
    [0, 1].map(async () => {
      const machine = await startMachine(t, ports)
      const agent = await installAgent(t, fleet, { tenantId: 'acme', before: machine.enter })
      await agent.run()
      return { agent, firefox: await startFirefox(t, machine) }
    }),
  )
  const pages = await Promise.all(places.map(({ firefox }) => toDevicePage(firefox, edge)))
  await Promise.all(
    places.map(async ({ firefox }, at) => {
      const page = pages[at]!
      const other = await firefox.opened(() => page.click(CHECK))
      await other.at(/\/device\/confirm/)
      await page.at(AT_HOME)
      t.strictSame(firefox.requests(PORT), ['GET document'], 'each to the agent of its own machine')
    }),
  )
  for (const { agent } of places) {
    const path = `/tenants/acme/devices/${agent.deviceId}`
    t.match((await fleet.operator('GET', path)).body, { user_id: tenant.ada })
    const revoked = await fleet.operator('POST', '/tenants/acme/device-revocations', {
      device_ids: [agent.deviceId],
    })
    t.match(revoked, { status: 200, body: { sessions: 1 } }, 'each began a session of its own')
  }
})

const SQUATTER = `require('node:http').createServer((request, response) => response.end('Not the agent'))
  .listen(Number(process.argv[1]), '127.0.0.1', () => console.log('ready'))`
