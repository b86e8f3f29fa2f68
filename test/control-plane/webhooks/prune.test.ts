import t from 'tap'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

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

void t.test(
  'a tenant keeps so many bytes of deliveries, and the oldest that are over go',
  async (t) => {
    const world = await startWebhooks(t, receivers)
    const { store, jobs, deliveries } = world
    const [good, bad] = [await receivers.start(t), await receivers.start(t, () => 500)]
    const { id } = await world.webhook(good.url)
    await world.webhook(bad.url)
    await world.emit(1)
    await world.dispatcher.run()
    await world.dispatcher.close()
    const rows = await world.rows()
    const [row] = rows.filter(({ webhookId }) => webhookId === id)
    const more = (state: 'delivered' | 'failed', count: number) =>
      Array.from({ length: count }, (_, at) => ({
        ...{ ...row!, state, updatedAt: row!.updatedAt - 1 - at, deliveryId: `dlv_${state}_${at}` },
      }))
    await store.change(async ({ queries }) => {
      await insertDeliveries(queries, more('delivered', 1200))
      await insertDeliveries(queries, more('failed', 3))
    })
    const kept = async () => {
      const [one] = await store.read.select().from(schema.webhookKept)
      return one!.bytes
    }
    /** Counted anew, of all that there is. */
    const counted = async () => {
      const attempts = await store.read.select().from(schema.webhookAttempts)
      const bodies = (await world.rows()).map(({ body }) => Buffer.byteLength(body) + 1000)
      const answers = attempts.map(({ firstBytes }) => Buffer.byteLength(firstBytes))
      return [...bodies, ...answers].reduce((sum, bytes) => sum + bytes, 0)
    }
    t.equal(await kept(), await counted())
    t.equal(await deliveries.pruneLargest(10), 0, 'there is room')

    // as if 600 of them were too many
    const each = Buffer.byteLength(row!.body) + 1000
    const large = LIMITS.webhookKeptBytesPerTenantMax + 599 * each
    await store.change(({ queries }) =>
      queries.update(schema.webhookKept).set({ bytes: large + 1 }),
    )
    const before = new Set((await world.rows()).map(({ deliveryId }) => deliveryId))
    await jobs.run()
    const left = await world.rows()
    t.equal(before.size - left.length, 3 * LIMITS.rowsDeletedAtOnceMax, 'in three changes')
    const ids = left.map(({ deliveryId }) => deliveryId)
    t.ok(ids.includes('dlv_delivered_0') && !ids.includes('dlv_delivered_1199'), 'the oldest')
    t.ok(ids.includes(row!.deliveryId))
    t.equal(
      left.filter(({ state }) => state !== 'delivered').length,
      4,
      'those that failed or wait',
    )

    await store.change(({ queries }) =>
      queries.update(schema.webhookKept).set({ bytes: 2 * large }),
    )
    await jobs.run()
    t.same(
      (await world.rows()).map(({ state }) => state),
      ['pending'],
      'what waits never goes',
    )
    await world.tenants.remove('acme', ACTOR)
    t.same(await store.read.select().from(schema.webhookKept), [])
  },
)

void t.test('what is kept is counted exactly, whatever becomes of it', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.emit(3)
  await world.dispatcher.run()
  const kept = async () => (await world.store.read.select().from(schema.webhookKept))[0]!.bytes
  const few = await kept()
  await world.later(2 * 60_000)
  t.ok((await kept()) > few, 'answers count as well')
  await world.webhooks.remove('acme', id, ACTOR)
  t.equal(await kept(), 0)
})

void t.test('what goes goes by bytes as well, a few in a change', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t)
  const { id } = await world.webhook(url)
  await world.emit(1)
  await world.dispatcher.run()
  const [row] = await world.rows()
  const body = 'x'.repeat(92_000)
  const large = Array.from({ length: 30 }, (_, at) => ({ ...row!, body, deliveryId: `dlv_${at}` }))
  await world.store.change(({ queries }) => insertDeliveries(queries, large))
  world.clock.advance(LIMITS.webhookDeliveryKeptMs + 1)
  const left: number[] = []
  for (let most = 500; most === 500;) {
    most = await world.deliveries.prune(500)
    left.push((await world.rows()).length)
  }
  t.same(left, [19, 8, 0])
  await world.store.change(({ queries }) => insertDeliveries(queries, large))
  await world.webhooks.remove('acme', id, ACTOR)
  t.same(await world.rows(), [])
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
