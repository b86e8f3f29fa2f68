/** A gateway that does not know what a tenant needs must not serve it as if it needed nothing. */
import t from 'tap'
import { startControlPlane, startGateway, statusOf, until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

const ACCESS = {
  access: { rules: [{ path: '/reports', allow: [{ signed_in: true as const }] }], slots: [] },
}
const OLD = { features: [] }

t.test('one from before is told that a tenant with rules is suspended', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada', ACCESS)
  control.put('bob')
  const [old, fresh] = [
    await connectRaw(t, control.port, { id: 'old', ...OLD }),
    await connectRaw(t, control.port, { id: 'fresh' }),
  ]
  for (const raw of [old, fresh]) await raw.wait('synced')
  const told = (raw: typeof old, tenantId: string) =>
    raw.of('tenant').find(({ tenant_id }) => tenant_id === tenantId)?.snapshot as object
  t.match(told(old, 'ada'), { status: 'suspended' })
  t.notOk('access' in told(old, 'ada'))
  t.match(told(old, 'bob'), { status: 'published' })
  t.match(told(fresh, 'ada'), { status: 'published', ...ACCESS })

  const ofOld = control.hub.gateways().find(({ gateway_id }) => gateway_id === 'old')
  t.match(ofOld?.rejections, [
    { tenant_id: 'ada', reason: /too old for this tenant’s access rules/ },
  ])
  t.equal(ofOld?.rejections.length, 1)
  const ofFresh = control.hub.gateways().find(({ gateway_id }) => gateway_id === 'fresh')
  t.same(ofFresh?.rejections, [])
})

t.test(
  'one that knows rules but no attributes is told so of a tenant whose rules ask for one',
  async (t) => {
    const control = await startControlPlane(t)
    control.put('ada', ACCESS)
    const attr = { department: 'audit' }
    const slot = { slot: 0, since: 1, attribute: 'department', value: 'audit' }
    const rules = [{ path: '/reports', allow: [{ attr }] }]
    control.put('bob', { access: { rules, slots: [], attribute_slots: [slot] } })
    const before = await connectRaw(t, control.port, { id: 'before', features: ['access_rules'] })
    await before.wait('synced')
    const statuses = before
      .of('tenant')
      .map(({ tenant_id, snapshot }) => [tenant_id, (snapshot as { status: string }).status])
    t.same(Object.fromEntries(statuses), { ada: 'published', bob: 'suspended' })
  },
)

t.test('a first rule closes the tenant there at once, and its last one opens it', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const old = await connectRaw(t, control.port, OLD)
  await old.wait('synced')
  const statuses = () =>
    old.of('tenant').map(({ snapshot }) => (snapshot as { status: string }).status)
  t.same(statuses(), ['published'])
  control.put('ada', ACCESS)
  await until(() => statuses().length === 2)
  t.same(statuses(), ['published', 'suspended'])
  control.put('ada', { access: undefined })
  await until(() => statuses().length === 3)
  t.same(statuses().at(-1), 'published')
})

t.test('what one from before has kept is not trusted: it is sent everything', async (t) => {
  const control = await startControlPlane(t)
  const revision = control.put('ada', ACCESS)
  const has = { epoch: 'epoch-1', revision }
  const old = await connectRaw(t, control.port, { id: 'old', ...has, ...OLD })
  await old.wait('synced')
  t.match(old.received[0], { type: 'welcome', is_full: true })
  t.match(old.of('tenant'), [{ tenant_id: 'ada', snapshot: { status: 'suspended' } }])
  t.equal(old.of('synced').at(-1)?.state_hash, undefined, 'nor are states compared')
  const fresh = await connectRaw(t, control.port, { id: 'fresh', ...has })
  await fresh.wait('synced')
  t.match(fresh.received[0], { type: 'welcome', is_full: false })
})

t.test('by need, each of its tenants has another version, so that it asks again', async (t) => {
  const control = await startControlPlane(t, { tenantsToldWholeMax: 0 })
  control.put('ada', ACCESS)
  const [old, fresh] = [
    await connectRaw(t, control.port, { id: 'old', ...OLD }),
    await connectRaw(t, control.port, { id: 'fresh' }),
  ]
  for (const raw of [old, fresh]) await raw.wait('index')
  const versionAt = (raw: typeof old) => raw.of('index')[0]?.tenants[0]?.[2]
  t.equal(versionAt(old), `${versionAt(fresh)}.closed`)
  for (const raw of [old, fresh]) {
    raw.send({ type: 'want', tenant_ids: ['ada'] })
    await raw.wait('tenant')
  }
  t.match(old.of('tenant'), [{ version: versionAt(old), snapshot: { status: 'suspended' } }])
  t.match(fresh.of('tenant'), [{ version: versionAt(fresh), snapshot: { status: 'published' } }])
})

t.test('a gateway of this version says what it knows', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada', ACCESS)
  const gateway = startGateway(t, { port: control.port })
  await until(() => statusOf(gateway.registry, 'ada.example') === 200)
  t.same(control.hub.gateways()[0]?.rejections, [])
})
