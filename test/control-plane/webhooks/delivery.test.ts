import { createHmac } from 'node:crypto'
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { EVENTS } from '../../../shared/events.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { RETRY_GAPS_MS } from '../../../control-plane/webhooks/schedule.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()
const LONGEST_GAP_MS = 2 * HOUR_MS

void t.test('a delivery is as the contract says, to the letter', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id, secret } = await world.webhook(receiver.url)
  const happenedAtMs = world.clock.nowMs()
  await world.tenants.suspend('acme', ACTOR)
  await receiver.arrived(1)
  await world.dispatcher.run()

  const [{ headers, method, path, raw, body } = receiver.received[0]!] = receiver.received
  t.equal(method, 'POST')
  t.equal(path, '/hooks')
  t.equal(headers['content-type'], 'application/json')
  t.equal(headers['user-agent'], 'Service-Webhooks/1')
  t.equal(headers['x-service-event'], 'tenant.suspended')
  t.equal(headers['x-service-delivery'], body.id)
  t.strictSame(Object.keys(body), ['id', 'event', 'tenant_id', 'created_at', 'data'])
  t.strictSame(
    { ...body, id: '' },
    {
      id: '',
      event: 'tenant.suspended',
      tenant_id: 'acme',
      created_at: new Date(happenedAtMs).toISOString(),
      data: { status: 'suspended' },
    },
  )
  const signature = String(headers['x-service-signature'])
  t.match(signature, /^t=\d+,v1=[0-9a-f]{64}$/)
  const [, time = '', v1] = /^t=(\d+),v1=(.+)$/.exec(signature) ?? []
  t.equal(time, String(Math.floor(happenedAtMs / SECOND_MS)))
  t.equal(v1, createHmac('sha256', secret).update(`${time}.`).update(raw).digest('hex'))
  t.match(await world.onlyDelivery(id), {
    deliveryId: body.id,
    state: 'delivered',
    attempts: 1,
    tries: [{ number: 1, status: 204, problem: '', firstBytes: '' }],
  })
})

void t.test('only what was chosen is sent, once to each webhook that has chosen it', async (t) => {
  const world = await startWebhooks(t, receivers)
  const [first, second, third] = [
    await receivers.start(t),
    await receivers.start(t),
    await receivers.start(t),
  ]
  await world.webhook(first.url, ['tenant.suspended', 'tenant.activated'])
  await world.webhook(second.url, ['tenant.suspended'])
  await world.webhook(third.url, ['licence.changed'])
  await world.suspend()
  await world.dispatcher.run()
  const told = ({ received }: typeof first) => received.map(({ body }) => body.event).sort()
  t.strictSame(told(first), ['tenant.activated', 'tenant.suspended'])
  t.strictSame(told(second), ['tenant.suspended'])
  t.strictSame(told(third), [])
  const ids = [...first.received, ...second.received].map(({ body }) => body.id)
  t.equal(new Set(ids).size, 3, 'each delivery has an id of its own')
})

void t.test('any 2xx is a success, and nothing else is', async (t) => {
  for (const [status, state] of [
    [200, 'delivered'],
    [202, 'delivered'],
    [299, 'delivered'],
    [301, 'pending'],
    [307, 'pending'],
    [400, 'pending'],
    [410, 'pending'],
    [500, 'pending'],
  ] as const) {
    const world = await startWebhooks(t, receivers)
    const receiver = await receivers.start(t, () => status)
    const { id } = await world.webhook(receiver.url)
    await world.emit(1)
    await world.dispatcher.run()
    t.match(await world.onlyDelivery(id), { state, attempts: 1, tries: [{ status }] }, `${status}`)
    t.equal(receiver.received.length, 1)
  }
})

void t.test('six attempts over two hours, the same bytes each time, and none more', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.emit(1)
  await world.dispatcher.run()
  for (const [at, gapMs] of RETRY_GAPS_MS.entries()) {
    await world.later(Math.floor(gapMs * 0.9) - 1)
    t.equal(receiver.received.length, at + 1, `not before nine tenths of gap ${at + 1}`)
    await world.later(Math.ceil(gapMs * 0.2) + 1)
    t.equal(receiver.received.length, at + 2, `by eleven tenths of gap ${at + 1}`)
  }
  t.equal((await world.onlyDelivery(id)).state, 'failed')
  await world.later(LONGEST_GAP_MS)
  await world.later(DAY_MS)
  t.equal(receiver.received.length, 6)
  t.equal(new Set(receiver.received.map(({ raw }) => raw.toString())).size, 1, 'the same bytes')
  t.equal(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 1)
  const times = receiver.received.map(({ headers }) => headers['x-service-signature'])
  t.equal(new Set(times).size, 6, 'signed anew, with the time of the attempt')
  const { tries } = await world.onlyDelivery(id)
  t.strictSame(
    tries.map(({ number, status, firstBytes }) => ({ number, status, firstBytes })),
    [1, 2, 3, 4, 5, 6].map((number) => ({ number, status: 500, firstBytes: 'not today' })),
  )
})

void t.test('a receiver that comes back gets what it has missed', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 503)
  const { id } = await world.webhook(receiver.url)
  await world.emit(3)
  await world.dispatcher.run()
  receiver.answerWith(() => 200)
  await world.later(MINUTE_MS)
  const states = (await world.deliveriesOf(id)).map(({ state, attempts }) => ({ state, attempts }))
  t.strictSame(states, Array(3).fill({ state: 'delivered', attempts: 2 }))
})

void t.test('who cannot be reached is told why, in words', async (t) => {
  const world = await startWebhooks(t, receivers)
  const { id } = await world.webhook('https://hooks.example:1/hooks')
  await world.emit(1)
  await world.dispatcher.run()
  const [attempt] = (await world.onlyDelivery(id)).tries
  t.equal(attempt?.status, null)
  t.equal(attempt?.problem, 'the connection was refused')
})

void t.test('a tenant that is suspended is told so', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  await world.webhook(receiver.url)
  await world.tenants.suspend('acme', ACTOR)
  await world.dispatcher.run()
  receiver.answerWith(() => 200)
  await world.later(MINUTE_MS)
  t.strictSame(
    receiver.received.map(({ body }) => body.event),
    ['tenant.suspended', 'tenant.suspended'],
  )
})

void t.test('a test is a delivery like any other, of the example', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t)
  const { id } = await world.webhook(receiver.url, ['signin.denied', 'tenant.suspended'])
  const first = await world.deliveries.test('acme', id, undefined, ACTOR)
  const chosen = await world.deliveries.test('acme', id, 'policy.mfa.updated', ACTOR)
  await world.dispatcher.run()
  t.strictSame(
    new Map(receiver.received.map(({ body }) => [body.id, [body.event, body.data]])),
    new Map([
      [first.deliveryId, ['signin.denied', EVENTS['signin.denied'].example]],
      [chosen.deliveryId, ['policy.mfa.updated', EVENTS['policy.mfa.updated'].example]],
    ]),
  )
  t.ok((await world.deliveriesOf(id)).every(({ isTest, state }) => isTest && state === 'delivered'))
})

void t.test("what belongs to a tenant that is removed goes with it, and is nobody's", async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  await world.webhook(receiver.url)
  await world.emit(3)
  await world.dispatcher.run()
  await world.store.change(async (change) => {
    await change.emit('tenant.suspended', 'acme', { status: 'suspended' })
  })
  await world.tenants.remove('acme', ACTOR)
  t.strictSame(await world.rows(), [])
  t.strictSame(await world.store.read.select().from(schema.outbox), [])
  await world.tenants.create(tenantNamed('acme', { plan: 'premium' }), ACTOR)
  await world.webhook((await receivers.start(t)).url)
  await world.later(HOUR_MS)
  t.strictSame(await world.rows(), [], 'whoever gets the id next is not told of the one before')
})
