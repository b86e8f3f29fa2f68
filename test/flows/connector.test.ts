/**
 * An application without an open port, from the join token to the last request: the program as it
 * is downloaded, a real control plane, a real gateway with TLS, on every Node that is here.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { newTenant } from '../support/api.ts'
import {
  downloadConnector,
  startConnectorProcess,
  visibleOf,
  type ConnectorProcess,
} from '../support/connector-process.ts'
import { nodesHere } from '../support/installed-sdk.ts'
import { freePort } from '../support/ports.ts'
import { startFleet } from '../support/programs.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { startOrigin } from '../support/wire.ts'

const WORKERS = 2
const HEAD = 'GET /health HTTP/1.1\r\nHost: acme.localhost\r\n\r\n'

async function start(t: Test) {
  const tlsPort = await freePort()
  const fleet = await startFleet(t, {
    workers: WORKERS,
    gatewayConfig: `  tls_listen: 127.0.0.1:${tlsPort}\n  connect_address: 127.0.0.1:${tlsPort}`,
  })
  const held: (() => void)[] = []
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/health/slow') held.push(() => response.end('slow'))
    else response.end('ok')
  })
  const settings = newTenant('acme', { mode: 'connector', origin: 'http://shop.internal' })
  await fleet.operator('POST', '/tenants', { ...settings, excluded: ['/health'] })
  await fleet.operator('POST', '/tenants/acme/publish')
  await fleet.settled()
  const program = await downloadConnector(fleet.folder, fleet.baseUrl)
  const home = fleet.folder
  const state = join(home, 'state')
  const processes: ConnectorProcess[] = []
  const call = (node: string, ...args: string[]) => {
    const started = startConnectorProcess(t, [node, program, ...args], home)
    processes.push(started)
    return started
  }
  const port = fleet.gatewayPorts[0]!
  return {
    ...{ fleet, origin, state, call, processes, held, port },
    async token() {
      const { body } = await fleet.operator('POST', '/tenants/acme/connector-tokens', {})
      const secret = String(body['token'])
      const file = join(home, 'join-token')
      writeFileSync(file, `${secret}\n`, { mode: 0o600 })
      return { secret, file }
    },
    load: (requests: number) =>
      startSteadyLoad({ port, requests, clients: 4, head: HEAD, status: 200 }),
  }
}

t.test('from a join token to the last request', async (t) => {
  const { fleet, origin, state, call, processes, token, load, held, port } = await start(t)
  const nodes = [...nodesHere().values()]
  const [newest = '', oldest = newest] = nodes
  const { secret, file } = await token()

  const joining = call(
    oldest,
    'join',
    '--origin',
    origin.url,
    '--token-file',
    file,
    '--state',
    state,
  )
  t.equal(await joining.exited, 0, joining.output())
  const run = () => call(oldest, 'run', '--local-port', 'none', '--state', state)
  const first = run()
  await first.logged('"msg":"connected"', WORKERS)
  const served = load(200)
  await served.done
  t.strictSame(served.failures, [])
  const listed = async () => (await fleet.operator('GET', '/tenants/acme/connectors')).body['items']
  t.match(
    await listed(),
    [{ state: 'connected', gateways: [{ state: 'connected' }] }],
    'its workers are one gateway',
  )

  // Nothing that others could take it by.
  const read = () =>
    JSON.parse(readFileSync(join(state, 'connector.json'), 'utf8')) as {
      key: { key_id: string; private_key: string }
    }
  const kept = read()
  const seen = visibleOf(first.child)
  for (const hidden of [secret, kept.key.private_key]) t.notMatch(seen, hidden)
  for (const name of ['.', ...readdirSync(state)])
    t.equal(statSync(join(state, name)).mode & 0o077, 0, name)

  // A new key, while requests go on.
  const meanwhile = load(1500)
  first.child.kill('SIGUSR2')
  await first.logged('the key has been replaced')
  const { key } = read()
  t.not(key.key_id, kept.key.key_id)
  await meanwhile.done
  t.strictSame(meanwhile.failures, [])
  const after = load(50)
  await after.done
  t.strictSame(after.failures, [], 'the key before is dead by now, and nobody needs it')

  // Told to stop while a request is under way.
  const answer = askSlowly(port)
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  first.child.kill('SIGTERM')
  await first.logged('stopping')
  held.pop()?.()
  t.equal(await answer, 'slow')
  t.equal(await first.exited, 0)

  // Without a control plane it starts with what it has kept, on another Node.
  await fleet.controlPlane.stop('SIGKILL')
  const second = call(newest, 'run', '--local-port', 'none', '--state', state)
  await second.logged('"msg":"connected"', WORKERS)
  const alone = load(200)
  await alone.done
  t.strictSame(alone.failures, [])
  await second.logged('cannot be reached')

  // A second one with the same key would take its connections.
  const rival = run()
  t.equal(await rival.exited, 1)
  t.match(rival.output(), /A connector already runs with/)

  await fleet.startControlPlane()
  await second.logged('the control plane answers again')
  await fleet.settled()
  const [one] = (await listed()) as unknown as [{ connector_id: string }]
  t.match(one, { state: 'connected' }, 'the gateway has told the new control plane at once')
  const { connector_id: connectorId } = one
  await fleet.operator('DELETE', `/tenants/acme/connectors/${connectorId}`)
  await second.logged('this connector was revoked')
  const refused = load(1)
  await refused.done
  t.strictSame(refused.failures, ['status 503'])
  t.ok(statSync(join(state, 'connector.json')).isFile(), 'its state stays')
  t.equal(second.child.exitCode, null, 'and it goes on trying')
  second.child.kill('SIGINT')
  t.equal(await second.exited, 0)

  const left = call(oldest, 'leave', '--state', state)
  t.equal(await left.exited, 0)
  const said = processes.map((one) => one.output()).join('') + fleet.logs()
  for (const hidden of [secret, kept.key.private_key, key.private_key]) t.notMatch(said, hidden)
})

async function askSlowly(port: number): Promise<string> {
  const head = { host: 'acme.localhost' }
  const { body } = await request(`http://127.0.0.1:${port}/health/slow`, { headers: head })
  return body.text()
}
