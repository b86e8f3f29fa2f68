/** The end of what waits for a webhook: at once, however much it is, and written down in turns. */
import t, { type Test } from 'tap'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import { updateWebhook } from '../../../control-plane/store/queries/webhooks.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { claim } from '../../../control-plane/webhooks/claims.ts'
import { countFailures } from '../../../control-plane/webhooks/failures.ts'
import { record } from '../../../control-plane/webhooks/results.ts'
import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

/** So many webhooks of a tenant, for each of which so much waits, of so many letters. */
async function startWaiting(t: Test, { webhooks = 1, each = 1, letters = 10 }) {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const ids: string[] = []
  for (let at = 0; at < webhooks; at++) ids.push((await world.webhook(receiver.url)).id)
  await world.emit(1)
  await world.dispatcher.run()
  const { store } = world
  for (const row of await world.rows()) {
    const body = JSON.stringify({ ...JSON.parse(row.body), data: 'x'.repeat(letters) })
    const more = Array.from({ length: each - 1 }, (_, at) => ({
      ...{ ...row, body, deliveryId: `${row.deliveryId}_${at}` },
    }))
    await store.change(({ queries }) => insertDeliveries(queries, more))
  }

  /** How many rows, and bytes of bodies, each change of this has ended. */
  async function ended(work: () => Promise<unknown>) {
    const changes: { rows: number; bytes: number }[] = []
    const { change } = store
    store.change = (inside) =>
      change(async (one) => {
        const count = async () => {
          const rows = await one.queries.select().from(schema.webhookDeliveries)
          const pending = rows.filter(({ state }) => state === 'pending')
          const bytes = pending.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
          return { rows: pending.length, bytes }
        }
        const before = await count()
        const result = await inside(one)
        const after = await count()
        changes.push({ rows: before.rows - after.rows, bytes: before.bytes - after.bytes })
        return result
      })
    await work()
    store.change = change
    return changes
  }

  /** Does only the first change of it: the process ends, or the store is busy. */
  async function cutOff(work: () => Promise<unknown>) {
    const { change } = store
    let count = 0
    store.change = (inside) =>
      count++ === 0 ? change(inside) : Promise.reject(new Error('the store is closed'))
    await work()
    store.change = change
  }

  const states = async () => [...new Set((await world.rows()).map(({ state }) => state))]
  const pause = (id: string) => world.webhooks.patch('acme', id, { state: 'paused' }, ACTOR)
  const activate = (id: string) => world.webhooks.patch('acme', id, { state: 'active' }, ACTOR)
  return { ...world, receiver, ids, ended, cutOff, states, pause, activate }
}

type Changes = Awaited<ReturnType<Awaited<ReturnType<typeof startWaiting>>['ended']>>

const most = (changes: Changes, what: keyof Changes[number]) =>
  Math.max(...changes.map((one) => one[what]))

void t.test('whoever pauses a webhook ends what waits for it a few in a change', async (t) => {
  const each = 3 * LIMITS.webhookEndedAtOnceMax
  const world = await startWaiting(t, { each })
  const changes = await world.ended(() => world.pause(world.ids[0]!))
  t.ok(most(changes, 'rows') <= LIMITS.webhookEndedAtOnceMax, JSON.stringify(changes))
  t.equal(changes[0]?.rows, 0, 'the pause itself is the webhook alone')
  t.same(await world.states(), ['cancelled'], 'the answer waits for all of it')
})

void t.test('and no more than so many bytes in a change, but one is always ended', async (t) => {
  const world = await startWaiting(t, { each: 30, letters: 92_000 })
  const changes = await world.ended(() => world.pause(world.ids[0]!))
  t.ok(most(changes, 'bytes') <= LIMITS.webhookBytesAtOnceMax, JSON.stringify(changes))
  t.same(await world.states(), ['cancelled'])
  const huge = await startWaiting(t, { each: 3, letters: LIMITS.webhookBytesAtOnceMax })
  t.equal(most(await huge.ended(() => huge.pause(huge.ids[0]!)), 'rows'), 1)
  t.same(await huge.states(), ['cancelled'])
})

void t.test(
  'a plan that is lost ends what waits for all webhooks, a few in a change',
  async (t) => {
    const world = await startWaiting(t, { webhooks: 3, each: LIMITS.webhookEndedAtOnceMax })
    const changes = await world.ended(() => world.tenants.setPlan('acme', 'standard', ACTOR))
    t.ok(most(changes, 'rows') <= LIMITS.webhookEndedAtOnceMax, JSON.stringify(changes))
    t.same(await world.states(), ['cancelled'])
  },
)

void t.test('what one request does not come to, the jobs do', async (t) => {
  const turns = LIMITS.webhookEndingsWaitedForMax
  const world = await startWaiting(t, { each: turns + 2, letters: LIMITS.webhookBytesAtOnceMax })
  let changes = 0
  world.store.onCommit(() => changes++)
  await world.pause(world.ids[0]!)
  t.equal(changes, 1 + turns)
  t.same((await world.states()).sort(), ['cancelled', 'pending'])
  await world.jobs.run()
  t.same(await world.states(), ['cancelled'])
})

void t.test('what was cancelled never goes out, also when it goes on in between', async (t) => {
  for (const what of ['webhook', 'plan'] as const) {
    const world = await startWaiting(t, { each: 5 })
    const { receiver, ids, clock, tenants, deliveries } = world
    const [id = ''] = ids
    await world.cutOff(() =>
      what === 'webhook' ? world.pause(id) : tenants.setPlan('acme', 'free', ACTOR),
    )
    t.same(await world.states(), ['pending'], 'nothing of it is written down yet')
    await (what === 'webhook' ? world.activate(id) : tenants.setPlan('acme', 'premium', ACTOR))
    receiver.answerWith(() => 200)
    await world.emit(2)
    const before = receiver.received.length
    await world.later(HOUR_MS)
    t.equal(receiver.received.length - before, 2, `${what}: only what has happened since`)
    await world.jobs.run()
    const states = (await world.deliveriesOf(id)).map(({ state }) => state).sort()
    t.same(states, [...Array<string>(5).fill('cancelled'), 'delivered', 'delivered'])
    t.equal(await deliveries.replayFailed('acme', id, clock.nowMs() - 9 * HOUR_MS, ACTOR), 0)
  }
})

void t.test('two ends, one of them not written down yet, each say what they were', async (t) => {
  const world = await startWaiting(t, { each: 3 })
  const [id = ''] = world.ids
  await world.cutOff(() => world.pause(id))
  await world.activate(id)
  await world.emit(1)
  await world.dispatcher.run()
  const failingSince = world.clock.nowMs() - LIMITS.webhookFailingMsBeforePause
  await world.store.change(async (change) => {
    await updateWebhook(change.queries, id, { failingSince })
    await countFailures(change, new Map([[id, LIMITS.webhookFailuresBeforePauseMin]]))
  })
  await world.jobs.run()
  const states = (await world.deliveriesOf(id)).map(({ state }) => state).sort()
  t.same(states, ['cancelled', 'cancelled', 'cancelled', 'failed'])
})

void t.test('an attempt under way may arrive, and is not followed by another', async (t) => {
  for (const status of [204, 500]) {
    const world = await startWaiting(t, {})
    const { store, clock, ids, dispatcher } = world
    const [id = ''] = ids
    await dispatcher.close() // turns are taken by hand
    clock.advance(2 * MINUTE_MS)
    const { claimed } = await store.change((change) =>
      claim(change, [{ webhookId: id, limit: 1 }], 'somebody', () => 0.5),
    )
    await world.cutOff(() => world.pause(id))
    const answer = { status, milliseconds: 1, firstBytes: '', problem: '' }
    const results = claimed.map((one) => ({ ...one, answer, startedAtMs: 0 }))
    const recorded = await store.change((change) => record(change, results, 'somebody', () => 0.5))
    t.same(recorded.retries, [])
    await world.jobs.run()
    const state = status === 204 ? 'delivered' : 'cancelled'
    t.match(await world.onlyDelivery(id), { state, attempts: 2 })
  }
})

void t.test('so many webhooks that fail for days are paused in a change, in turns', async (t) => {
  const paused = LIMITS.webhooksPausedAtOnceMax
  const world = await startWaiting(t, { webhooks: paused + 5, each: 3 })
  const failures = new Map(world.ids.map((id) => [id, LIMITS.webhookFailuresBeforePauseMin]))
  const failed = () => world.store.change((change) => countFailures(change, failures))
  await failed()
  world.clock.advance(LIMITS.webhookFailingMsBeforePause)
  const changes = await world.ended(async () => {
    t.equal((await failed()).length, paused)
    t.equal((await failed()).length, 5, 'with their next failure')
  })
  t.equal(most(changes, 'rows'), 0, 'nothing of what waits is written in it')
  await world.jobs.run()
  t.same(await world.states(), ['failed'])
})
