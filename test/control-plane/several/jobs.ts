/** What is sent and told once is so from several control planes, too, and no end of one leaves it. */
import t, { type Test } from 'tap'
import { createAlerts } from '../../../control-plane/monitoring/alerts.ts'
import type { Mail, MailTransport } from '../../../control-plane/mail/mails.ts'
import { LEASE_MS as JOB_LEASE_MS } from '../../../control-plane/services/leases.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { claim } from '../../../control-plane/webhooks/claims.ts'
import { LEASE_MS } from '../../../control-plane/webhooks/schedule.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import type { EventName } from '../../../shared/events.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startTwo } from './nodes.ts'

type Two = Awaited<ReturnType<typeof startTwo>>

const mailTo = (to: string): Mail => ({ to, subject: 'Hello', text: '' })
const into = (sent: string[]): MailTransport => ({
  send: async ({ to }) => void sent.push(to),
  close: () => undefined,
})
const startMailing = (t: Test, one: MailTransport, other: MailTransport) =>
  startTwo(t, [{ mailTransport: one }, { mailTransport: other }])
const queue = ({ here }: Two, ...addresses: readonly string[]) =>
  here.store.change(async (change) => {
    for (const to of addresses) await here.mails.queue(change, 'acme', mailTo(to))
  })

t.test('each mail is sent once, whoever sends', async (t) => {
  const [fromHere, fromThere]: [string[], string[]] = [[], []]
  const two = await startMailing(t, into(fromHere), into(fromThere))
  const { here, there } = two
  const addresses = Array.from({ length: 30 }, (_, at) => `${at}@acme.test`)
  await queue(two, ...addresses)
  await Promise.all([here, there, here, there].map(({ mails }) => mails.deliver()))
  t.strictSame([...fromHere, ...fromThere].sort(), addresses.sort())
  t.strictSame(await there.store.read.select().from(schema.mails), [])
})

t.test('a mail whose sender has ended is sent by another one', async (t) => {
  const ended = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const sent: string[] = []
  const send = () => (begun.resolve(), ended.promise)
  // what has ended sees no time go by; with the clock of both it may look for more once again
  const stopped = movableClock(Date.now())
  const mailTransport = { send, close: () => undefined }
  const two = await startTwo(t, [{ mailTransport, clock: stopped }, { mailTransport: into(sent) }])
  const { here, there, clock } = two
  await queue(two, 'ada@acme.test')
  const sending = here.mails.deliver()
  await begun.promise
  await there.mails.deliver()
  t.strictSame(sent, [], 'not while it may be on its way')
  clock.advance(LIMITS.mailSendMsMax + MINUTE_MS)
  await there.mails.deliver()
  t.strictSame(sent, ['ada@acme.test'])
  ended.reject(new Error('it was not the end'))
  await sending
  t.strictSame(await there.store.read.select().from(schema.mails), [], 'nobody sends it again')
})

t.test('each delivery is sent once, and one of a sender that has ended by another', async (t) => {
  const receivers = createReceivers()
  const receiver = await receivers.start(t)
  const { here, there, clock } = await startTwo(t, [
    { receivers: receivers.world },
    { receivers: receivers.world },
  ])
  await here.tenants.create(tenantNamed('acme', { plan: 'premium' }), ACTOR)
  const events: EventName[] = ['tenant.suspended']
  const wish = { url: receiver.url, events, description: '' }
  const { webhookId } = (await here.webhooks.create('acme', wish, ACTOR)).webhook
  const emit = (count: number) =>
    here.store.change((change) =>
      change.emitEach(
        'tenant.suspended',
        'acme',
        Array.from({ length: count }, () => ({ status: 'suspended' as const })),
      ),
    )
  await emit(40)
  await Promise.all([here.dispatcher.run(), there.dispatcher.run(), there.dispatcher.run()])
  t.equal(receiver.received.length, 40)
  t.equal(new Set(receiver.received.map(({ body }) => body.id)).size, 40)

  await here.dispatcher.close() // a new event is nothing to it any more
  await emit(1)
  await there.dispatcher.run()
  t.equal(receiver.received.length, 41, 'of what another one has committed')

  receiver.answerWith(() => 500)
  await emit(1)
  await there.dispatcher.run()
  receiver.answerWith(() => 204)
  clock.advance(HOUR_MS)
  const wanted = [{ webhookId, limit: 8 }]
  const { claimed } = await here.store.change((change) => claim(change, wanted, 'ended', () => 0))
  t.equal(claimed.length, 1)
  clock.advance(LEASE_MS - 1)
  await there.dispatcher.run()
  t.equal(receiver.received.length, 42)
  clock.advance(HOUR_MS)
  await there.dispatcher.run()
  clock.advance(HOUR_MS)
  await there.dispatcher.run()
  t.equal(receiver.received.length, 43)
})

const toldIn = async (store: Store, event: EventName) =>
  (await store.read.select().from(schema.outbox)).filter((row) => row.event === event)

const sealedHits = ({ here }: Two, count: number) =>
  here.store.change(({ queries, nowMs }) =>
    addFigures(
      queries,
      'edge',
      nowMs,
      new Map([['acme', [{ outcome: 'sealed', reason: 'sealed', count }]]]),
    ),
  )

async function startAlert(t: Test) {
  const two = await startTwo(t)
  const { here, clock } = two
  clock.advance(MINUTE_MS - (clock.nowMs() % MINUTE_MS))
  await here.tenants.create(tenantNamed('acme'), ACTOR)
  const rule = { threshold: 10, windowSeconds: 300, coolDownSeconds: 60, isEnabled: true }
  await here.alerts.create('acme', { metric: 'sealed_hits', ...rule }, ACTOR)
  return two
}

t.test('an alert is told of once, whoever looks', async (t) => {
  const two = await startAlert(t)
  const { here, there } = two
  await sealedHits(two, 10)
  await Promise.all([here, there, here, there].map(({ alerts }) => alerts.evaluate()))
  t.equal((await toldIn(there.store, 'alert.triggered')).length, 1)
})

t.test('whoever has looked long ago takes nothing back of what was seen since', async (t) => {
  const two = await startAlert(t)
  const { here, there, clock } = two
  await sealedHits(two, 10)
  await there.alerts.evaluate()
  for (let seconds = 20; seconds <= 340; seconds += 20) {
    clock.advance(20 * SECOND_MS)
    await there.alerts.evaluate()
  }
  clock.advance(40 * SECOND_MS) // it was in the first of the minutes that count, and is in none now
  const standing = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  let changes = 0
  const change: Store['change'] = async (work) => {
    if (++changes === 2) {
      standing.resolve()
      await goesOn.promise
    }
    return here.store.change(work)
  }
  const slow = createAlerts({ ...here, store: { ...here.store, change } })
  const looking = slow.evaluate()
  await Promise.race([standing.promise, looking])
  t.equal(changes, 2, 'it has seen that the number is below')
  clock.advance(50 * SECOND_MS)
  await sealedHits(two, 10)
  await there.alerts.evaluate()
  goesOn.resolve()
  await looking
  clock.advance(30 * SECOND_MS)
  await there.alerts.evaluate()
  t.equal((await toldIn(there.store, 'alert.triggered')).length, 1)
})

t.test('a digest is told once, whoever looks', async (t) => {
  const { here, there, clock } = await startTwo(t)
  await here.tenants.create(tenantNamed('acme'), ACTOR)
  await here.tenants.publish('acme', ACTOR)
  await here.digests.send()
  clock.advance(15 * DAY_MS)
  await Promise.all([here, there, here, there].map(({ digests }) => digests.send()))
  t.equal((await toldIn(there.store, 'monitoring.digest')).length, 1)
})

t.test('what one does for all goes on at another one when it has ended', async (t) => {
  const { here, there, clock } = await startTwo(t)
  const ended = Promise.withResolvers<void>()
  const done: string[] = []
  const isOpen = () => false
  const first = here.leases.alone('rounds', async () => {
    done.push('here')
    await ended.promise
  })(isOpen)
  const other = there.leases.alone('rounds', async () => void done.push('there'))
  while (done.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await other(isOpen)
  clock.advance(JOB_LEASE_MS - 1)
  await other(isOpen)
  t.strictSame(done, ['here'])
  clock.advance(1)
  await other(isOpen)
  t.strictSame(done, ['here', 'there'])
  await here.leases.alone('rounds', async () => void done.push('here again'))(isOpen)
  t.strictSame(done, ['here', 'there'])
  ended.resolve()
  await first
  await there.leases.close()
  await here.leases.alone('rounds', async () => void done.push('here again'))(isOpen)
  t.strictSame(done, ['here', 'there', 'here again'], 'whoever ends in peace leaves it to the next')
})
