/** More events than may wait for one webhook: what is written stays bounded, and is said. */
import t, { type Test } from 'tap'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import { forgetFailures } from '../../../control-plane/store/queries/webhooks.ts'
import { fanOut } from '../../../control-plane/webhooks/fan-out.ts'
import { HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

/** So many wait, or have failed, of a webhook that nothing arrives at. */
async function startFull(t: Test, rows: { pending: number; failed: number }) {
  const world = await startWebhooks(t, receivers)
  const { url } = await receivers.start(t, () => 500)
  const { id } = await world.webhook(url)
  await world.emit(1)
  await world.dispatcher.run()
  await world.dispatcher.close() // turns are taken by hand
  const [row] = await world.rows()
  const { clock, store } = world
  for (const state of ['pending', 'failed'] as const)
    await store.change(({ queries }) =>
      insertDeliveries(
        queries,
        Array.from({ length: rows[state] - (state === 'pending' ? 1 : 0) }, (_, at) => ({
          ...row!,
          ...{ state, deliveryId: `dlv_${state}_${at}`, nextAt: clock.nowMs() + 240 * HOUR_MS },
        })),
      ),
    )
  async function events(count: number) {
    await world.emit(count)
    for (let hasMore = true; hasMore;) ({ hasMore } = await store.change(fanOut))
  }
  async function actions() {
    const { items } = await world.auditTrail.list({ limit: 50 }, { tenantId: 'acme' })
    return items.map(({ action }) => action)
  }
  return { ...world, id, events, actions }
}

const FULL = { pending: LIMITS.webhookPendingMax, failed: LIMITS.webhookFailedBeforeDropMax }

void t.test('failures are written down up to a number, and counted from then on', async (t) => {
  const { id, events, rows, webhookRow, actions, clock } = await startFull(t, {
    ...FULL,
    failed: FULL.failed - 2,
  })
  await events(5)
  t.equal((await rows()).length, FULL.pending + FULL.failed, 'two more are kept')
  const droppedSince = clock.nowMs()
  t.match(await webhookRow(id), { droppedCount: 3, droppedSince, failedCount: 5 })
  clock.advance(HOUR_MS)
  await events(300)
  t.match(await webhookRow(id), { droppedCount: 303, droppedSince, failedCount: 305 })
  t.equal((await rows()).length, FULL.pending + FULL.failed)
  const told = (await actions()).filter((action) => action === 'webhook.dropping')
  t.equal(told.length, 1, 'the trail tells of it once')
})

void t.test('who sees the webhook sees what was lost, until it is set active anew', async (t) => {
  const { id, events, webhooks, webhookRow, clock } = await startFull(t, FULL)
  await events(2)
  t.match(await webhooks.get('acme', id), { droppedCount: 2, droppedSince: clock.nowMs() })
  await webhooks.patch('acme', id, { state: 'paused' }, ACTOR)
  await webhooks.patch('acme', id, { state: 'active' }, ACTOR)
  t.match(await webhookRow(id), { droppedCount: 0, droppedSince: null })
})

void t.test('a month later the count begins anew', async (t) => {
  const { id, events, webhookRow, clock, store } = await startFull(t, FULL)
  await events(2)
  clock.advance(LIMITS.webhookDeliveryKeptMs + 1)
  await store.change(({ queries }) => forgetFailures(queries, [id]))
  await events(1)
  t.match(await webhookRow(id), { droppedCount: 1, droppedSince: clock.nowMs() })
})

void t.test('days of events that are too many pause a webhook', async (t) => {
  const { id, events, webhooks, deliveries, rows, actions, clock } = await startFull(t, FULL)
  await events(LIMITS.webhookFailuresBeforePauseMin)
  t.match(await webhooks.get('acme', id), { state: 'active' }, 'many, but not for days')
  clock.advance(LIMITS.webhookFailingMsBeforePause)
  await events(1)
  t.match(await webhooks.get('acme', id), { state: 'paused', pausedReason: 'failing' })
  t.ok((await actions()).includes('webhook.paused'))
  while ((await deliveries.writeEndings(1)) > 0);
  t.ok(
    (await rows()).every(({ state }) => state === 'failed'),
    'and what waited has failed',
  )
})

void t.test('a webhook, and a tenant, with thousands of rows go by and by', async (t) => {
  for (const whose of ['webhook', 'tenant'] as const) {
    const { id, webhooks, tenants, rows, store } = await startFull(t, {
      pending: 1,
      failed: 3 * LIMITS.rowsDeletedAtOnceMax,
    })
    let changes = 0
    store.onCommit(() => changes++)
    if (whose === 'webhook') await webhooks.remove('acme', id, ACTOR)
    else await tenants.remove('acme', ACTOR)
    t.same(await rows(), [])
    t.ok(changes > 3, `${changes} changes`)
  }
})
