/** Several control planes on one database: what is done at one holds at the gateways of all. */
import t, { type Test } from 'tap'
import { ACTOR, FLEET_KEY, tenantNamed } from '../../support/control-plane.ts'
import { servedAt, startGateway, until } from '../../support/fleet.ts'
import { startNode, type TestNode } from '../../support/nodes.ts'
import { NO_POSTGRES } from '../../support/postgres.ts'
import { newUrl } from '../../support/postgres-store.ts'

async function startWorld(t: Test) {
  const url = await newUrl()
  const [here, there] = [await startNode(t, url), await startNode(t, url)]
  await here.services.tenants.create(tenantNamed('acme'), ACTOR)
  await here.services.tenants.publish('acme', ACTOR)
  return { url, here, there }
}

const gatewayAt = (t: Test, { fleetPort }: TestNode, id: string) =>
  startGateway(t, { id, port: fleetPort, fleetKey: FLEET_KEY })

t.test(
  'a change at one is served by the gateways of another, and its answer counts them',
  { skip: NO_POSTGRES },
  async (t) => {
    const { here, there } = await startWorld(t)
    const near = gatewayAt(t, here, 'near')
    const far = gatewayAt(t, there, 'far')
    for (const { registry } of [near, far])
      await until(() => servedAt(registry, 'acme.localhost') !== undefined)
    await here.services.tenants.patch('acme', { name: 'Acme Inc.' }, ACTOR)
    const enforced = await here.services.changeEnforced('acme')
    t.match(enforced, { pending: [], unreachable: [] })
    t.same([...enforced.applied].sort(), ['far', 'near'])
    t.equal(servedAt(far.registry, 'acme.localhost')?.name, 'Acme Inc.')
  },
)

t.test(
  'a revocation at one is enforced by the gateways of all before it is acknowledged',
  { skip: NO_POSTGRES },
  async (t) => {
    const { here, there } = await startWorld(t)
    const near = gatewayAt(t, here, 'near')
    const far = gatewayAt(t, there, 'far')
    for (const { registry } of [near, far])
      await until(() => servedAt(registry, 'acme.localhost') !== undefined)
    for (const { services } of [here, there, here]) {
      const { enforced } = await services.revocations.revoke('acme', { all: true }, ACTOR)
      t.match(await enforced, { pending: [], unreachable: [] })
      t.same([...(await enforced).applied].sort(), ['far', 'near'])
    }
  },
)
