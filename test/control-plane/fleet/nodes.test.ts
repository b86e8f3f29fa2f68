/** Several control planes on one database: what is done at one holds at the gateways of all. */
import { setImmediate } from 'node:timers/promises'
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

const gatewayAt = (t: Test, { fleetPort }: TestNode, id: string, fleetKey = FLEET_KEY) =>
  startGateway(t, { id, port: fleetPort, fleetKey })

const connectedTo = ({ services }: TestNode) =>
  services.gateways().flatMap(({ connected, gateway_id }) => (connected ? [gateway_id] : []))

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

t.test(
  'a gateway whose control plane stops goes to another, and is not sent everything',
  { skip: NO_POSTGRES },
  async (t) => {
    const { here, there } = await startWorld(t)
    const near = gatewayAt(t, here, 'near')
    const ports = { port: here.fleetPort, otherPorts: [there.fleetPort] }
    const far = startGateway(t, { id: 'far', fleetKey: FLEET_KEY, ...ports })
    for (const { registry } of [near, far])
      await until(() => servedAt(registry, 'acme.localhost') !== undefined)
    // each knows of both, wherever they are
    for (const node of [here, there]) await until(() => connectedTo(node).length === 2)
    const { services } = here.lines.some(({ gateway_id }) => gateway_id === 'far') ? here : there
    await services.tenants.patch('acme', { name: 'Acme Inc.' }, ACTOR)
    await until(() => servedAt(far.registry, 'acme.localhost')?.name === 'Acme Inc.')
    const next = services === here.services ? there : here
    next.lines.splice(0)
    await services.fleet.close()
    await until(() => next.lines.some(({ msg }) => msg === 'gateway connected'))
    await next.services.tenants.patch('acme', { name: 'Acme Ltd.' }, ACTOR)
    await until(() => servedAt(far.registry, 'acme.localhost')?.name === 'Acme Ltd.')
    t.notOk(next.lines.some(({ msg }) => msg === 'the gateway is sent everything'))
  },
)

t.test(
  'a key that is revoked at one cuts its gateway off at another, and all share a new secret',
  { skip: NO_POSTGRES },
  async (t) => {
    const { here, there } = await startWorld(t)
    const { key, keyId } = await here.services.gatewayKeys.make('far', ACTOR)
    gatewayAt(t, there, 'far', key)
    await until(() => connectedTo(there).includes('far'))
    await until(() => connectedTo(here).includes('far'))
    gatewayAt(t, there, 'beside')
    await until(() => connectedTo(here).includes('beside'))
    const { list } = there.services.gatewayKeys
    const [reading, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    there.services.gatewayKeys.list = async () => {
      reading.resolve()
      await goOn.promise
      return list()
    }
    let isAnswered = false
    const revoking = here.services.gatewayKeys
      .revoke('far', keyId, ACTOR)
      .finally(() => (isAnswered = true))
    await reading.promise
    await here.services.tenants.patch('acme', { name: 'Acme Inc.' }, ACTOR)
    t.ok((await here.services.changeEnforced('acme')).applied.includes('beside'))
    t.equal(isAnswered, false, 'it has come by, and has not been followed')
    goOn.resolve()
    const enforced = await revoking
    t.same([enforced.applied, enforced.pending, enforced.unreachable], [['beside'], [], []])
    t.notOk(connectedTo(there).includes('far'))
    await until(() => there.lines.some(({ msg }) => msg === 'gateway disconnected'))
  },
)

t.test(
  'what is kept in memory is dropped once another has changed it',
  { skip: NO_POSTGRES },
  async (t) => {
    const { here, there } = await startWorld(t)
    await here.services.tenants.create(tenantNamed('shop', { mode: 'sdk' }), ACTOR)
    await here.services.tenants.publish('shop', ACTOR)
    const tenant = await there.services.tenants.find('shop')
    const poll = { name: 'one', version: '1', features: new Set<never>(), clockOffsetMs: null }
    /** Nothing while it may be behind, on a machine that is slow. */
    const told = async () => {
      await setImmediate()
      const answer = there.services.feed.poll(tenant!, poll, undefined)
      const settled = await answer.catch((error: unknown) => error)
      if (!(settled instanceof Error)) return (settled as { body?: string }).body ?? ''
      t.match(settled, { code: 'unavailable' })
      return ''
    }
    while (!(await told()).includes('"name":"shop"'));
    await here.services.tenants.patch('shop', { name: 'Shop Inc.' }, ACTOR)
    while (!(await told()).includes('"name":"Shop Inc."'));
    await here.services.revocations.revoke('shop', { all: true }, ACTOR)
    while (!/"all":[1-9]/.test(await told()));
    t.pass('both have come to it')
  },
)
