// long: starts three control planes and three gateways, beside a database server
/** Three control planes on one database, behind a balancer that knows of no sessions. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { addUser, PASSWORD, startApplication, tenantBody } from '../support/application.ts'
import { startBalancer, type Place } from '../support/balancer.ts'
import { Browser } from '../support/browser.ts'
import { freePort } from '../support/ports.ts'
import { ADMIN, startPostgres } from '../support/postgres.ts'
import { Program, SECRETS, type Fleet } from '../support/programs.ts'

const COUNT = 3

async function startWorld(t: Test) {
  const postgres = await startPostgres({ teardown: (work) => t.after(work) })
  await postgres.run('CREATE DATABASE service')
  const database = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${postgres.port}/service`
  const folder = mkdtempSync(join(tmpdir(), 'several-'))
  const [balanced, places] = [await freePort(), [] as Place[]]
  for (let at = 0; at < COUNT; at++)
    places.push({ public: await freePort(), fleet: await freePort(), edge: await freePort() })
  const addresses = places.map(({ fleet }) => `"http://127.0.0.1:${fleet}"`)
  const programs: Program[] = []
  const run = async (file: string, name: string, own: Place, controlPlanes: readonly string[]) => {
    const config = join(folder, `${name}.yaml`)
    writeFileSync(
      config,
      `base_url: http://localhost:${balanced}
data_dir: ${folder}/${name}
control_plane: { listen: "127.0.0.1:${own.public}", fleet_listen: "127.0.0.1:${own.fleet}", database: "${database}" }
edge_url: http://{hostname}:${places[0]?.edge}
gateway: { listen: "127.0.0.1:${own.edge}", id: ${name}, control_plane: [${controlPlanes.join(', ')}] }
`,
    )
    const program = new Program(file, ['--config', config], SECRETS)
    programs.push(program)
    await program.ready
    return program
  }
  t.after(async () => {
    await Promise.all(programs.map((program) => program.stop('SIGKILL')))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const nodes = await Promise.all(
    places.map((own, at) => run('control-plane/main.ts', `node-${at}`, own, addresses)),
  )
  const gateway = (at: number, controlPlanes: readonly string[]) =>
    run('gateway/main.ts', `gateway-${at}`, places[at] as Place, controlPlanes)
  await startBalancer(t, balanced, places)

  async function operatorAt(port: number, method: string, path: string, body?: unknown) {
    const answer = await request(`http://127.0.0.1:${port}/api/v1/operator${path}`, {
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
  const at = (node: number) => (method: string, path: string, body?: unknown) =>
    operatorAt((places[node] as Place).public, method, path, body)
  const operator = (method: string, path: string, body?: unknown) =>
    operatorAt(balanced, method, path, body)
  const edge = (own: number) => `http://acme.localhost:${places[own]?.edge}`
  return { nodes, addresses, gateway, at, operator, edge }
}

t.test('three control planes are one service, also while one of them is killed', async (t) => {
  const { nodes, addresses, gateway, at, operator, edge } = await startWorld(t)
  // each at its own control plane first; the last one knows where to go when that is gone
  const own = (index: number) => addresses[index] as string
  await gateway(0, [own(0)])
  await gateway(1, [own(1)])
  const last = await gateway(2, [own(2)])
  const application = await startApplication(t)
  await operator('POST', '/tenants', tenantBody('acme', application.origin))
  const fleet = { operator } as unknown as Fleet
  await addUser(fleet, 'acme', 'ada')
  await operator('POST', '/tenants/acme/publish')
  await operator('POST', '/tenants/acme/go-live', { force: true })
  for (;;) {
    const { body } = (await at(1)('GET', '/gateways')) as {
      body: { items: { connected: boolean; lag: number }[] }
    }
    if (body.items.filter(({ connected, lag }) => connected && lag === 0).length === COUNT) break
  }

  const signedIn = async (edgeUrl: string) => {
    const browser = new Browser()
    t.after(() => browser.close())
    t.match(await browser.signIn(`${edgeUrl}/work`, 'ada', PASSWORD), { status: 200 })
    const { sid } = JSON.parse((await browser.fetch(`${edgeUrl}/service/me`)).text) as {
      sid: string
    }
    return { browser, sid }
  }
  // at once, unless the answer says for whom it could not wait
  const refused = async (browser: Browser, edgeUrl: string) => {
    while ((await browser.fetch(`${edgeUrl}/work`)).status === 200);
  }
  const took: number[] = []
  for (let round = 0; round < 6; round++) {
    const { browser, sid } = await signedIn(edge(0))
    const startedMs = performance.now()
    const revoked = await at(round % COUNT)('POST', '/tenants/acme/revocations', { sid })
    took.push(Math.round(performance.now() - startedMs))
    t.match(revoked, { status: 200, body: { enforced: { of: COUNT } } })
    await refused(browser, edge(0))
  }
  t.comment(`revocations answered after ${took.sort((a, b) => a - b).join(', ')} ms`)

  // the last gateway's control plane is killed, and it knows of others
  await last.stop()
  await gateway(2, [own(2), own(0), own(1)])
  const { browser } = await signedIn(edge(2))
  await nodes[2]?.stop('SIGKILL')
  t.match(await browser.fetch(`${edge(2)}/work`), { status: 200 }, 'which nobody notices')
  const renamed = await at(0)('PATCH', '/tenants/acme', { name: 'Acme Inc.' })
  t.equal(renamed.status, 200)
  for (;;) {
    const { body } = (await at(1)('GET', '/gateways')) as {
      body: { items: { gateway_id: string; connected: boolean; lag: number }[] }
    }
    const moved = body.items.find(({ gateway_id: id }) => id === 'gateway-2')
    if (moved?.connected === true && moved.lag === 0) break
  }
  t.match(await browser.fetch(`${edge(2)}/work`), { status: 200 }, 'the session goes on')
  const other = await signedIn(edge(2))
  const { body } = await at(1)('POST', '/tenants/acme/revocations', { sid: other.sid })
  t.match(body, { enforced: { of: COUNT } })
  await refused(other.browser, edge(2))
})
