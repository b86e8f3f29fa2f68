/** How many deliveries one change makes, and that a cut leaves none out and makes none twice. */
import t from 'tap'
import { fanOut } from '../../../control-plane/webhooks/fan-out.ts'
import { outboxAfter } from '../../../control-plane/store/queries/outbox.ts'
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

void t.test('what one change reads and writes of large events has a bound in bytes', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t)
  await world.dispatcher.close()
  for (let count = 0; count < 4; count++) await world.webhook(url)
  const most = LIMITS.webhookBytesAtOnceMax
  const events = async (count: number, letters: number) =>
    world.store.change(async (change) => {
      for (let at = 0; at < count; at++)
        await change.emit('tenant.suspended', 'acme', {
          status: 'x'.repeat(letters) as 'suspended',
        })
    })
  /** In each turn: of what it has written, and of the events that it has read. */
  const turns = async () => {
    const written: number[] = []
    for (let hasMore = true; hasMore;) {
      const turn = await world.store.change(fanOut)
      const bytes = turn.deliveries.map(({ body }) => Buffer.byteLength(body))
      written.push(bytes.reduce((sum, one) => sum + one, 0))
      hasMore = turn.hasMore
    }
    return written
  }
  await events(20, 92_000)
  const written = await turns()
  t.ok(Math.max(...written) <= most, written.join())
  t.equal((await world.rows()).length, 4 * 20, 'none is left out, and none comes twice')
  await events(2, most)
  t.equal((await turns()).length, 2, 'one event is always taken, with all its webhooks')
  t.equal((await world.rows()).length, 4 * 22)
  const read = await outboxAfter(world.store.read, 0, { rows: 200, bytes: most })
  const bytes = read.map(({ content }) => Buffer.byteLength(JSON.stringify(content)))
  t.ok(bytes.length < 22 && bytes.reduce((sum, one) => sum + one) <= most, 'of those it reads')
})
