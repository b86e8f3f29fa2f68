/** How many deliveries one change makes, and that a cut leaves none out and makes none twice. */
import t from 'tap'
import { fanOut } from '../../../control-plane/webhooks/fan-out.ts'
import { outboxAfter } from '../../../control-plane/store/queries/outbox.ts'
import { claim } from '../../../control-plane/webhooks/claims.ts'
import { countAtOnce } from '../../../control-plane/webhooks/results.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()
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
  t.equal((await turns()).length, 8, 'one delivery is always made')
  t.equal((await world.rows()).length, 4 * 22)
  const read = await outboxAfter(world.store.read, 0, { rows: 200, bytes: most })
  const bytes = read.map(({ content }) => Buffer.byteLength(JSON.stringify(content)))
  t.ok(bytes.length < 22 && bytes.reduce((sum, one) => sum + one) <= most, 'of those it reads')
})

void t.test('one large event goes to many webhooks in many changes, once to each', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t)
  await world.dispatcher.close()
  const ids: string[] = []
  for (let count = 0; count < 40; count++) ids.push((await world.webhook(url)).id)
  await world.store.change((change) =>
    change.emit('tenant.suspended', 'acme', { status: 'x'.repeat(92_000) as 'suspended' }),
  )
  await world.emit(1)
  const bytes: number[] = []
  for (let hasMore = true; hasMore;) {
    const turn = await world.store.change(fanOut)
    bytes.push(turn.deliveries.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0))
    // whoever comes or goes in between is told, or not, by what has happened since
    if (bytes.length === 1) await world.webhook(url)
    hasMore = turn.hasMore
  }
  t.ok(Math.max(...bytes) <= LIMITS.webhookBytesAtOnceMax, bytes.join())
  t.equal(bytes.length, 4)
  const rows = await world.rows()
  t.equal(rows.length, 2 * ids.length)
  for (const own of Map.groupBy(rows, ({ webhookId }) => webhookId).values())
    t.same(own.map(({ body }) => body.length > 92_000).sort(), [false, true])
})

void t.test('what one change leases, or settles, of large ones has a bound in bytes', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t)
  await world.dispatcher.close()
  const wanted: { webhookId: string; limit: number }[] = []
  for (let at = 0; at < 40; at++)
    wanted.push({ webhookId: (await world.webhook(url)).id, limit: 2 })
  await world.store.change((change) =>
    change.emit('tenant.suspended', 'acme', { status: 'x'.repeat(92_000) as 'suspended' }),
  )
  for (let hasMore = true; hasMore;) ({ hasMore } = await world.store.change(fanOut))
  const lease = (some: typeof wanted) =>
    world.store.change((change) => claim(change, some, 'somebody', () => 0.5))
  const first = await lease(wanted)
  t.equal(first.claimed.length, 12)
  const left = wanted.slice(12)
  for (const { webhookId } of left)
    t.ok((first.nextDue.get(webhookId) ?? Infinity) <= world.clock.nowMs(), 'in the next turn')
  const all = [...first.claimed]
  for (let at = 12; at < wanted.length; at += 12)
    all.push(...(await lease(wanted.slice(at, at + 12))).claimed)
  t.equal(new Set(all.map(({ delivery }) => delivery.deliveryId)).size, wanted.length)

  const answer = { status: 204, milliseconds: 1, firstBytes: '', problem: '' }
  const results = all.map((one) => ({ ...one, answer, startedAtMs: 0 }))
  t.equal(countAtOnce(results), 11)
  t.equal(countAtOnce(results.slice(0, 5)), 5)
  const huge = { ...results[0]!.delivery, body: 'x'.repeat(LIMITS.webhookBytesAtOnceMax + 1) }
  t.equal(countAtOnce([{ ...results[0]!, delivery: huge }, ...results]), 1, 'one at least')
  const many = { ...results[0]!, delivery: { ...huge, body: '{}' } }
  t.equal(countAtOnce(Array(1000).fill(many)), LIMITS.webhookResultsAtOnceMax)
})
