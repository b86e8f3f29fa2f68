/** How many WebSockets a session, a tenant and a process may have: N, and not one more. */
import t from 'tap'
import type { Exchange } from '../../../gateway/wire/exchange.ts'
import { Deadlines } from '../../../gateway/wire/deadlines.ts'
import { createUpgrades, type Claim } from '../../../gateway/upgrade/upgrades.ts'
import type { UpstreamFailure } from '../../../gateway/wire/upstream-call.ts'
import { createUpstreamRuntime } from '../../../gateway/upstream/runtime.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { connect, refusalOf, startWebSocketApplication } from '../../support/websockets.ts'
import { startRawOrigin } from '../../support/wire.ts'

const limits = {
  webSocketsPerSessionMax: 2,
  webSocketsPerClientMax: 2,
  webSocketsPerTenantMax: 3,
  webSocketsPerProcessMax: 5,
}

async function startUpgrades(
  t: Parameters<typeof startRawOrigin>[0],
  isExempt: (address: string) => boolean = () => true,
  given: Partial<typeof LIMITS> | typeof limits = limits,
) {
  const application = await startRawOrigin(t, (socket) => void socket.resume())
  const runtime = createUpstreamRuntime({})
  const upgrades = createUpgrades({
    lookup: runtime.lookup,
    deadlines: new Deadlines(systemClock),
    clock: systemClock,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    limits: given,
    isExempt,
  })
  t.teardown(() => {
    upgrades.close()
    runtime.close()
  })
  /** A handshake that the application does not answer. Answers how to give it up. */
  const failures: string[] = []
  const begin = (claim: Claim) => {
    const exchange = {} as Exchange // only looked at when the application agrees
    const { origin } = new URL(application.url)
    const call = upgrades.upstream({ exchange, origin, responseLines: '', ...claim }).request(
      {
        method: 'GET',
        target: '/live',
        lines: `Host: ${HOST}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`,
        bodyLength: 0,
        hasLength: false,
        firstBody: '',
        isBodyWhole: true,
        isRawChunked: true,
      },
      { onError: ({ code }: UpstreamFailure) => void failures.push(code) } as never,
    )
    return () => call.abort()
  }
  return { upgrades, begin, application, failures }
}

t.test('each limit counts handshakes under way, and only its own', async (t) => {
  const { upgrades, begin } = await startUpgrades(t)
  const of = (tenantId: string, sid = '') => ({ tenantId, sid, client: '' })
  begin(of('acme', 'ada'))
  t.ok(upgrades.hasRoom(of('acme', 'ada')))
  begin(of('acme', 'ada'))
  t.notOk(upgrades.hasRoom(of('acme', 'ada')), 'the session has as many as it may')
  t.ok(upgrades.hasRoom(of('acme', 'bob')), 'another one has none')
  t.ok(upgrades.hasRoom(of('beta', 'ada')), 'a session of the same name at another tenant neither')
  const give = begin(of('acme'))
  t.notOk(upgrades.hasRoom(of('acme', 'bob')), 'the tenant has as many as it may')
  t.notOk(upgrades.hasRoom(of('acme')), 'without a session as well')
  begin(of('beta', 'ada'))
  t.ok(upgrades.hasRoom(of('gamma', 'eve')))
  const last = begin(of('gamma', 'eve'))
  t.notOk(upgrades.hasRoom(of('delta', 'zoe')), 'the process has as many as it may')
  last()
  await until(() => upgrades.hasRoom(of('delta', 'zoe')))
  t.notOk(upgrades.hasRoom(of('acme', 'bob')))
  give()
  await until(() => upgrades.hasRoom(of('acme', 'bob')))
  t.notOk(upgrades.hasRoom(of('acme', 'ada')), 'her own two are still there')
})

t.test('those that a full connection has held together have no more of it', async (t) => {
  const { upgrades, begin, failures } = await startUpgrades(t)
  const ada = { tenantId: 'acme', sid: 'ada', client: '' }
  const held = [1, 2, 3, 4].filter(() => upgrades.hasRoom(ada))
  const giveUp = held.map(() => begin(ada))
  t.same(failures, ['upstream_busy', 'upstream_busy'])
  for (const end of giveUp) end()
  await until(() => upgrades.hasRoom(ada))
  begin(ada)
  begin(ada)
  t.notOk(upgrades.hasRoom(ada))
  t.equal(failures.length, 2)
})

t.test('one client of a tenant has its share, whoever is signed in there', async (t) => {
  const { upgrades, begin } = await startUpgrades(t, (address) => address === '10.0.0.1')
  const from = (client: string, tenantId = 'acme') => ({ tenantId, sid: '', client })
  begin(from('192.0.2.1'))
  begin({ ...from('192.0.2.1'), sid: 'ada' })
  t.notOk(upgrades.hasRoom(from('192.0.2.1')))
  t.notOk(upgrades.hasRoom({ ...from('192.0.2.1'), sid: 'bob' }))
  t.ok(upgrades.hasRoom(from('192.0.2.2')))
  t.ok(upgrades.hasRoom(from('192.0.2.1', 'beta')))
  begin(from('2001:db8::1', 'beta'))
  begin(from('2001:db8:0:1::2', 'beta'))
  t.notOk(upgrades.hasRoom(from('2001:db8:0:2::3', 'beta')), 'a site of IPv6 is one client')
  t.ok(upgrades.hasRoom(from('2001:db8:1::3', 'beta')))
})

const PROCESS = {
  ...limits,
  webSocketsPerClientMax: 100,
  webSocketsPerTenantMax: 20,
  webSocketsPerProcessMax: 40,
}

t.test('a few tenants leave some to all others', async (t) => {
  const { upgrades, begin } = await startUpgrades(t, () => true, PROCESS)
  const of = (tenantId: string) => ({ tenantId, sid: '', client: '' })
  const fill = (tenantId: string) => {
    let count = 0
    for (; upgrades.hasRoom(of(tenantId)); count++) begin(of(tenantId))
    return count
  }
  t.equal(fill('acme'), 20, 'as many as a tenant may have')
  t.equal(fill('beta'), 10, 'half of what is left')
  t.equal(fill('gamma'), 5)
  t.ok(upgrades.hasRoom(of('delta')), 'and there is room for one more')
})

t.test('one client at many tenants leaves some to all others', async (t) => {
  const { upgrades, begin } = await startUpgrades(t, () => false, PROCESS)
  const from = (client: string, tenantId: string) => ({ tenantId, sid: '', client })
  let held = 0
  for (let round = 0; round < 40; round++) {
    const claim = from(`2001:db8:0:${round}::1`, `tenant-${round % 8}`)
    if (!upgrades.hasRoom(claim)) continue
    begin(claim)
    held++
  }
  t.equal(held, 20, 'half, over all its networks')
  t.ok(upgrades.hasRoom(from('192.0.2.1', 'tenant-1')))
})

t.test('a balancer is as many people as the tenant has', async (t) => {
  const { upgrades, begin } = await startUpgrades(t, (address) => address === '10.0.0.1')
  const claim = { tenantId: 'acme', sid: '', client: '10.0.0.1' }
  for (let count = 0; count < limits.webSocketsPerTenantMax; count++) {
    t.ok(upgrades.hasRoom(claim))
    begin(claim)
  }
  t.notOk(upgrades.hasRoom(claim))
})

t.test('what is refused or ends gives its place back, and once only', async (t) => {
  const application = await startWebSocketApplication(t, (socket) => socket.close())
  const edge = await startEdge(t, application.url)
  const cookie = edge.session()
  for (let round = 0; round < LIMITS.webSocketsPerSessionMax + 10; round++) {
    const { closed } = await connect(t, edge, '/live', { cookie })
    await closed
    await until(() => edge.gateway.telemetry.gauges().webSockets === 0)
  }
  edge.put({ origin: 'http://127.0.0.1:1' })
  for (let round = 0; round < LIMITS.webSocketsPerSessionMax + 10; round++)
    t.equal((await refusalOf(connect(t, edge, '/live', { cookie }))).status, 502)
  edge.put({ origin: application.url })
  await connect(t, edge, '/live', { cookie })
})
