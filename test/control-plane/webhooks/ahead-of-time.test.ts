/** A clock that was ahead and is set back: nothing waits until it has come to where it was. */
import { pino } from 'pino'
import t from 'tap'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { createLeases } from '../../../control-plane/services/leases.ts'
import { LEASE_MS, RETRY_GAPS_MS } from '../../../control-plane/webhooks/schedule.ts'
import { createMails } from '../../../control-plane/mail/mails.ts'
import { claim } from '../../../control-plane/webhooks/claims.ts'
import { newDelivery } from '../../../control-plane/webhooks/new-delivery.ts'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { movableClock, startServices } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const AHEAD_MS = HOUR_MS

const receivers = createReceivers()

void t.test('a delivery that was written down by it is sent at once', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  world.clock.advance(AHEAD_MS)
  await writtenDown(world.store, id)
  await world.later(-AHEAD_MS)
  t.equal((await world.onlyDelivery(id)).state, 'delivered')
})

void t.test('a delivery that was leased by it waits for one lease, and no hour', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  await writtenDown(world.store, id)
  world.clock.advance(AHEAD_MS)
  const claims = await world.store.change((change) =>
    claim(change, [{ webhookId: id, limit: 1 }], 'somebody who died', () => 0.5),
  )
  t.equal(claims.claimed.length, 1)
  await world.later(-AHEAD_MS)
  t.equal(receiver.received.length, 0, 'whoever has it may be at it')
  await world.later(LEASE_MS - 1)
  t.equal(receiver.received.length, 0, 'until its end')
  await world.later(2 * SECOND_MS) // and the gap behind an attempt that was lost
  t.match(await world.onlyDelivery(id), { state: 'delivered', attempts: 2 })
})

void t.test('a delivery that failed by it is tried again after its gap', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  receiver.answerWith(() => 500)
  const { id } = await world.webhook(receiver.url)
  world.clock.advance(AHEAD_MS)
  await world.emit(1)
  await world.dispatcher.run()
  t.match(await world.onlyDelivery(id), { state: 'pending', attempts: 1 })
  receiver.answerWith(() => 204)
  await world.later(-AHEAD_MS)
  t.equal((await world.onlyDelivery(id)).attempts, 1, 'not within the gap')
  await world.later(2 * RETRY_GAPS_MS[0])
  t.match(await world.onlyDelivery(id), { state: 'delivered', attempts: 2 })
})

void t.test('very many of them are all brought back', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url)
  world.clock.advance(AHEAD_MS)
  await writtenDown(world.store, id, 1_100)
  await world.later(-AHEAD_MS)
  const states = new Set((await world.rows()).map(({ state }) => state))
  t.same([...states], ['delivered'])
})

void t.test('so are mails, whether they were never begun, leased or put off', async (t) => {
  const clock = movableClock()
  const { store, vault } = await startServices(t, { clock })
  const log = pino({ level: 'silent' })
  let isAway = false
  const sent: string[] = []
  const transport = {
    send: ({ subject }: { subject: string }) =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(void sent.push(subject)),
    close: () => undefined,
  }
  const mails = createMails({ store, vault, clock, log, transport })
  const queue = (subject: string) =>
    store.change((change) =>
      mails.queue(change, 'acme', { to: 'ada@example.test', subject, text: '' }),
    )
  clock.advance(AHEAD_MS)
  await queue('never begun')
  clock.advance(-AHEAD_MS)
  await mails.deliver()
  t.same(sent, ['never begun'])

  clock.advance(AHEAD_MS)
  isAway = true
  await queue('put off')
  await mails.deliver()
  clock.advance(-AHEAD_MS)
  isAway = false
  await mails.deliver()
  t.same(sent, ['never begun'], 'not within the pause')
  clock.advance(MINUTE_MS)
  await mails.deliver()
  t.same(sent, ['never begun', 'put off'])
})

void t.test('and ends of sessions that an application is told of', async (t) => {
  const clock = movableClock()
  const { store, logoutNotices } = await startServices(t, { clock })
  clock.advance(AHEAD_MS)
  await store.change(async ({ queries, nowMs }) => {
    const times = { createdAt: nowMs, nextAt: nowMs, writtenAt: nowMs }
    const notice = { noticeId: 'n', tenantId: 'acme', userId: 'ada', sid: null, attempts: 0 }
    await queries.insert(schema.logoutNotices).values({ ...notice, ...times })
  })
  clock.advance(-AHEAD_MS)
  await logoutNotices.send() // there is nobody to tell: it is done with
  t.same(await store.read.select().from(schema.logoutNotices), [])
})

void t.test('the lease of a job that it made is anybody’s, as one that is over', async (t) => {
  const clock = movableClock()
  const { store } = await startServices(t, { clock })
  const [dead, other] = [createLeases({ store, clock }), createLeases({ store, clock })]
  const worked: string[] = []
  const work = (leases: typeof dead, name: string) =>
    leases.alone('job', async () => void worked.push(name))(() => false)
  clock.advance(AHEAD_MS)
  await work(dead, 'dead')
  await work(other, 'other')
  t.same(worked, ['dead'], 'while it lasts it is its own')
  clock.advance(-AHEAD_MS)
  await work(other, 'other')
  t.same(worked, ['dead', 'other'])
})

/** By a program that ends before it sends any of it. */
async function writtenDown(store: Store, webhookId: string, count = 1) {
  await store.change(async ({ queries, nowMs }) => {
    const data = { status: 'suspended' }
    const happening = { event: 'tenant.suspended', data, happenedAtMs: nowMs } as const
    const whose = { webhookId, tenantId: 'acme', generation: 0 }
    const rows = Array.from({ length: count }, () => newDelivery(whose, happening, nowMs))
    await insertDeliveries(queries, rows)
  })
}
