/**
 * Sdk mode with the real programs: one application on two instances, node:http and Express, both
 * behind enforce(). What is waited for is a poll that acknowledges, never a time.
 */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import t, { type Test } from 'tap'
import { enforce } from '../../../control-plane/downloads/sdk-node/index.ts'
import type { Service } from '../../../control-plane/downloads/sdk-node/published.ts'
import { addUser, PASSWORD, tenantBody } from '../../support/application.ts'
import type { Fleet } from '../../support/programs.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

const TENANT = 'inside'

interface Check {
  readonly check: string
  readonly status: string
}

interface PolledInstance {
  readonly name: string
  readonly up_to_date: boolean
  readonly last_poll_at: string
}

interface Enforced {
  readonly outcome: string
  readonly instance: string
  readonly subject: string | null
  readonly app_host: string | null
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 20))

/** An address that stays, whatever listens behind it. */
async function startPlace(t: Test) {
  let listener: RequestListener = (_request, response) => void response.end('open to all')
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    listen: (next: RequestListener) => void (listener = next),
  }
}

type Mount = (service: Service) => RequestListener
const greeting = ({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>) => {
  const { 'x-service-user': user = 'nobody', 'x-service-claims': claims = 'none' } = headers
  return `application: ${url} user=${[user].join()} claims=${[claims].join()}`
}

const onNode: Mount = (service) =>
  service.node((request, response) => response.end(greeting(request)))

const onExpress: Mount = (service) => {
  const app = express()
  app.use(service.express())
  app.use((request, response) => void response.send(greeting(request)))
  return app
}

type Secrets = Pick<
  NonNullable<Parameters<typeof enforce>[0]>,
  'clientSecret' | 'previousClientSecret'
>

async function startInstance(
  t: Test,
  { name, mount, fleet }: { name: string; mount: Mount; fleet: Fleet },
) {
  const place = await startPlace(t)
  let running: Service | undefined
  t.after(async () => running?.close())
  return {
    name,
    origin: place.origin,
    /** As a restart with other settings would. */
    async start(secrets: Secrets) {
      await running?.close()
      const { baseUrl } = fleet
      running = enforce({
        baseUrl,
        tenantId: TENANT,
        instance: name,
        onWarning: () => {},
        ...secrets,
      })
      place.listen(mount(running))
      await running.ready()
    },
  }
}

void t.test('sdk mode, with the real programs', async (t) => {
  const fleet = await wholeFleet(t)
  const one = await startInstance(t, { name: 'one', mount: onNode, fleet })
  const two = await startInstance(t, { name: 'two', mount: onExpress, fleet })
  const instances = [one, two]
  const body = tenantBody(TENANT, one.origin, { mode: 'sdk', hostnames: [] })
  const created = await fleet.operator('POST', '/tenants', body)
  t.equal(created.status, 201)
  const tenant = created.body as unknown as { client_secret: string; analyzer_key: string }
  const operator = (method: string, path: string, body?: unknown) =>
    fleet.operator(method, `/tenants/${TENANT}${path}`, body)
  const customer = (path: string) => fleet.api(tenant.analyzer_key, 'POST', path)
  const adasId = await addUser(fleet, TENANT, 'ada')
  const bobsId = await addUser(fleet, TENANT, 'bob')
  t.equal((await operator('POST', '/publish')).status, 200)
  for (const instance of instances) await instance.start({ clientSecret: tenant.client_secret })

  const polls = async () => {
    const { body } = await operator('GET', '/instances')
    return body['items'] as unknown as PolledInstance[]
  }
  /** Each instance has asked for what is newer than the newest state, so it has that in force. */
  async function acknowledged(): Promise<void> {
    const told = new Map<string, string>()
    const done = new Set<string>()
    while (done.size < instances.length) {
      for (const { name, up_to_date: isCurrent, last_poll_at: at } of await polls())
        if (!isCurrent) told.delete(name)
        else if (!told.has(name)) told.set(name, at)
        else if (told.get(name) !== at) done.add(name)
      await moment()
    }
  }
  async function reported(outcome: string): Promise<Enforced> {
    for (;;) {
      const { body } = await operator('GET', '/enforcement-events')
      const events = body['items'] as unknown as Enforced[]
      const found = events.find((event) => event.outcome === outcome)
      if (found !== undefined) return found
      await moment()
    }
  }
  const signedIn = async (t: Test, username: string, path = '/work?x=1') => {
    const browser = fleet.browser()
    const page = await browser.signIn(one.origin + path, username, PASSWORD)
    t.match(page, { status: 200, url: one.origin + path })
    return { browser, page }
  }

  await t.test(
    'the probe finds the middleware and its key, and go-live takes effect',
    async (t) => {
      const stranger = fleet.browser()
      t.match(await stranger.fetch(`${one.origin}/`), { status: 200, text: /user=nobody/ })
      const { body } = await customer('/verify/probe')
      const checks = body['checks'] as unknown as Check[]
      for (const name of ['middleware_mounted', 'key_installed'])
        t.equal(checks.find(({ check }) => check === name)?.status, 'pass', name)
      t.equal((await customer('/go-live')).status, 200)
      await acknowledged()
      for (const { origin } of instances)
        t.match(await stranger.fetch(`${origin}/`), { status: 401 })
    },
  )

  await t.test('a sign-in at one instance tells both who it is', async (t) => {
    const { browser, page } = await signedIn(t, 'ada')
    t.match(page.text, `application: /work?x=1 user=${adasId} claims=ey`)
    const elsewhere = await browser.fetch(`${two.origin}/work?x=2`)
    t.match(elsewhere, { status: 200, text: new RegExp(`/work\\?x=2 user=${adasId} `) })
  })

  await t.test('what is sealed does not exist, and the control plane hears of it', async (t) => {
    const { browser } = await signedIn(t, 'ada')
    t.match(await browser.fetch(`${two.origin}/admin/users`), { status: 404 })
    t.match(await reported('sealed'), { instance: 'two', app_host: '127.0.0.1' })
  })

  await t.test('a revocation is in force with the poll that acknowledges it', async (t) => {
    const { browser: ada } = await signedIn(t, 'ada')
    const { browser: bob } = await signedIn(t, 'bob')
    t.equal((await operator('POST', '/revocations', { subject: adasId })).status, 200)
    await acknowledged()
    for (const { origin } of instances) {
      t.match(await ada.fetch(`${origin}/`), { status: 401, text: /"reason":"revoked"/ })
      t.match(await bob.fetch(`${origin}/`), { status: 200, text: new RegExp(bobsId) })
    }
    const { browser: again } = await signedIn(t, 'ada')
    t.match(await again.fetch(`${two.origin}/`), { status: 200 }, 'who signs in again is let in')
  })

  await t.test('a sign-out at one instance is one at the other', async (t) => {
    const { browser } = await signedIn(t, 'bob')
    const thief = fleet.browser()
    for (const name of ['service_session', 'service_seen'])
      thief.setCookie('127.0.0.1', name, browser.cookie('127.0.0.1', name) ?? '')
    t.match(await thief.fetch(`${two.origin}/`), { status: 200 })
    await browser.open(`${one.origin}/service/logout`)
    t.equal(browser.cookie('127.0.0.1', 'service_session'), undefined)
    t.match(await thief.fetch(`${one.origin}/`), { status: 401 }, 'here at once')
    t.match(await reported('logout'), { instance: 'one', subject: bobsId })
    await acknowledged()
    t.match(await thief.fetch(`${two.origin}/`), { status: 401, text: /"reason":"revoked"/ })
  })

  await t.test(
    'while the control plane is away sessions go on, and later it is heard',
    async (t) => {
      const { browser } = await signedIn(t, 'ada')
      await fleet.controlPlane.stop()
      for (const { origin } of instances) {
        t.match(await browser.fetch(`${origin}/`), { status: 200 })
        t.match(await browser.fetch(`${origin}/admin`), { status: 404 })
        t.match(await fleet.browser().fetch(`${origin}/`), { status: 401 })
      }
      await fleet.startControlPlane()
      await acknowledged()
      t.match(await browser.fetch(`${one.origin}/`), { status: 200 })
      t.equal((await operator('POST', '/revocations', { subject: adasId })).status, 200)
      await acknowledged()
      for (const { origin } of instances)
        t.match(await browser.fetch(`${origin}/`), { status: 401 })
    },
  )

  await t.test('a client secret is rotated under way, and nobody is signed out', async (t) => {
    const old = tenant.client_secret
    const { browser: early } = await signedIn(t, 'ada')
    const everywhere = async (browser: typeof early, when: string) => {
      for (const { origin, name } of instances)
        t.match(await browser.fetch(`${origin}/`), { status: 200 }, `${name}, ${when}`)
    }
    const rotated = await operator('POST', '/client-secret/rotate')
    t.match(rotated, { status: 200, body: { previous_valid_until: String } })
    const fresh = String(rotated.body['client_secret'])
    await everywhere(early, 'before any instance has the new one')
    // first all can read what is sealed under the new one, then one after the other writes it
    for (const instance of instances) {
      await instance.start({ clientSecret: old, previousClientSecret: fresh })
      await everywhere(early, `${instance.name} knows both`)
    }
    await one.start({ clientSecret: fresh, previousClientSecret: old })
    const { browser: between } = await signedIn(t, 'bob')
    await everywhere(early, 'one writes the new one')
    await everywhere(between, 'signed in under the new one')
    await two.start({ clientSecret: fresh, previousClientSecret: old })
    await everywhere(early, 'both write the new one')
    await everywhere(between, 'and both still read the old one')
    t.match(await operator('POST', '/client-secret/rotate', { overlap_seconds: 0 }), {
      body: { previous_valid_until: null },
    })
    await everywhere(early, 'and a refused poll is no reason to let go of anybody')
    t.match(await fleet.browser().fetch(`${one.origin}/`), { status: 401 }, 'nor to let anybody in')
  })

  await t.test('go-back opens the application again', async (t) => {
    const { body } = await operator('POST', '/client-secret/rotate')
    for (const { start } of instances) await start({ clientSecret: String(body['client_secret']) })
    t.equal((await customer('/go-back')).status, 200)
    await acknowledged()
    for (const { origin } of instances)
      t.match(await fleet.browser().fetch(`${origin}/`), { status: 200, text: /user=nobody/ })
  })
})
