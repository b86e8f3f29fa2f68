/** Which connectors are connected, as gateways say. */
import t from 'tap'
import { createConnectorPresence } from '../../../control-plane/connectors/presence.ts'
import type { ConnectorPresence } from '../../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startControlPlane, until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

function said(of: Partial<ConnectorPresence> = {}): ConnectorPresence {
  return {
    tenant_id: 'acme',
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
  }
}

const message = (here: ConnectorPresence[], of: { isFull?: boolean; gone?: string[] } = {}) => ({
  type: 'connectors' as const,
  is_full: of.isFull ?? false,
  here,
  gone: (of.gone ?? []).map((connector_id) => ({ tenant_id: 'acme', connector_id })),
})

t.test('what each gateway says of a tenant, until it is not renewed', async (t) => {
  const clock = movableClock()
  const presence = createConnectorPresence({ clock })
  const changed: string[][] = []
  presence.onChange((tenants) => void changed.push([...tenants]))
  presence.receive('edge-1', message([said(), said({ tenant_id: 'other' })]))
  presence.receive('edge-2', message([said({ state: 'unreachable', reason: 'refused' })]))
  t.match(presence.of('acme'), [
    { gatewayId: 'edge-1', state: 'connected', sinceMs: clock.nowMs() - 5000, requests: 7 },
    { gatewayId: 'edge-2', state: 'unreachable', reason: 'refused' },
  ])
  t.same(changed, [['acme', 'other'], ['acme']])
  clock.advance(LIMITS.connectorPresenceMs - 1)
  presence.receive('edge-2', message([]))
  t.equal(presence.of('acme').length, 2)
  t.equal(changed.length, 2, 'a renewal is no news')
  clock.advance(1)
  t.match(presence.of('acme'), [{ gatewayId: 'edge-2' }])
  t.same(presence.of('other'), [])
  t.same(changed[2], ['acme', 'other'])
  presence.receive('edge-2', message([], { gone: ['con_1'] }))
  t.same(presence.of('acme'), [])
})

t.test('a gateway that was not heard for a while has what it had, once it is heard', async (t) => {
  const clock = movableClock()
  const presence = createConnectorPresence({ clock })
  presence.receive('edge-1', message([said()], { isFull: true }))
  clock.advance(LIMITS.connectorPresenceMs)
  t.same(presence.of('acme'), [])
  const changed: string[][] = []
  presence.onChange((tenants) => void changed.push([...tenants]))
  presence.receive('edge-1', message([]))
  t.match(presence.of('acme'), [{ gatewayId: 'edge-1', connectorId: 'con_1' }])
  t.same(changed, [['acme']])
  clock.advance(LIMITS.connectorGatewayKeptMs)
  presence.forgetOld()
  presence.receive('edge-1', message([]))
  t.same(presence.of('acme'), [], 'it had an hour')
})

t.test('a full word replaces all before it; more than may be is left out', async (t) => {
  const presence = createConnectorPresence({ clock: movableClock() })
  presence.receive('edge-1', message([said(), said({ connector_id: 'con_2' })]))
  presence.receive('edge-1', message([said({ connector_id: 'con_3' })], { isFull: true }))
  t.match(presence.of('acme'), [{ connectorId: 'con_3' }])
  const most = LIMITS.connectorsReportedMax
  const many = Array.from({ length: most + 1 }, (_, at) => said({ connector_id: `con_${at}` }))
  presence.receive('edge-1', message(many, { isFull: true }))
  t.equal(presence.of('acme').length, most)
})

t.test('over the fleet link; a message beyond its bounds is void', async (t) => {
  const heard: string[] = []
  const control = await startControlPlane(t, {
    onConnectors: (gatewayId, { here }) => void heard.push(`${gatewayId} ${here.length}`),
  })
  const raw = await connectRaw(t, control.port)
  await raw.wait('synced')
  raw.send(message(Array.from({ length: LIMITS.connectorsReportedAtOnceMax + 1 }, () => said())))
  const long = 'x'.repeat(LIMITS.connectorReasonCharactersMax + 1)
  raw.send(message([said({ state: 'unreachable', reason: long })]))
  raw.send(message(Array.from({ length: LIMITS.connectorsReportedAtOnceMax }, () => said())))
  await until(() => heard.length > 0)
  t.same(heard, [`raw-1 ${LIMITS.connectorsReportedAtOnceMax}`])
  t.ok(control.lines.filter(({ msg }) => msg === 'a malformed message').length >= 2)
})
