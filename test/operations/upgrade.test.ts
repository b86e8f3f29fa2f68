// long: runs the service in two releases, one program after the other, under load
/**
 * An upgrade as docs/upgrade.md says, in the shape of deploy/compose: two control planes on one
 * PostgreSQL and two gateways, each replaced while people sign in and applications are asked. From the
 * newest tag, or from the commit before the newest migration; UPGRADE_FROM names another one, and
 * UPGRADE_PACE=0.2 asks for a fifth of the load.
 * In CI, where other tests have the machine too, it is skipped in sight unless a pace is named.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { addUser, PASSWORD, startApplication, tenantBody } from '../support/application.ts'
import { startBalancer, type Place } from '../support/balancer.ts'
import { Browser } from '../support/browser.ts'
import { freePort } from '../support/ports.ts'
import { ADMIN, NO_POSTGRES, startPostgres } from '../support/postgres.ts'
import { Program, SECRETS, type Fleet } from '../support/programs.ts'
import { startPacedLoad } from '../support/paced-load.ts'
import { checkOut, releaseBefore, ROOT } from '../support/release-before.ts'
import { startTcpBalancer } from '../support/tcp-balancer.ts'

/** Where others have the machine, a part of it. */
const PACE = Number(process.env['UPGRADE_PACE'] ?? 1)
const REQUESTS_PER_SECOND = 200 * PACE
const SIGN_INS_PER_SECOND = 5 * PACE
const PEOPLE = 20
const SETTLED_MS = 2000

const pathOf = (url: string) => new URL(url).pathname

const before = releaseBefore()
const skip =
  (process.env['CI'] &&
    process.env['UPGRADE_PACE'] === undefined &&
    'takes the whole machine: UPGRADE_PACE=1 npm run test:operations') ||
  NO_POSTGRES ||
  (before === undefined && 'there is no release before in this clone')

t.test('from the release before to this one, under load: nothing fails', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
  const programs = new Set<Program>()
  t.after(async () => {
    await Promise.all([...programs].map((program) => program.stop('SIGKILL')))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const old = checkOut(before as string, folder)
  t.ok(existsSync(join(old, 'gateway/main.ts')), `the release before is ${before}`)
  const postgres = await startPostgres({ teardown: (work) => t.after(work) })
  await postgres.run('CREATE DATABASE service')
  const password = encodeURIComponent(ADMIN.password)
  const database = `postgres://${ADMIN.user}:${password}@127.0.0.1:${postgres.port}/service`
  const [realms, edge] = [await freePort(), await freePort()]
  const places: (Place & { readonly status: number })[] = []
  for (let at = 0; at < 2; at++)
    places.push({
      public: await freePort(),
      fleet: await freePort(),
      edge: await freePort(),
      status: await freePort(),
    })
  const addresses = places.map(({ fleet }) => `"http://127.0.0.1:${fleet}"`).join(', ')

  async function start(root: string, kind: 'control-plane' | 'gateway', at: number) {
    const name = `${kind}-${at + 1}`
    const own = places[at]!
    const config = join(folder, `${name}.yaml`)
    writeFileSync(
      config,
      `base_url: http://localhost:${realms}
data_dir: ${folder}/${name}
edge_url: http://{hostname}:${edge}
control_plane:
  listen: 127.0.0.1:${own.public}
  fleet_listen: 127.0.0.1:${own.fleet}
  database: ${database}
gateway:
  listen: 127.0.0.1:${own.edge}
  status_listen: 127.0.0.1:${own.status}
  id: ${name}
  workers: 1
  control_plane: [${addresses}]
`,
    )
    const program = new Program(`${kind}/main.ts`, ['--config', config], { ...SECRETS }, root)
    programs.add(program)
    await program.ready
    return program
  }

  async function operator(method: string, path: string, body?: unknown) {
    const answer = await request(`http://127.0.0.1:${realms}/api/v1/operator${path}`, {
      method: method as 'GET',
      headers: {
        authorization: `Bearer ${SECRETS.SERVICE_OPERATOR_KEY}`,
        'content-type': 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, body: (text === '' ? {} : JSON.parse(text)) as never }
  }
  const settled = async () => {
    for (;;) {
      const { body } = (await operator('GET', '/gateways')) as {
        body: { items: { connected: boolean; lag: number }[] }
      }
      if (body.items.filter(({ connected, lag }) => connected && lag === 0).length === 2) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  const running = {
    'control-plane': [await start(old, 'control-plane', 0), await start(old, 'control-plane', 1)],
    gateway: [] as Program[],
  }
  await startBalancer(t, realms, places, { isReadyAsked: true })
  running.gateway = [await start(old, 'gateway', 0), await start(old, 'gateway', 1)]
  await startTcpBalancer(t, edge, places)
  const application = await startApplication(t)
  await operator('POST', '/tenants', tenantBody('acme', application.origin))
  const names = Array.from({ length: PEOPLE }, (_, at) => `person-${at}`)
  for (const name of names) await addUser({ operator } as unknown as Fleet, 'acme', name)
  await operator('POST', '/tenants/acme/publish')
  await operator('POST', '/tenants/acme/go-live', { force: true })
  await settled()

  const work = `http://acme.localhost:${edge}/work`
  const first = new Browser()
  t.after(() => first.close())
  t.equal((await first.signIn(work, names[0]!, PASSWORD)).status, 200)
  const session = first.cookie('acme.localhost', 'service_session')
  const seen = first.cookie('acme.localhost', 'service_seen')
  t.ok(session && seen)
  const cookie = `service_session=${session}; service_seen=${seen}`
  const ask = { port: edge, path: '/work', cookie, userAgent: first.userAgent }
  const requests = startPacedLoad({ perSecond: REQUESTS_PER_SECOND, atOnceMax: 64, work: ask })
  let turn = 0
  const signIns = startPacedLoad({
    perSecond: SIGN_INS_PER_SECOND,
    atOnceMax: 10,
    async work() {
      const browser = new Browser()
      try {
        const page = await browser.open(work)
        if (page.status !== 200) throw new Error(`no form, ${page.status} at ${pathOf(page.url)}`)
        const username = names[turn++ % PEOPLE]!
        const { status, url } = await browser.submit(page, { username, password: PASSWORD })
        if (status !== 200) throw new Error(`not signed in, ${status} at ${pathOf(url)}`)
      } finally {
        await browser.close()
      }
    },
  })
  const pause = () => new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  await pause()
  // control planes first, one after the other, then gateways, one after the other
  for (const kind of ['control-plane', 'gateway'] as const)
    for (const at of [0, 1]) {
      t.equal(await running[kind][at]!.stop(), 0, `${kind} ${at + 1} of before ends`)
      running[kind][at] = await start(ROOT, kind, at)
      await settled()
      await pause()
    }
  for (const [what, load] of [
    ['requests', requests],
    ['sign-ins', signIns],
  ] as const) {
    const { done, failures, late } = await load.stop()
    t.comment(`${done} ${what}, ${failures.length} failed, ${late} not begun in time`)
    t.same([...new Set(failures)].slice(0, 10), [], `no ${what} failed`)
    t.ok(done > 0)
  }
  const { body } = await operator('GET', '/tenants/acme')
  t.match(body, { status: 'published' })
})
