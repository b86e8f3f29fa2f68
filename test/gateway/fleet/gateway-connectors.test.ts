/** Which tenants have a connector at this gateway, as its workers are told. */
import t from 'tap'
import { createGatewayConnectors } from '../../../gateway/fleet/gateway-connectors.ts'
import type { RelayChange } from '../../../gateway/fleet/relay-messages.ts'
import type { ConnectorHere } from '../../../shared/fleet/connector-presence.ts'

const here = (
  tenantId: string,
  connectorId = 'con_1',
  state: ConnectorHere['state'] = 'connected',
): ConnectorHere => ({
  ...{ tenantId, connectorId, state, reason: null, program: '1.0.0', sinceMs: 0, knownMs: 0 },
  ...{ connections: 1, inUse: 0, requests: 0, roundTripMs: null, lastError: null },
})

function start() {
  const sent: RelayChange[] = []
  const connectors = createGatewayConnectors((change) => void sent.push(change))
  return { ...connectors, sent, told: () => sent.splice(0) }
}

t.test('the first of a tenant, at whichever worker, and the last one', async (t) => {
  const { add, told, state } = start()
  const [one, two] = [{}, {}]
  add(one, { here: [here('acme'), here('other')], gone: [] })
  const both = [
    ['acme', true],
    ['other', true],
  ]
  t.same(told(), [{ type: 'here', tenants: both }])
  t.same([...state()], [{ type: 'here', tenants: both }], 'for a worker that begins')
  add(two, { here: [here('acme')], gone: [] })
  add(one, { here: [here('acme')], gone: [] })
  add(one, { here: [], gone: [here('acme')] })
  add(one, { here: [], gone: [here('acme')] })
  t.same(told(), [], 'the other worker has it still')
  add(two, null)
  t.same(told(), [{ type: 'here', tenants: [['acme', false]] }])
  add(one, null)
  t.same(told(), [{ type: 'here', tenants: [['other', false]] }])
  t.same([...state()], [])
})

t.test('one that drains takes no requests, and one of two is one', async (t) => {
  const { add, told } = start()
  const worker = {}
  add(worker, { here: [here('acme', 'con_1'), here('acme', 'con_2')], gone: [] })
  t.same(told(), [{ type: 'here', tenants: [['acme', true]] }])
  add(worker, { here: [here('acme', 'con_1', 'draining')], gone: [] })
  t.same(told(), [])
  add(worker, { here: [here('acme', 'con_2', 'draining')], gone: [] })
  t.same(told(), [{ type: 'here', tenants: [['acme', false]] }])
  add(worker, { here: [], gone: [here('acme', 'con_1'), here('acme', 'con_2')] })
  t.same(told(), [])
})
