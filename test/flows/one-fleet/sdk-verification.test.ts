/** Sdk mode from end to end: the middleware in a real application, verified and taken live. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { enforce } from '../../../control-plane/downloads/sdk-node/index.ts'
import { tenantBody } from '../../support/application.ts'
import { sealedPathsTold } from '../../support/sealed-events.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

interface Check {
  readonly check: string
  readonly status: string
  readonly detail: string
  readonly next_action: string
}

/** An address whose listener can be changed under way. */
async function startPlace(t: Test) {
  const place = { listener: (_request, response) => void response.end('open to all') } as {
    listener: Parameters<typeof createServer>[1] & {}
  }
  const server = createServer((request, response) => void place.listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(place, { origin: `http://127.0.0.1:${port}` })
}

void t.test('sdk mode from end to end', async (t) => {
  const fleet = await wholeFleet(t)
  const { baseUrl } = fleet

  async function start(t: Test, tenantId: string) {
    const place = await startPlace(t)
    const body = tenantBody(tenantId, place.origin, { mode: 'sdk', hostnames: [] })
    const created = await fleet.operator('POST', '/tenants', body)
    const key = String(created.body['analyzer_key'])
    await fleet.operator('POST', `/tenants/${tenantId}/publish`)

    async function ask(method: string, path: string) {
      const { status, body } = await fleet.api(key, method, path)
      const checks = (body['checks'] ?? []) as unknown as Check[]
      const at = (name: string) => checks.find(({ check }) => check === name)
      return { status, body, at, statuses: checks.map(({ status }) => status) }
    }
    return {
      place,
      probe: () => ask('POST', '/verify/probe'),
      complete: () => ask('POST', '/integration-complete'),
      goLive: () => ask('POST', '/go-live'),
      /** The middleware as the snippet mounts it. */
      async mount(clientSecret = String(created.body['client_secret'])) {
        const service = enforce({ baseUrl, tenantId, clientSecret, instance: 'web-1' })
        t.after(() => service.close())
        place.listener = service.node((request, response) => {
          response.end(`hello ${String(request.headers['x-service-user'])}`)
        })
        return service
      },
    }
  }

  await t.test('the middleware is verified, completed and live', async (t) => {
    const { place, probe, complete, goLive, mount } = await start(t, 'verified')
    const before = await probe()
    t.match(before.at('application_reached'), { status: 'pass' })
    t.match(before.at('middleware_mounted'), { status: 'fail' })
    t.match(before.at('feed_polled'), { status: 'fail', detail: /No instance/ })
    t.notOk(before.at('hostname_routed'), 'there is no edge')
    t.match((await complete()).at('sign_in_started'), {
      status: 'fail',
      next_action: /^Mount enforce\(\) in front of all routes, \/service\/login included/,
    })

    const service = await mount()
    await service.ready()
    const mounted = await probe()
    t.match(mounted.body, { status: 'pass' }, JSON.stringify(mounted.body))
    t.match(mounted.at('feed_polled'), {
      status: 'pass',
      detail: /^web-1 \(version [\d.]+\) polled \d s ago and has the current state\.$/,
    })
    const open = await complete()
    t.match(open, { status: 200 }, JSON.stringify(open.body))
    t.strictSame(open.statuses, ['pass', 'pass', 'pass', 'pass', 'pass'])

    t.equal((await goLive()).status, 200)
    // it has heard of it when the front page is no longer open to all
    while ((await fetch(place.origin)).status === 200)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const live = await complete()
    t.match(live, { status: 200 }, JSON.stringify(live.body))
    t.match(live.at('signed_out'), { detail: 'After the sign-out the old session is refused.' })
    const sealed = await probe()
    t.match(sealed.at('sealed_hidden'), { status: 'pass' }, JSON.stringify(sealed.body))
    t.equal((await fetch(`${place.origin}/admin/x`)).status, 404)
    const told = await sealedPathsTold(fleet, 'verified', '/admin/x')
    t.same([...new Set(told)], ['/admin/x'], 'what verification tries is not told of')

    // the front page that somebody has put in front of the middleware
    const { listener } = place
    place.listener = (request, response) =>
      request.url === '/' ? void response.end('welcome') : void listener(request, response)
    t.match((await complete()).at('sign_in_started'), {
      status: 'fail',
      detail: /answers 200, although protection is on/,
      next_action: /^Mount enforce\(\) in front of the route of the front page too/,
    })
  })

  await t.test('each step that fails says what stands in its way', async (t) => {
    const { place, probe, complete, goLive, mount } = await start(t, 'meddled')
    await (await mount()).ready()
    await probe()
    t.equal((await goLive()).status, 200)
    while ((await fetch(place.origin)).status === 200)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const { listener: sound } = place

    /** Something in front of the middleware answers a path of its own accord. */
    const meddle = async (path: string, answer: typeof sound, step: string, expected: object) => {
      place.listener = (request, response) =>
        request.url?.split('?')[0] === path ? answer(request, response) : sound(request, response)
      const { status, body, at } = await complete()
      t.match({ status, missing: body['missing'] }, { status: 409, missing: [step] })
      t.match(at(step), { status: 'fail', ...expected }, JSON.stringify(body))
    }
    const answering =
      (status: number, headers: Record<string, string> = {}): typeof sound =>
      (_request, response) =>
        void response.writeHead(status, headers).end()

    await meddle('/service/login', answering(503), 'sign_in_started', {
      next_action: /^Let the application reach the realm; from its machine .*openid-configuration/,
    })
    await meddle('/service/login', answering(302, { Location: '/home' }), 'sign_in_started', {
      detail: /leads to http:\/\/127\.0\.0\.1:\d+\/home instead of redirecting to/,
      next_action: /^Mount enforce\(\)/,
    })
    const issuer = `${baseUrl}/auth/realms/meddled`
    const elsewhere = `${issuer}/authorize?redirect_uri=https%3A%2F%2Fother.example%2Fcallback`
    await meddle('/service/login', answering(302, { Location: elsewhere }), 'sign_in_page_shown', {
      detail:
        /would return to https:\/\/other\.example\/callback, but only .*\/service\/callback is/,
      next_action: /^Start the middleware with the public address .*"origin": PATCH/,
    })
    const callback = encodeURIComponent(`${place.origin}/service/callback`)
    const unknown = `${issuer}/authorize?client_id=nobody&redirect_uri=${callback}`
    await meddle('/service/login', answering(302, { Location: unknown }), 'sign_in_page_shown', {
      detail: /shows no form for username and password: it answers 400/,
    })
    await meddle('/service/callback', answering(502), 'sign_in_completed', {
      detail: /\/service\/callback answers 502, without a session cookie/,
      next_action: /^Give the application the client secret/,
    })
    await meddle('/service/logout', answering(404), 'signed_out', {
      detail: /\/service\/logout answers 404/,
    })
    await meddle('/service/logout', answering(200), 'signed_out', {
      detail: /answers 200, and leaves the session cookie in the browser/,
    })
    const cleared = 'service_session=; Path=/; Max-Age=0'
    await meddle('/service/logout', answering(200, { 'Set-Cookie': cleared }), 'signed_out', {
      detail: /^The old session still opened/,
      next_action: /^Make feed_polled pass/,
    })
    place.listener = sound
    t.match(await complete(), { status: 200 }, 'and without any of it all is well')
  })

  await t.test('a wrong client secret is named where it shows', async (t) => {
    const { probe, complete, mount } = await start(t, 'wrong')
    await mount('a secret of somebody else, long enough')
    const { at } = await probe()
    t.match(at('feed_polled'), {
      status: 'fail',
      next_action: /curl -u wrong-user:\$SERVICE_CLIENT_/,
    })
    const { status, at: step } = await complete()
    t.equal(status, 409)
    const started = step('sign_in_started')
    t.equal(started?.status, 'fail')
    t.match(started?.next_action, /realm|feed_polled/, JSON.stringify(started))
  })
})
