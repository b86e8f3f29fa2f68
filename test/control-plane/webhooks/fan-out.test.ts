/** How many deliveries one change makes, and that a cut leaves none out and makes none twice. */
import t from 'tap'
import { fanOut } from '../../../control-plane/webhooks/fan-out.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers(t)
const WEBHOOKS = 60
const EVENTS = 30

void t.test('a tenant with many webhooks holds the writer no longer than others', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t)
  await world.dispatcher.close() // turns are taken by hand
  for (let count = 0; count < WEBHOOKS; count++) await world.webhook(url)
  await world.emit(EVENTS)
  const turns: number[] = []
  for (let hasMore = true; hasMore;) {
    const turn = await world.store.change(fanOut)
    turns.push(turn.deliveries.length)
    hasMore = turn.hasMore
  }
  t.ok(Math.max(...turns) <= LIMITS.webhookDeliveriesAtOnceMax, turns.join())
  const rows = await world.rows()
  t.equal(rows.length, WEBHOOKS * EVENTS)
  t.equal(new Set(rows.map(({ body }) => body)).size, WEBHOOKS * EVENTS, 'each with its own id')
  const perWebhook = Map.groupBy(rows, ({ webhookId }) => webhookId)
  for (const own of perWebhook.values()) t.equal(own.length, EVENTS)
})
