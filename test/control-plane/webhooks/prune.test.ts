import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers(t)

void t.test('what is over is kept for so long, with its attempts, and then goes', async (t) => {
  const world = await startWebhooks(t, receivers)
  const [good, bad] = [await receivers.start(t), await receivers.start(t, () => 500)]
  await world.webhook(good.url)
  const { id } = await world.webhook(bad.url)
  await world.emit(1)
  await world.dispatcher.run()
  world.clock.advance(LIMITS.webhookDeliveryKeptMs)
  t.equal(await world.deliveries.prune(10), 0)
  world.clock.advance(1)
  t.equal(await world.deliveries.prune(10), 1)
  const attempts = await world.store.read.select().from(schema.webhookAttempts)
  t.equal(attempts.length, 1, 'with its attempts')
  t.equal((await world.onlyDelivery(id)).state, 'pending', 'what waits is not over, however old')
})

void t.test('events are kept for a while, and never go before they were looked at', async (t) => {
  const world = await startWebhooks(t, receivers)
  await world.emit(2)
  await world.dispatcher.run()
  await world.dispatcher.close()
  await world.emit(1)
  world.clock.advance(LIMITS.outboxKeptMs)
  t.equal(await world.deliveries.pruneEvents(10), 0)
  world.clock.advance(1)
  t.equal(await world.deliveries.pruneEvents(10), 2)
  t.equal((await world.store.read.select().from(schema.outbox)).length, 1)
})

void t.test('the audit trail is kept for more than a year', async (t) => {
  const world = await startWebhooks(t, receivers)
  const before = (await world.auditTrail.list({ limit: 200 })).items.length
  world.clock.advance(LIMITS.auditKeptMs)
  t.equal(await world.auditTrail.prune(100), 0)
  world.clock.advance(1)
  await world.tenants.patch('acme', { name: 'other' }, ACTOR)
  t.equal(await world.auditTrail.prune(100), before)
  t.equal((await world.auditTrail.list({ limit: 200 })).items.length, 1)
})
