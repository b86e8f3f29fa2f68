/** All gateways are told at which of them connectors are, and how those are dialled. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { followHolders } from '../../../control-plane/connectors/holders.ts'
import { createConnectorPresence } from '../../../control-plane/connectors/presence.ts'
import type { ConnectorPresence } from '../../../shared/fleet/connector-presence.ts'
import type { Holders } from '../../../shared/fleet/holders.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConnectors } from '../../support/connectors.ts'
import { FLEET_KEY, movableClock } from '../../support/control-plane.ts'
import { until } from '../../support/fleet.ts'
import { connectRaw, type RawGateway } from '../../support/raw-gateway.ts'

const said = (tenant_id: string, of: Partial<ConnectorPresence> = {}): ConnectorPresence => ({
  tenant_id,
  connector_id: 'con_1',
  state: 'connected',
  reason: null,
  program: '1.0.0',
  since_seconds: 5,
  known_seconds: null,
  connections: 2,
  in_use: 1,
  requests: 7,
  round_trip_ms: 12,
  last_error: null,
  ...of,
})

const message = (here: ConnectorPresence[], gone: string[] = []) => ({
  type: 'connectors' as const,
  is_full: false,
  here,
  gone: gone.map((tenant_id) => ({ tenant_id, connector_id: 'con_1' })),
})

t.test('only what changes is told, and of so many gateways', async (t) => {
  const clock = movableClock()
  const presence = createConnectorPresence({ clock })
  const told: (readonly Holders[])[] = []
  const holders = followHolders({ presence, tell: (changed) => void told.push(changed) })
  presence.receive('edge-2', message([said('acme'), said('other')]))
  presence.receive('edge-1', message([said('acme'), said('late', { state: 'draining' })]))
  await until(() => told.length === 1)
  t.strictSame(told[0], [
    ['acme', ['edge-1', 'edge-2']],
    ['other', ['edge-2']],
  ])
  presence.receive('edge-1', message([said('acme', { requests: 9 })]))
  presence.receive('edge-2', message([said('other', { state: 'unreachable' })], ['acme']))
  await until(() => told.length === 2)
  t.strictSame(told[1], [['acme', ['edge-1']]], 'of all the rest nothing is said')
  t.strictSame(
    [...holders.all()],
    [
      ['acme', ['edge-1']],
      ['other', ['edge-2']],
    ],
  )
  clock.advance(LIMITS.connectorPresenceMs)
  presence.forgetOld()
  await until(() => told.length === 3)
  t.strictSame(told[2], [
    ['other', []],
    ['acme', []],
  ])
  const many = LIMITS.holdersNamedMax + 3
  for (let number = 0; number < many; number++)
    presence.receive(`edge-${number}`, message([said('acme')]))
  await until(() => told.length === 4)
  t.equal(told[3]![0]![1].length, LIMITS.holdersNamedMax)
})

t.test('over the link: to who is there, to who comes, and without those sent away', async (t) => {
  const world = await startConnectors(t)
  const { services, operator } = world
  const server = createServer()
  services.fleet.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const doorOf = (id: string) => ({ address: `${id}.example:443`, certificate: 'Y2VydA' })
  const gateway = (id: string, fleetKey = FLEET_KEY) =>
    connectRaw(t, port, { id, fleetKey, connect: doorOf(id) })
  const dialled = (one: RawGateway) =>
    one
      .of('settings')
      .at(-1)
      ?.settings.gateways?.map(({ gateway_id }) => gateway_id)

  const made = await operator('POST', '/gateways', { gateway_id: 'edge-2' })
  const first = await gateway('edge-1')
  const second = await gateway('edge-2', String(made.body['key']))
  await until(() => dialled(first)?.length === 2)
  t.match(first.of('settings').at(-1)?.settings.gateways, [
    { gateway_id: 'edge-1', ...doorOf('edge-1') },
    { gateway_id: 'edge-2', ...doorOf('edge-2') },
  ])
  const crowd = LIMITS.holdersTenantsSentMax + 1
  for (let at = 0; at < crowd; at += 100) {
    const names = Array.from({ length: Math.min(100, crowd - at) }, (_one, of) => `t-${at + of}`)
    second.send(message(names.map((name) => said(name))))
  }
  const tenantsOf = (one: RawGateway) => one.of('holders').flatMap(({ tenants }) => tenants)
  await until(() => tenantsOf(first).length === crowd)
  t.ok(
    first
      .of('holders')
      .slice(1)
      .every(({ is_first }) => !is_first),
  )
  const third = await gateway('edge-3')
  await until(() => tenantsOf(third).length === crowd)
  t.strictSame(
    third.of('holders').map(({ is_first, tenants }) => [is_first, tenants.length]),
    [
      [true, LIMITS.holdersTenantsSentMax],
      [false, 1],
    ],
  )
  second.send(message([], ['t-0']))
  await until(() => tenantsOf(third).length === crowd + 1)
  t.strictSame(tenantsOf(third).at(-1), ['t-0', []])

  await until(() => dialled(first)?.length === 3)
  const revoked = await operator('DELETE', `/gateways/edge-2/keys/${String(made.body['key_id'])}`)
  const enforced = { gateways: 0, of: 2, pending: ['edge-1', 'edge-3'] }
  t.same(revoked.body, { gateway_id: 'edge-2', enforced }, 'these here confirm nothing')
  await second.closed
  await until(() => dialled(first)?.includes('edge-2') === false)
  t.strictSame(dialled(first), ['edge-1', 'edge-3'], 'its key spoke for it')
})
