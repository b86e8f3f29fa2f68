/** Several dispatchers on one store, and those that die. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { HOUR_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import { claim, LOST, type Claimed } from '../../../control-plane/webhooks/claims.ts'
import { newDelivery } from '../../../control-plane/webhooks/new-delivery.ts'
import { record, type Result } from '../../../control-plane/webhooks/results.ts'
import { LEASE_MS, RETRY_GAPS_MS } from '../../../control-plane/webhooks/schedule.ts'
import { movableClock, temporaryFolder } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

void t.test('two control planes on one store send each delivery once', async (t) => {
  const shared = {
    file: join(temporaryFolder(t), 'service.db'),
    masterKey: randomBytes(32),
    clock: movableClock(),
  }
  const one = await startWebhooks(t, receivers, shared)
  const other = await startWebhooks(t, receivers, shared)
  const receiver = await receivers.start(t)
  const { id } = await one.webhook(receiver.url)
  await one.emit(150)
  await Promise.all([one.dispatcher.run(), other.dispatcher.run()])
  const ids = receiver.received.map(({ body }) => body.id)
  t.equal(ids.length, 150)
  t.equal(new Set(ids).size, 150)
  const states = (await one.deliveriesOf(id)).map(({ state }) => state)
  t.ok(states.every((state) => state === 'delivered'))
})

void t.test('what somebody died over is sent by the next when the lease has ended', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  await takenByTheDead(world, id)
  await world.later(LEASE_MS - 1)
  t.equal(receiver.received.length, 0, 'not while the lease runs')
  await world.later(2 * SECOND_MS)
  t.equal(receiver.received.length, 1)
  t.match(await world.onlyDelivery(id), {
    state: 'delivered',
    attempts: 2,
    tries: [
      { number: 1, status: null, problem: LOST },
      { number: 2, status: 204 },
    ],
  })
})

void t.test('an attempt that nobody lived to tell of counts, and has its gap', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  for (const gapMs of [...RETRY_GAPS_MS, 0]) {
    t.equal((await takenByTheDead(world, id)).length, 1)
    const { attempts } = (await world.rows())[0]!
    world.clock.advance(LEASE_MS - 1)
    t.equal((await takenByTheDead(world, id)).length, 0, `${attempts}: not while the lease runs`)
    world.clock.advance(1)
    if (gapMs <= LEASE_MS) continue
    t.equal((await takenByTheDead(world, id)).length, 0, `${attempts}: nor within the gap`)
    world.clock.advance(gapMs - LEASE_MS - 1)
    t.equal((await takenByTheDead(world, id)).length, 0, `${attempts}: to its end`)
    world.clock.advance(1)
  }
  await world.dispatcher.run()
  await world.later(HOUR_MS)
  t.equal(receiver.received.length, 0, 'there is never a seventh')
  const { state, attempts, tries } = await world.onlyDelivery(id)
  t.match({ state, attempts }, { state: 'failed', attempts: LIMITS.webhookAttemptsMax })
  t.equal(tries.length, LIMITS.webhookAttemptsMax)
})

void t.test('whose lease has ended decides nothing by a failure that comes late', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { id } = await world.webhook('https://hooks.example/never')
  const [first] = await takenByTheDead(world, id)
  world.clock.advance(LEASE_MS)
  const [second] = await takenByTheDead(world, id, 'somebody else')
  const before = (await world.rows())[0]
  const late = (status: number) =>
    world.store.change((change) => record(change, [resultOf(first!, status)], DEAD, () => 0.5))
  await late(500)
  t.strictSame((await world.rows())[0], before, 'the other one is at it')
  t.equal(second!.attempt, 2)
  await late(200)
  t.equal((await world.onlyDelivery(id)).state, 'delivered', 'but what has arrived has arrived')
})

type World = Pick<Awaited<ReturnType<typeof startWebhooks>>, 'store' | 'rows'>

const DEAD = 'somebody who died'

/** One delivery, made if there is none, and leased to nobody who will ever send it. */
async function takenByTheDead({ store, rows }: World, webhookId: string, owner = DEAD) {
  if ((await rows()).length === 0)
    await store.change(async ({ queries, nowMs }) => {
      const data = { status: 'suspended' }
      const happening = { event: 'tenant.suspended', data, happenedAtMs: nowMs } as const
      await insertDeliveries(queries, [
        newDelivery({ webhookId, tenantId: 'acme', generation: 0 }, happening, nowMs),
      ])
    })
  const claims = await store.change((change) =>
    claim(change, [{ webhookId, limit: 1 }], owner, () => 0.5),
  )
  return claims.claimed
}

function resultOf(claimed: Claimed, status: number): Result {
  const answer = { status, milliseconds: 1, firstBytes: '', problem: '' }
  return { ...claimed, answer, startedAtMs: 0 }
}
