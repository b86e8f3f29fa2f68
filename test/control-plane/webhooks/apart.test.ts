/** What one receiver does is nobody else's trouble. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { SECOND_MS } from '../../../shared/clock.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

void t.test('receivers that never answer do not keep others from theirs', async (t) => {
  const world = await startWebhooks(t, receivers)
  const [good, silent] = [await receivers.start(t), await receivers.start(t, () => 'hang')]
  await world.tenants.create(tenantNamed('other', { plan: 'premium' }), ACTOR)
  for (let count = 0; count < 20; count++) await world.webhook(silent.url)
  await world.webhook(good.url, ['tenant.suspended'], 'other')
  await world.emit(50)
  await silent.arrived(20) // they are under way, and stay so
  await world.emit(100, 'other')
  await good.arrived(100)
  t.equal(good.received.length, 100)
  t.ok(world.dispatcher.counts().underWay > 0, 'while those still wait for their answer')
  t.ok(silent.received.length <= LIMITS.webhookSendsPerTenantMax, 'and no more of those')
})

void t.test("a tenant's own webhooks do not wait for its broken one", async (t) => {
  const world = await startWebhooks(t, receivers)
  const [good, silent] = [await receivers.start(t), await receivers.start(t, () => 'hang')]
  await world.webhook(silent.url)
  await world.webhook(good.url)
  await world.emit(60)
  await good.arrived(60)
  t.equal(good.received.length, 60)
  t.ok(silent.received.length <= LIMITS.webhookSendsPerWebhookMax, 'which is not flooded either')
})

void t.test('a store that fails for a while loses nothing of what has been sent', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { change } = world.store
  let failures = 0
  const failing: typeof change = () => {
    failures += 1
    if (failures === 2) store.change = change
    return Promise.reject(new Error('database or disk is full'))
  }
  const store = world.store as { change: typeof change }
  const receiver = await receivers.start(t, () => {
    store.change = failing // it has been sent, and what came of it cannot be written down
    return 200
  })
  const { id } = await world.webhook(receiver.url)
  await world.emit(1)
  await world.dispatcher.run()
  t.equal(failures, 2)
  t.match(await world.onlyDelivery(id), { state: 'delivered', attempts: 1 })
})

void t.test('a retry that is due does not wait for the answer of another receiver', async (t) => {
  const world = await startWebhooks(t, receivers)
  const failing = await receivers.start(t, () => 500)
  await world.webhook(failing.url)
  await world.emit(1)
  await world.dispatcher.run()
  world.clock.advance(13 * SECOND_MS)
  const silent = await receivers.start(t, () => 'hang')
  const { id } = await world.webhook(silent.url, ['tenant.activated'])
  await world.store.change((change) =>
    change.emit('tenant.activated', 'acme', { status: 'published' }),
  )
  await silent.arrived(1)
  world.clock.advance(4 * SECOND_MS) // the first gap is over, and the lease of the other is not
  await failing.arrived(2)
  t.strictSame((await world.onlyDelivery(id)).tries, [], 'which is still waited for')
})
