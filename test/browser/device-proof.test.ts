/**
 * On which machine a real Chromium runs: it goes to the loopback address by itself, asks nobody for
 * leave, and comes back to the tab that waits. The agent here speaks the protocol on the agent's port.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions } from 'playwright-core'
import t, { type Test } from 'tap'
import { LIMITS } from '../../shared/limits.ts'
import { PASSWORD, relyingParty, startWorld } from '../control-plane/realm/realm-world.ts'
import { setPolicy } from '../control-plane/realm/steps.ts'
import { keep } from '../support/console-browser.ts'
import { PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { provingMachine } from '../support/proving-machine.ts'

const OFF = { firewall: { value: false, reason: 'no_firewall' } } as const

async function start(t: Test) {
  const edge = createServer((_request, response) => void response.end('Welcome'))
  await new Promise<void>((resolve) => edge.listen(0, '127.0.0.1', resolve))
  const { port: edgePort } = edge.address() as AddressInfo
  const world = await startWorld(t, { hostname: 'localhost', edgePort })
  const acme = await world.tenant('acme', { hostnames: ['acme.localhost'] })
  await setPolicy(world, 'device', { require: 'enrolled', facts: ['firewall'] })
  const machine = await provingMachine(world)
  const seen: string[] = []
  const agent = { facts: {} as object }
  const server = createServer((request, response) => {
    const { 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, host = '' } = request.headers
    seen.push([request.method, String(mode), String(dest), host].join(' '))
    const at = `http://${host}${request.url}`
    if (!request.url?.startsWith('/p/')) return void response.writeHead(404).end()
    machine.prove(at, agent.facts).then(
      (location) => response.writeHead(303, { location }).end(),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve, reject) =>
    server.on('error', reject).listen(LIMITS.deviceProofPort, '127.0.0.1', resolve),
  )
  t.teardown(() => {
    for (const one of [server, edge]) {
      one.closeAllConnections()
      one.close()
    }
  })
  const chromium = await startChromium(t)
  const party = await relyingParty(acme)

  /** At the page that asks for the device. */
  async function signIn(options: BrowserContextOptions = {}) {
    const { page } = await chromium.page(options)
    await page.goto((await party.begin()).url)
    await page.getByLabel('Username or email').fill('ada')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check this device' }).waitFor()
    return page
  }
  return { world, acme, machine, seen, agent, signIn }
}

const options = { skip: WITHOUT_CHROMIUM }

t.test('by keyboard, without a prompt; the first tab goes on by itself', options, async (t) => {
  const { signIn, seen } = await start(t)
  const page = await signIn()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: 'Check this device' }).focus()
  await page.keyboard.press('Enter')
  const tab = await opened
  await tab.getByRole('heading', { name: 'This device was checked' }).waitFor()
  t.equal(await tab.evaluate('window.opener'), null)
  await page.waitForURL(/\/service\/callback/)
  t.strictSame(
    seen.filter((line) => !line.includes(' image ')),
    [`GET navigate document 127.0.0.1:${LIMITS.deviceProofPort}`],
    'one navigation, no preflight',
  )
})

t.test('without JavaScript and on a phone: a link and a button', options, async (t) => {
  const { signIn, agent } = await start(t)
  const page = await signIn({ javaScriptEnabled: false, viewport: PHONE })
  await keep(page, 'device-asked-phone')
  agent.facts = OFF
  const check = async (name: string) => {
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name }).click()
    const tab = await opened
    await tab.getByRole('heading', { name: 'This device was checked' }).waitFor()
    await tab.close()
  }
  await check('Check this device')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: /doesn’t meet the requirements/ }).waitFor()
  await keep(page, 'device-failing-phone')
  agent.facts = {}
  await check('Check again')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(/\/service\/callback/)
})

t.test('a second profile with the link is refused, and burns it', options, async (t) => {
  const { signIn, machine, acme } = await start(t)
  const page = await signIn()
  const uid = /sign-in\/([\w-]+)/.exec(page.url())?.[1] ?? ''
  const at = `${acme.issuer}/sign-in/${uid}/device`
  const sent = await page.context().request.get(at, { maxRedirects: 0 })
  const confirm = await machine.prove(sent.headers().location ?? '')
  const other = await signIn()
  await other.goto(confirm)
  await other.getByRole('heading', { name: /started in another browser/ }).waitFor()
  await page.goto(confirm)
  await page.getByRole('heading', { name: /has expired/ }).waitFor()
})
