import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { ACTOR, movableClock, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

void t.test('who loses the plan loses what waits', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.emit(3)
  await world.dispatcher.run()
  await world.tenants.setPlan('acme', 'standard', ACTOR)
  const states = (await world.deliveriesOf(id)).map(({ state }) => state)
  t.strictSame(states, ['cancelled', 'cancelled', 'cancelled'])
  await world.later(DAY_MS)
  t.equal(receiver.received.length, 3, 'nothing is sent any more')
  const [entry] = (await world.auditTrail.list({ limit: 1 })).items
  t.match(entry, { action: 'plan.changed', content: { plan: 'standard', was: 'premium' } })
})

void t.test('nothing is queued on another plan, or replayed when premium is back', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  await world.tenants.setPlan('acme', 'free', ACTOR)
  await world.emit(2)
  await world.dispatcher.run()
  t.strictSame(await world.rows(), [])
  await world.tenants.setPlan('acme', 'premium', ACTOR)
  await world.later(HOUR_MS)
  t.strictSame(await world.deliveriesOf(id), [])
  await world.emit(1)
  await world.dispatcher.run()
  t.equal(receiver.received.length, 1, 'what happens from then on is told')
})

void t.test('what happened before premium came is not told, also after a restart', async (t) => {
  const shared = {
    file: join(temporaryFolder(t), 'service.db'),
    masterKey: randomBytes(32),
    clock: movableClock(),
  }
  const world = await startWebhooks(t, receivers, shared)
  const receiver = await receivers.start(t)
  await world.webhook(receiver.url)
  await world.tenants.setPlan('acme', 'standard', ACTOR)
  await world.dispatcher.close() // so that nobody looks at the event before premium is back
  await world.emit(1)
  await world.tenants.setPlan('acme', 'premium', ACTOR)
  const next = await startWebhooks(t, receivers, shared)
  await next.emit(1)
  await next.dispatcher.run()
  t.equal(receiver.received.length, 1)
})

void t.test('another plan has no webhooks to create, to try or to replay', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.emit(1)
  await world.dispatcher.run()
  const { deliveryId } = await world.onlyDelivery(id)
  await world.tenants.setPlan('acme', 'standard', ACTOR)
  const refused = { code: 'plan_without_webhooks' }
  await t.rejects(world.webhook(receiver.url), refused)
  await t.rejects(world.deliveries.test('acme', id, undefined, ACTOR), refused)
  await t.rejects(world.deliveries.replay('acme', id, deliveryId, ACTOR), refused)
  await t.rejects(world.deliveries.replayFailed('acme', id, 0, ACTOR), refused)
  t.equal((await world.webhooks.get('acme', id)).state, 'active', 'what there is can be seen')
  await world.webhooks.remove('acme', id, ACTOR)
  t.strictSame(await world.rows(), [])
})

void t.test("another tenant's plan changes nothing", async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.tenants.create(tenantNamed('other', { plan: 'premium' }), ACTOR)
  await world.emit(1)
  await world.dispatcher.run()
  await world.tenants.setPlan('other', 'free', ACTOR)
  receiver.answerWith(() => 200)
  await world.later(MINUTE_MS)
  t.equal((await world.onlyDelivery(id)).state, 'delivered')
})
