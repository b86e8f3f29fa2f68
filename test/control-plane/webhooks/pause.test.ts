import t from 'tap'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers, type Receiver } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()
const FAILURES = LIMITS.webhookFailuresBeforePauseMin
type World = Awaited<ReturnType<typeof startWebhooks>>

/** As many events as that, up to the last attempt at each. */
async function giveUp(world: World, count: number) {
  await world.emit(count)
  await world.dispatcher.run()
  for (const minutes of [1, 2, 6, 28, 100]) await world.later(minutes * MINUTE_MS)
}

async function failing(t: Parameters<typeof startWebhooks>[0], receiver: Receiver) {
  const world = await startWebhooks(t, receivers)
  const { id } = await world.webhook(receiver.url)
  return { world, id }
}

void t.test(
  'days of nothing but failures pause a webhook, and the trail tells of it',
  async (t) => {
    const receiver = await receivers.start(t, () => 500)
    const { world, id } = await failing(t, receiver)
    await giveUp(world, FAILURES)
    t.equal((await world.webhooks.get('acme', id)).state, 'active', 'many, but not for days')
    world.clock.advance(LIMITS.webhookFailingMsBeforePause)
    await world.emit(2)
    await giveUp(world, 1)
    const webhook = await world.webhooks.get('acme', id)
    t.match(webhook, { state: 'paused', pausedReason: 'failing' })
    while ((await world.deliveries.writeEndings(1)) > 0);
    const states = (await world.deliveriesOf(id)).map(({ state }) => state)
    t.ok(states.every((state) => state === 'failed'))
    const [entry] = (await world.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })).items
    t.match(entry, {
      actor: 'service',
      action: 'webhook.paused',
      content: { webhook_id: id, reason: 'failing' },
    })

    const before = receiver.received.length
    await world.emit(1)
    await world.later(DAY_MS)
    t.equal(receiver.received.length, before, 'who is paused is told nothing')
    t.equal((await world.deliveriesOf(id)).length, states.length, 'and nothing is queued')
  },
)

void t.test('days are not enough: a few failures pause nothing', async (t) => {
  const receiver = await receivers.start(t, () => 500)
  const { world, id } = await failing(t, receiver)
  await giveUp(world, 1)
  world.clock.advance(LIMITS.webhookFailingMsBeforePause)
  await giveUp(world, FAILURES - 2)
  t.equal((await world.webhooks.get('acme', id)).state, 'active')
  await giveUp(world, 1)
  t.equal((await world.webhooks.get('acme', id)).state, 'paused')
})

void t.test('one success begins the count anew', async (t) => {
  const receiver = await receivers.start(t, () => 500)
  const { world, id } = await failing(t, receiver)
  await giveUp(world, FAILURES)
  receiver.answerWith(() => 200)
  await world.emit(1)
  await world.dispatcher.run()
  t.match(await world.webhookRow(id), { failedCount: 0, failingSince: null })
  receiver.answerWith(() => 500)
  world.clock.advance(LIMITS.webhookFailingMsBeforePause)
  await giveUp(world, 1)
  t.equal((await world.webhooks.get('acme', id)).state, 'active')
})

void t.test('tests that fail pause nothing', async (t) => {
  const receiver = await receivers.start(t, () => 500)
  const { world, id } = await failing(t, receiver)
  for (let times = 0; times < FAILURES; times++)
    await world.deliveries.test('acme', id, undefined, ACTOR)
  await giveUp(world, 0)
  t.match(await world.webhookRow(id), { failedCount: 0, failingSince: null })
})

void t.test(
  'whoever pauses a webhook cancels what waits; active again, it hears what comes',
  async (t) => {
    const receiver = await receivers.start(t, () => 500)
    const { world, id } = await failing(t, receiver)
    await world.emit(1)
    await world.dispatcher.run()
    const paused = await world.webhooks.patch('acme', id, { state: 'paused' }, ACTOR)
    t.match(paused, { state: 'paused', pausedReason: 'operator' })
    t.match(await world.onlyDelivery(id), { state: 'cancelled', problem: 'the webhook was paused' })
    receiver.answerWith(() => 200)
    await world.emit(1)
    t.match(await world.webhooks.patch('acme', id, { state: 'active' }, ACTOR), {
      state: 'active',
      pausedReason: null,
    })
    await world.later(HOUR_MS)
    t.equal(receiver.received.length, 1, 'not what happened meanwhile')
    await world.emit(1)
    await world.dispatcher.run()
    t.equal(receiver.received.length, 2)
  },
)

void t.test('a paused webhook can be tried, to see whether it would work again', async (t) => {
  const receiver = await receivers.start(t)
  const { world, id } = await failing(t, receiver)
  await world.webhooks.patch('acme', id, { state: 'paused' }, ACTOR)
  await world.deliveries.test('acme', id, undefined, ACTOR)
  await world.dispatcher.run()
  t.equal(receiver.received.length, 1)
})
