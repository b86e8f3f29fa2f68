// long: two gateways and three starts of connectors, under requests
/**
 * The key that connectors trust is replaced under requests, by the real programs: one connector runs
 * through it, one was away all the time, and one finds that the key had leaked.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newTenant } from '../support/api.ts'
import { downloadConnector, startConnectorProcess } from '../support/connector-process.ts'
import { until } from '../support/fleet.ts'
import { freePort } from '../support/ports.ts'
import { startFleet } from '../support/programs.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { startOrigin } from '../support/wire.ts'

const HEAD = 'GET /health HTTP/1.1\r\nHost: acme.localhost\r\n\r\n'
const PATH = '/connector-authority'

t.test('none of the requests meanwhile fails, and who was away comes back', async (t) => {
  const ports = [await freePort(), await freePort()]
  const fleet = await startFleet(t, {
    gateways: 2,
    gatewayConfig: (at) =>
      `  tls_listen: 127.0.0.1:${ports[at]}\n  connect_address: 127.0.0.1:${ports[at]}`,
  })
  const origin = await startOrigin(t, (_request, response) => response.end('ok'))
  const settings = newTenant('acme', { mode: 'connector', origin: 'http://shop.internal' })
  await fleet.operator('POST', '/tenants', { ...settings, excluded: ['/health'] })
  await fleet.operator('POST', '/tenants/acme/publish')
  await fleet.settled()
  const program = await downloadConnector(fleet.folder, fleet.baseUrl)
  const call = (...args: string[]) =>
    startConnectorProcess(t, [process.execPath, program, ...args], fleet.folder)
  const folderOf = (name: string) => join(fleet.folder, name)
  const run = (name: string) => call('run', '--local-port', 'none', '--state', folderOf(name))
  const kept = (name: string) =>
    JSON.parse(readFileSync(join(folderOf(name), 'connector.json'), 'utf8')) as {
      authority: string
      next_authority?: string
    }
  /** What the list that it keeps says, whoever has signed it. */
  const listed = (name: string) => {
    const [, payload = ''] = readFileSync(join(folderOf(name), 'gateways.jws'), 'utf8').split('.')
    return Buffer.from(payload, 'base64url').toString()
  }
  async function joined(name: string) {
    const { body } = await fleet.operator('POST', '/tenants/acme/connector-tokens', {})
    const file = join(fleet.folder, `${name}-token`)
    writeFileSync(file, `${String(body['token'])}\n`, { mode: 0o600 })
    const given = ['--origin', origin.url, '--token-file', file, '--state', folderOf(name)]
    const joining = call('join', ...given)
    t.equal(await joining.exited, 0, joining.output())
  }
  const rotate = (body: object) => fleet.operator('POST', `${PATH}/rotate`, body)
  const waiting = async () => Number((await fleet.operator('GET', PATH)).body['waiting'])

  /** Since when the first of them is connected there. */
  async function sinceAt(gatewayId: string): Promise<number> {
    const { body } = await fleet.operator('GET', '/tenants/acme/connectors')
    const [{ gateways }] = body['items'] as unknown as [{ gateways: Record<string, string>[] }]
    const found = gateways.find(({ gateway_id: id }) => id === gatewayId)
    return found?.['state'] === 'connected' ? Date.parse(found['since'] ?? '') : 0
  }

  for (const name of ['here', 'away', 'late']) await joined(name)
  const first = kept('here').authority
  const here = run('here')
  await here.logged('"msg":"connected"', 2)
  /** It asks every minute by itself; told to replace its own key, it asks at once. */
  const asks = async (isSo: () => boolean | Promise<boolean>) => {
    for (;;) {
      here.child.kill('SIGUSR2')
      const deadline = Date.now() + 2000
      while (Date.now() < deadline) {
        if (await isSo()) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  const port = fleet.gatewayPorts[0]!
  const load = startSteadyLoad({ port, requests: Infinity, clients: 4, head: HEAD, status: 200 })
  const more = (count: number) => {
    const from = load.answered()
    return until(() => load.answered() >= from + count, 60_000)
  }
  await more(50)
  const next = String((await rotate({ phase: 'prepare' })).body['next'])
  await asks(async () => (await waiting()) === 2)
  t.match(kept('here'), { authority: first, next_authority: next })
  t.equal((await rotate({ phase: 'promote' })).status, 409, 'two of three do not have it')
  await more(50)
  t.match(await rotate({ phase: 'promote', force: true }), { status: 200, body: { current: next } })
  await asks(() => kept('here').authority === next)
  t.equal(kept('here').next_authority, undefined)
  await more(50)

  // A gateway that has moved is found by a list that the next key has signed.
  await fleet.gateways[1]?.stop()
  const movedMs = Date.now()
  ports[1] = await freePort()
  await fleet.startGateway(1)
  const address = `127.0.0.1:${ports[1]}`
  await asks(() => listed('here').includes(address))
  while ((await sinceAt('gateway-1')) <= movedMs)
    await new Promise((resolve) => setTimeout(resolve, 50))
  load.stop()
  await load.done
  t.strictSame(load.failures, [])
  t.comment(`${load.answered()} requests`)
  const other = startSteadyLoad({
    port: fleet.gatewayPorts[1]!,
    requests: 50,
    clients: 2,
    head: HEAD,
    status: 200,
  })
  await other.done
  t.strictSame(other.failures, [])

  const away = run('away')
  await away.logged('the key of the service has been replaced, as the one before has said')
  await until(() => kept('away').authority === next)
  await away.logged('"msg":"connected"', 2)

  // It leaked: nobody is to be led from it.
  const last = String((await rotate({ phase: 'prepare' })).body['next'])
  await asks(() => kept('here').next_authority === last)
  await rotate({ phase: 'promote', force: true, leaked: true })
  await asks(() => kept('here').authority === last)
  const late = run('late')
  await late.logged('service-connector leave, then join with a new token')
  t.equal(kept('late').authority, first, 'it believes nobody else')
  late.child.kill('SIGTERM')
  await late.exited
  const left = call('leave', '--state', folderOf('late'))
  t.equal(await left.exited, 0, left.output())
  await joined('late')
  t.equal(kept('late').authority, last)
})
