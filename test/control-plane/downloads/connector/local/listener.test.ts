/** The listener on a connector's own machine, beside a real gateway's door and a real application. */
import { connect, createServer as createRelay, type AddressInfo, type Socket } from 'node:net'
import { createServer, request } from 'node:http'
import t, { type Test } from 'tap'
import {
  LOCAL_PORT,
  openLocalListener,
} from '../../../../../control-plane/downloads/connector/local/listener.ts'
import {
  startLocal,
  type Local,
} from '../../../../../control-plane/downloads/connector/local/local.ts'
import type { TunnelEvent } from '../../../../../control-plane/downloads/connector/tunnel/worker-link.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { ask, dialIn, newConnectorKeys, openDoor } from '../../../../support/dialled-in.ts'
import { freePort } from '../../../../support/ports.ts'
import { startOrigin } from '../../../../support/wire.ts'

const ANSWERS = {
  look: () => Promise.resolve(),
  ready: () => ({ isReady: true, body: { is_ready: true } }),
  status: () => ({ connector_id: 'con_1' }),
  metrics: () => ({ type: 'text/plain', text: 'a 1\n' }),
}

interface Answered {
  readonly status: number
  readonly body: string
  readonly headers: Record<string, unknown>
}

function get(port: number, path: string, wish: { host?: string; method?: string } = {}) {
  const { host = `127.0.0.1:${port}`, method = 'GET' } = wish
  return new Promise<Answered>((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path, method, headers: { host }, agent: false },
      (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += chunk.toString()))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
        )
      },
    )
    asked.on('error', reject).end()
  })
}

async function listenerOf(t: Test) {
  const listener = await openLocalListener(0, ANSWERS)
  t.teardown(() => listener.close())
  return listener
}

/** A connector with its listener, at a door that lets it in. */
async function running(t: Test, origin: string, nowMs = () => Date.now()) {
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  let local: Local | undefined
  const onEvent = (event: TunnelEvent) => local?.onEvent(event)
  const { tunnel } = dialIn(t, door, keys, { origin, world: { onEvent, nowMs } })
  const facts = () => ({
    tenantId: 'acme',
    connectorId: 'con_1',
    program: '1.2.3',
    origin,
    listSequence: 7,
    listConfirmedMs: undefined,
    controlPlaneProblem: '',
  })
  const started = (local = await startLocal({ port: 0, tunnel, facts, nowMs }))
  t.teardown(() => started.close())
  return { door, keys, tunnel, local: started, port: started.port! }
}

async function until<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look()
    if (isSo(seen)) return seen
    await new Promise((next) => setTimeout(next, 10))
  }
}

t.test('ready once a round trip to the application has come through a gateway', async (t) => {
  t.ok(LIMITS.connectorCheckMs * 2 < LIMITS.connectorCheckedMsMax, 'one lost check is no outage')
  const origin = await startOrigin(t)
  const { port, door, tunnel } = await running(t, origin.url)
  const ready = () => get(port, '/ready')
  const well = await until(ready, ({ status }) => status === 200)
  t.match(JSON.parse(well.body), {
    is_ready: true,
    gateways: [{ gateway_id: 'gateway-1', links: [{ worker: 1, state: 'checked' }] }],
  })
  t.match(await ask(door.upstream), { status: 200 })
  t.match(await get(port, '/ready', { method: 'HEAD' }), { status: 200, body: '' })

  const { body: metrics, headers } = await get(port, '/metrics')
  t.match(headers['content-type'], 'text/plain; version=0.0.4')
  const link = '{gateway="gateway-1",worker="1"'
  t.match(metrics, 'service_connector_ready 1\n')
  t.match(metrics, `service_connector_link${link},state="checked"} 1\n`)
  t.match(metrics, `service_connector_link${link},state="silent"} 0\n`)
  t.match(metrics, /service_connector_opened_total\{result="opened"\} [2-9]\n/)
  t.match(metrics, /service_connector_round_trip_seconds\{[^}]*\} [\d.]+\n/)
  t.match(metrics, 'service_connector_list_age_seconds NaN\n')
  t.match(metrics, 'service_connector_list_sequence 7\n')
  for (const line of metrics.trimEnd().split('\n'))
    t.match(line, /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{(?:\w+="[^"]*",?)*\})? (?:[\d.e+-]+|NaN))$/)

  door.allow({})
  const refused = await until(ready, ({ status }) => status === 503)
  t.match(JSON.parse(refused.body), { is_ready: false, reason: 'not_connected' })
  t.match(tunnel.status(), [{ isConnected: false }])
})

t.test(
  'an application that is not there makes it not ready, though all is connected',
  async (t) => {
    const applicationPort = await freePort()
    const { port, local, tunnel } = await running(t, `http://127.0.0.1:${applicationPort}`)
    const ready = async () => JSON.parse((await get(port, '/ready')).body) as { reason: string }
    const failing = await until(ready, ({ reason }) => reason === 'application')
    t.match(failing, {
      is_ready: false,
      detail: /gateway-1: the application refused the connection/,
    })
    t.match(tunnel.status(), [{ isConnected: true }])
    t.match((await get(port, '/metrics')).body, /opened_total\{result="refused"\} [1-9]/)

    const application = createServer((_request, response) => response.end('ok'))
    await new Promise<void>((resolve) => application.listen(applicationPort, '127.0.0.1', resolve))
    t.teardown(() => application.close())
    tunnel.check()
    await until(ready, ({ reason }) => reason === null)
    local.drain()
    t.match(await get(port, '/ready'), { status: 503, body: /"draining"/ })
  },
)

t.test('nothing is checked while nobody asks, and who asks gets what is so now', async (t) => {
  let taken = 0
  const application = createServer().on('connection', () => taken++)
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  t.teardown(() => application.close())
  const { port: applicationPort } = application.address() as AddressInfo
  let aheadMs = 0
  const origin = `http://127.0.0.1:${applicationPort}`
  const { port, tunnel } = await running(t, origin, () => Date.now() + aheadMs)
  await until(
    () => Promise.resolve(tunnel.status()),
    ([link]) => link?.isConnected === true,
  )
  t.equal(taken, 0)
  t.match(await get(port, '/ready'), { status: 200 }, 'the first answer is a true one')
  t.equal(taken, 1)
  await Promise.all(['/ready', '/metrics', '/status'].map((path) => get(port, path)))
  t.equal(taken, 1, 'and soon after nothing is asked anew')
  aheadMs = LIMITS.connectorCheckMs
  await Promise.all([get(port, '/ready'), get(port, '/ready')])
  t.equal(taken, 2)
})

/** Passes on what comes, until it is told to keep it: nothing is closed, and nothing arrives. */
async function relayTo(t: Test, port: number) {
  const sockets = new Set<Socket>()
  let isStalled = false
  const server = createRelay({ allowHalfOpen: true }, (near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.on('data', (chunk) => void (isStalled || to.write(chunk)))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stall: () => (isStalled = true),
  }
}

t.test('a gateway that is connected and brings nothing through makes it not ready', async (t) => {
  const origin = await startOrigin(t)
  const second = await openDoor(t, { gatewayId: 'gateway-2' })
  const relay = await relayTo(t, second.port)
  let aheadMs = 0
  const one = await running(t, origin.url, () => Date.now() + aheadMs)
  second.allow({ con_1: one.keys })
  const named = (gateway_id: string, address: string, { certificate }: typeof second) => ({
    ...{ gateway_id, address, certificate },
  })
  one.tunnel.follow([
    named('gateway-1', one.door.address, one.door),
    named('gateway-2', relay.address, second),
  ])
  const ready = async () => get(one.port, '/ready')
  // Without one of them it would only be degraded.
  await until(ready, ({ status, body }) => status === 200 && body.includes('"is_degraded":false'))
  relay.stall()
  aheadMs = LIMITS.connectorCheckedMsMax + 1
  const wedged = await ready()
  t.equal(wedged.status, 503)
  t.match(one.tunnel.status(), [{ isConnected: true }, { isConnected: true }])
  t.match(JSON.parse(wedged.body), {
    reason: 'no_answer',
    detail: /gateway-2: no check has come through for 15 seconds/,
    gateways: [{ is_ready: true }, { is_ready: false, links: [{ state: 'silent' }] }],
  })
})

t.test('its status says what it is, and nothing that is secret', async (t) => {
  const { port } = await running(t, 'http://127.0.0.1:1')
  const { status, body, headers } = await get(port, '/status')
  t.equal(status, 200)
  t.match(headers, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  t.match(JSON.parse(body), {
    tenant_id: 'acme',
    connector_id: 'con_1',
    version: '1.2.3',
    process_id: process.pid,
    list: { sequence: 7, confirmed_seconds_ago: null },
    control_plane_problem: '',
  })
  t.notMatch(body, /key|token|secret|certificate/i)
})

t.test('a name that points here by a trick is not answered', async (t) => {
  const { port } = await listenerOf(t)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`])
    t.match(await get(port, '/status', { host }), { status: 200 }, host)
  const others = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1.evil:${port}`,
    ' ',
  ]
  for (const host of [...others, `127.0.0.1:${port + 1}`, `x@127.0.0.1:${port}`])
    for (const path of ['/status', '/metrics', '/ready']) {
      const { status, body } = await get(port, path, { host })
      t.equal(status, 421, `${host} ${path}`)
      t.notMatch(body, 'con_1')
    }
})

t.test('it can only be read', async (t) => {
  const { port } = await listenerOf(t)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    t.match(await get(port, '/status', { method }), {
      status: 405,
      headers: { allow: 'GET, HEAD' },
    })
  t.match(await get(port, '/other'), { status: 404 })
  t.match(await get(port, '/ready?verbose'), { status: 200 })
})

t.test('loopback only, and a bounded number of connections', async (t) => {
  const { port } = await listenerOf(t)
  // Every address of 127/8 is this machine; who listens everywhere answers on all of them.
  const elsewhere = connect(port, '127.0.0.2')
  const failed = await new Promise<string>((resolve) => {
    elsewhere.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''))
    elsewhere.on('connect', () => resolve('connected'))
  })
  t.equal(failed, 'ECONNREFUSED')

  const most = LIMITS.connectorLocalConnectionsMax
  const held = Array.from({ length: most }, () => connect(port, '127.0.0.1'))
  t.teardown(() => held.forEach((socket) => socket.destroy()))
  await Promise.all(held.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  await t.rejects(get(port, '/ready'), 'one more is cut off')
  held.pop()!.destroy()
  await until(
    () => get(port, '/ready').catch(() => undefined),
    (answered) => answered?.status === 200,
  )
})

t.test('a port that is taken is said, and the connector goes on', async (t) => {
  t.equal(LOCAL_PORT, 20317)
  const { port } = await listenerOf(t)
  const tunnel = { status: () => [], gateways: [], check: () => t.fail('nobody asks') }
  const facts = () => ({}) as never
  const local = await startLocal({ port, tunnel, facts, nowMs: () => 0 })
  t.equal(local.port, undefined)
  t.match(local.problem, new RegExp(`port ${port} is taken.*--local-port`))
  local.onEvent({ type: 'connected', gateway: 'g', worker: 1 })
  await local.close()
  const off = await startLocal({ port: undefined, tunnel, facts, nowMs: () => 0 })
  t.match(off, { port: undefined, problem: '' })
})
