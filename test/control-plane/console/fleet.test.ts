/** Fleet: what operators see of gateways that are there, away, behind, or reject something. */
import t, { type Test } from 'tap'
import { createGatewayRegistry } from '../../../control-plane/fleet/gateway-registry.ts'
import { fleetRoutes } from '../../../control-plane/console/operator/fleet-routes.ts'
import type { Html } from '../../../control-plane/pages/html.ts'
import type { View } from '../../../control-plane/console/route.ts'
import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

/** The page over a registry that is written as the fleet's own connections write it. */
async function startFleetPage(t: Test) {
  const clock = movableClock()
  const { services } = await startConsole(t, { clock })
  const registry = createGatewayRegistry(clock)
  const revision = await services.store.revision()
  const { store, gatewayKeys } = services
  const gateways = () => registry.list(revision, [])
  const [route] = fleetRoutes({ store, gatewayKeys, gateways })
  const show = async () => {
    const handle = route!.handle as (visit: unknown) => Promise<View>
    const nowMs = clock.nowMs()
    const proofs = { csrf: '', newFormId: () => '', isReadOnly: false }
    const viewer = { isOperator: true, tenantIds: [], signedInAtMs: nowMs, sessionId: 'session' }
    const { content } = await handle({ nowMs, viewer, address: '/console/fleet', csrf: '', proofs })
    return String(await (content as Html))
  }
  return { registry, clock, revision, show }
}

void t.test('nobody is there yet, and what that means', async (t) => {
  const { person } = await startConsole(t)
  const { status, text } = await (await person('operator')).get('/console/fleet')
  t.equal(status, 200)
  t.match(text, /No gateways yet.*fleet\s+key.*No gateway keys/s)
})

void t.test('gateways that serve the latest revision are said to in one sentence', async (t) => {
  const { registry, clock, revision, show } = await startFleetPage(t)
  for (const id of ['edge-1', 'edge-2']) {
    registry.connected(id, '1.2.3', 0)
    registry.applied(id, revision, true)
  }
  clock.advance(5 * MINUTE_MS)
  for (const id of ['edge-1', 'edge-2']) registry.seen(id)
  const text = await show()
  t.match(text, /All 2 gateways serve the latest revision/)
  t.match(text, /edge-1.*version 1\.2\.3.*Up to date.*5 minutes ago.*now.*edge-2/s)
})

void t.test('one gateway is said to in the singular', async (t) => {
  const { registry, revision, show } = await startFleetPage(t)
  registry.connected('edge-1', '1.2.3', 0)
  registry.applied('edge-1', revision, true)
  t.match(await show(), /The gateway serves the latest revision/)
})

void t.test('who is away, behind, or not on its disk is seen at once', async (t) => {
  const { registry, clock, revision, show } = await startFleetPage(t)
  registry.connected('away', '1', 0)
  registry.applied('away', revision, true)
  registry.disconnected('away')
  clock.advance(2 * HOUR_MS)
  registry.connected('behind', '1', revision - 1)
  registry.connected('forgetful', '1', 0)
  registry.applied('forgetful', revision, false)
  const text = await show()
  t.match(text, /1 of 3 is offline .*1 of 3 is behind\./)
  t.match(text, /away .*Offline.*2 hours ago/s)
  t.match(text, /behind .*Behind.*unknown/s)
  t.match(text, /forgetful .*Not saved to disk/s)
})

void t.test('a rejection stands there once with its reason and who it is from', async (t) => {
  const { registry, revision, show } = await startFleetPage(t)
  for (const id of ['edge-1', 'edge-2']) {
    registry.connected(id, '1', 0)
    registry.applied(id, revision, true)
    registry.rejected(id, 'acme', 7, 'sealed[0]: <b>not a path</b>')
  }
  registry.rejected('edge-2', 'other', 8, 'too large')
  const text = await show()
  t.match(text, /2 tenants are served from an older state/)
  t.equal(text.match(/&lt;b&gt;not a path/g)?.length, 1)
  t.match(text, /console\/tenants\/acme.*edge-1, edge-2.*console\/tenants\/other.*edge-2/s)
  t.notMatch(text, /<b>not/)
})
