/** Connectors at the gateways of several control planes. */
import t, { type Test } from 'tap'
import type { ConnectorPresence } from '../../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { makeKey } from '../../support/connectors.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'
import { startNode } from '../../support/nodes.ts'
import { newUrl } from '../../support/postgres-store.ts'

async function startTwoNodes(t: Test) {
  const [url, clock] = [await newUrl(), movableClock(Date.now())]
  const { services: here } = await startNode(t, url, { clock })
  const { services: there } = await startNode(t, url, { clock })
  await here.tenants.create(tenantNamed('acme', { mode: 'connector', origin: '' }), ACTOR)
  await here.tenants.publish('acme', ACTOR)
  const asked = { name: 'web-1', uses: 1, expiresIn: 3600 }
  const { token } = await here.joinTokens.make('acme', asked, ACTOR)
  const { publicKey } = makeKey()
  const joining = { publicKey, name: 'web-1', program: '1.0.0', requestId: 'test' }
  const { connectorId } = await here.connectors.join(token, joining)
  return { here, there, clock, connectorId }
}

type Services = Awaited<ReturnType<typeof startTwoNodes>>['here']

const like = (connector_id: string): ConnectorPresence => ({
  ...{ tenant_id: 'acme', connector_id, state: 'connected', reason: null, program: '1.1.0' },
  ...{ since_seconds: 60, known_seconds: null, connections: 2, in_use: 1, requests: 7 },
  ...{ round_trip_ms: 12, last_error: null },
})

function say(services: Services, gatewayId: string, ids: readonly string[], isFull = false) {
  const here = ids.map(like)
  const message = { is_full: isFull, here, gone: [] }
  services.connectorPresence.receive(gatewayId, { type: 'connectors', ...message })
}

const seenAt = ({ connectorPresence }: Services) =>
  connectorPresence.of('acme').map(({ gatewayId, connectorId }) => `${gatewayId} ${connectorId}`)

async function toldBy({ enforcement }: Services) {
  return (await enforcement.list('acme', { limit: 20 })).items.map(({ outcome }) => outcome)
}

t.test('connectors at gateways of one control plane are known at the others', async (t) => {
  const { here, there, clock, connectorId } = await startTwoNodes(t)
  const round = async () => {
    for (const { jobs } of [here, there, here]) await jobs.run()
  }
  say(here, 'edge-1', [connectorId, 'con_other'], true)
  await round()
  const both = [`edge-1 ${connectorId}`, 'edge-1 con_other']
  t.strictSame(seenAt(there), both)
  for (let seconds = 0; seconds < 60; seconds += 5) {
    clock.advance(5000)
    say(here, 'edge-1', [])
    await round()
  }
  t.strictSame([seenAt(here), seenAt(there)], [both, both], 'as long as it is renewed')
  t.strictSame(await toldBy(there), ['connector_connected', 'connector_joined'], 'and told once')

  clock.advance(1000)
  say(there, 'edge-1', [connectorId], true)
  await round()
  const left = [`edge-1 ${connectorId}`]
  t.strictSame([seenAt(here), seenAt(there)], [left, left], 'it has gone to another one')
  clock.advance(LIMITS.connectorPresenceMs)
  await round()
  t.strictSame([seenAt(here), seenAt(there)], [[], []], 'what nobody renews is over')
  clock.advance(LIMITS.connectorPresenceMs)
  await round()
  t.strictSame((await toldBy(there))[0], 'connector_lost')
  clock.advance(LIMITS.connectorGatewayKeptMs + 1)
  await round()
  say(here, 'edge-2', [], true)
  await round()
  t.strictSame(seenAt(there), [])
})
