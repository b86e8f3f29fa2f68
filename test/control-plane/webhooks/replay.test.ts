import t from 'tap'
import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { eq } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { endWaiting } from '../../../control-plane/store/queries/webhook-endings.ts'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

async function givenUp(t: Parameters<typeof startWebhooks>[0], count: number) {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.emit(count)
  await world.dispatcher.run()
  for (const minutes of [1, 2, 6, 28, 100]) await world.later(minutes * MINUTE_MS)
  return { world, receiver, id }
}

void t.test('a replay is the same event under a new id, and says what it repeats', async (t) => {
  const { world, receiver, id } = await givenUp(t, 1)
  const original = await world.onlyDelivery(id)
  receiver.answerWith(() => 200)
  const again = await world.deliveries.replay('acme', id, original.deliveryId, ACTOR)
  await world.dispatcher.run()
  const [first] = receiver.received
  const last = receiver.received.at(-1)!
  t.equal(last.body.id, again.deliveryId)
  t.not(last.body.id, original.deliveryId)
  t.equal(last.headers['x-service-delivery'], again.deliveryId)
  t.strictSame({ ...last.body, id: '' }, { ...first!.body, id: '' })
  t.match(await world.deliveries.get('acme', id, again.deliveryId), {
    state: 'delivered',
    replayedFrom: original.deliveryId,
    attempts: 1,
  })
  t.equal((await world.deliveries.get('acme', id, original.deliveryId)).state, 'failed')
})

void t.test('all that failed since then are sent once more, and only once', async (t) => {
  const { world, receiver, id } = await givenUp(t, 3)
  receiver.answerWith(() => 200)
  const nowMs = world.clock.nowMs()
  t.equal(await world.deliveries.replayFailed('acme', id, nowMs + 1, ACTOR), 0, 'none since now')
  t.equal(await world.deliveries.replayFailed('acme', id, nowMs - HOUR_MS, ACTOR), 3)
  await world.dispatcher.run()
  t.equal(await world.deliveries.replayFailed('acme', id, nowMs - HOUR_MS, ACTOR), 0)
  const states = (await world.deliveriesOf(id)).map(({ state }) => state).sort()
  t.strictSame(states, [...Array<string>(3).fill('delivered'), ...Array<string>(3).fill('failed')])
})

void t.test('what a pause of our own has ended a moment ago is sent again', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.emit(3)
  await world.dispatcher.run()
  receiver.answerWith(() => 200)
  const as = { state: 'failed', problem: 'the webhook was paused' } as const
  await world.store.change(({ queries }) => endWaiting(queries, { webhookId: id }, as))
  const ago = world.clock.nowMs() - HOUR_MS
  t.equal(await world.deliveries.replayFailed('acme', id, ago, ACTOR), 3)
})

void t.test('many are sent again a few in a change, by count and by bytes', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t, () => 500)
  const { id } = await world.webhook(url)
  await world.emit(1)
  await world.dispatcher.run()
  await world.dispatcher.close()
  const { store, deliveries, clock } = world
  const [row] = await world.rows()
  const failed = async (name: string, count: number, letters: number) => {
    const more = { state: 'failed' as const, replayedFrom: null, updatedAt: clock.nowMs() }
    const body = JSON.stringify({ ...JSON.parse(row!.body), data: 'x'.repeat(letters) })
    await store.change(({ queries }) =>
      insertDeliveries(
        queries,
        Array.from({ length: count }, (_, at) => {
          return { ...row!, ...more, body, deliveryId: `dlv_${name}_${at}` }
        }),
      ),
    )
  }
  /** What each change has written, and how many of it others could come between. */
  const replayed = async (sinceMs: number) => {
    const changes: { rows: number; bytes: number }[] = []
    const { change } = store
    store.change = (work) =>
      change(async (one) => {
        const before = await one.queries.select().from(schema.webhookDeliveries)
        const known = new Set(before.map(({ deliveryId }) => deliveryId))
        const result = await work(one)
        const after = await one.queries.select().from(schema.webhookDeliveries)
        const own = after.filter(({ deliveryId }) => !known.has(deliveryId))
        const bytes = own.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
        changes.push({ rows: own.length, bytes })
        return result
      })
    const count = await deliveries.replayFailed('acme', id, sinceMs, ACTOR)
    store.change = change
    return { count, changes }
  }
  const most = LIMITS.webhookReplayedAtOnceMax
  await failed('small', 2 * most + 1, 10)
  const small = await replayed(clock.nowMs())
  t.equal(small.count, 2 * most + 1)
  t.same(
    small.changes.map(({ rows }) => rows),
    [most, most, 1],
  )
  clock.advance(HOUR_MS)
  await failed('large', 30, 92_000)
  const large = await replayed(clock.nowMs())
  t.equal(large.count, 30, 'and of those from before none')
  const bytes = large.changes.map((one) => one.bytes)
  t.ok(Math.max(...bytes) <= LIMITS.webhookBytesAtOnceMax, bytes.join())
  t.ok(large.changes.length >= 3)
  clock.advance(HOUR_MS)
  await failed('huge', 2, LIMITS.webhookBytesAtOnceMax + 1)
  t.equal((await replayed(clock.nowMs())).count, 2, 'one is always taken')
  const { items } = await world.auditTrail.list({ limit: 50 }, { tenantId: 'acme' })
  const told = items.filter(({ action }) => action === 'webhook.replayed')
  t.equal(told.length, 3, 'one entry for each time that somebody asked')
})

void t.test('who pauses the webhook in between ends it', async (t) => {
  const { world, id } = await givenUp(t, 1)
  const { store, deliveries, clock, webhooks } = world
  const [row] = (await world.rows()).filter(({ state }) => state === 'failed')
  const most = LIMITS.webhookReplayedAtOnceMax
  const rows = Array.from({ length: 2 * most }, (_, at) => ({ ...row!, deliveryId: `dlv_${at}` }))
  await store.change(({ queries }) => insertDeliveries(queries, rows))
  await world.dispatcher.close()
  const { change } = store
  store.change = async (work) => {
    const result = await change(work)
    store.change = change
    await webhooks.patch('acme', id, { state: 'paused' }, ACTOR)
    return result
  }
  const sent = await deliveries.replayFailed('acme', id, clock.nowMs() - HOUR_MS, ACTOR)
  t.equal(sent, most, 'and says how many there were')
})

void t.test('a delivery that arrived can be sent again too', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  await world.emit(1)
  await world.dispatcher.run()
  await world.deliveries.replay('acme', id, (await world.onlyDelivery(id)).deliveryId, ACTOR)
  await world.dispatcher.run()
  t.equal(receiver.received.length, 2)
})

void t.test("another webhook's delivery is not found", async (t) => {
  const { world, receiver, id } = await givenUp(t, 1)
  const other = await world.webhook(receiver.url)
  const { deliveryId } = await world.onlyDelivery(id)
  await t.rejects(world.deliveries.replay('acme', other.id, deliveryId, ACTOR), {
    code: 'delivery_not_found',
  })
})

void t.test('as many wait as may, and one more is told to come back', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  const most = LIMITS.webhookPendingMax
  await world.emit(1)
  await world.dispatcher.run()
  const row = (await world.rows())[0]!
  const later = world.clock.nowMs() + 24 * HOUR_MS
  await world.store.change(({ queries }) =>
    insertDeliveries(
      queries,
      Array.from({ length: most - 2 }, (_, at) => ({
        ...row,
        deliveryId: `dlv_${at}`,
        nextAt: later,
      })),
    ),
  )
  await world.deliveries.test('acme', id, undefined, ACTOR)
  await t.rejects(world.deliveries.test('acme', id, undefined, ACTOR), {
    code: 'deliveries_exhausted',
  })
  await world.emit(1)
  await world.dispatcher.run()
  const failed = await world.deliveries.list('acme', id, { limit: 10 }, 'failed')
  t.match(failed.items, [{ problem: /more than 10000/, attempts: 0 }], 'an event too many is seen')
})

/** So many were given up so long ago, and nothing is sent of itself. */
async function failedAgo(t: Parameters<typeof startWebhooks>[0], counts: [number, number][]) {
  const { world, id } = await givenUp(t, 1)
  await world.dispatcher.close()
  const [row] = await world.rows()
  const nowMs = world.clock.nowMs()
  await world.store.change(async ({ queries }) => {
    for (const [count, ago] of counts)
      await insertDeliveries(
        queries,
        Array.from({ length: count }, (_, at) => {
          const updatedAt = nowMs - ago
          return { ...row!, updatedAt, createdAt: 0, deliveryId: `dlv_${ago}_${at}` }
        }),
      )
  })
  const press = (ago: number, isGone?: () => boolean) =>
    world.deliveries.replayFailed('acme', id, nowMs - ago, ACTOR, isGone)
  let changes = 0
  world.store.onCommit(() => changes++)
  return { ...world, id, press, changes: () => changes }
}

void t.test('it begins at the age that is meant, and passes what was sent again', async (t) => {
  const most = LIMITS.webhookReplayedAtOnceMax
  const { press, changes } = await failedAgo(t, [
    [10 * most, 5 * HOUR_MS],
    [2 * most, HOUR_MS],
  ])
  t.equal(await press(MINUTE_MS), 1, 'the one of just now')
  t.equal(changes(), 1)
  t.equal(await press(MINUTE_MS), 0)
  t.equal(changes(), 2)
  t.equal(await press(2 * HOUR_MS), 2 * most)
  t.equal(changes(), 5, 'two, and a look for more')
  t.equal(await press(2 * HOUR_MS), 0)
  t.equal(changes(), 6)
})

void t.test('one at a time for a tenant, and it ends with its asker', async (t) => {
  const most = LIMITS.webhookReplayedAtOnceMax
  const { press, changes, deliveries } = await failedAgo(t, [[10 * most, HOUR_MS]])
  let turns = 0
  const first = press(2 * HOUR_MS, () => turns++ === 3)
  await t.rejects(press(2 * HOUR_MS), { code: 'replay_running' })
  await t.rejects(deliveries.replayFailed('acme', 'whk_other', 0, ACTOR), {
    code: 'replay_running',
  })
  t.equal(await first, 3 * most, 'and says how many there were')
  t.equal(changes(), 3)
  t.equal(await press(2 * HOUR_MS), 7 * most + 1, 'the next one takes the rest')
})

void t.test('so many changes each time that somebody asks', async (t) => {
  const most = LIMITS.webhookReplayedAtOnceMax * LIMITS.webhookReplayTurnsMax
  const { press, changes, store } = await failedAgo(t, [[most + 50, HOUR_MS]])
  const { change } = store
  // they arrive at once, so that there is always room
  store.change = (work) =>
    change(async (one) => {
      const result = await work(one)
      const isPending = eq(schema.webhookDeliveries.state, 'pending')
      await one.queries
        .update(schema.webhookDeliveries)
        .set({ state: 'delivered' })
        .where(isPending)
      return result
    })
  t.equal(await press(2 * HOUR_MS), most)
  t.equal(changes(), LIMITS.webhookReplayTurnsMax)
  t.equal(await press(2 * HOUR_MS), 51)
})
