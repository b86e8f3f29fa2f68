/** A receiver that we did not write checks what we sign: the npm package `stripe`. */
import { createRequire } from 'node:module'
import t from 'tap'
import { RECEIVER } from '../../../control-plane/api/events/events-page.ts'
import { SECOND_MS, systemClock } from '../../../shared/clock.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers, type Received } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'
import { clockOf } from '../../support/clocks.ts'

const receivers = createReceivers()

type Raw = string | Uint8Array
interface Webhooks {
  constructEvent(raw: Raw, signature: string, secret: string, seconds?: number): { id: string }
}
/** Required: its own types are a quarter of all that is read to check ours. */
const Stripe = createRequire(import.meta.url)('stripe') as new (key: string) => {
  readonly webhooks: Webhooks
}
const { webhooks: stripe } = new Stripe('sk_test_nobody')
const TOLERANCE_SECONDS = 300

const signatureOf = ({ headers }: Received) => String(headers['x-service-signature'])
const verify = (received: Received, secret: string, raw = received.raw) =>
  stripe.constructEvent(raw, signatureOf(received), secret, TOLERANCE_SECONDS)

async function delivered(t: Parameters<typeof startWebhooks>[0], clock = systemClock) {
  const world = await startWebhooks(t, receivers, { clock })
  const receiver = await receivers.start(t)
  const webhook = await world.webhook(receiver.url)
  await world.emit(1)
  await world.dispatcher.run()
  return { world, receiver, webhook, received: receiver.received[0]! }
}

void t.test('a delivery verifies, and is read as what was sent', async (t) => {
  const { received, webhook } = await delivered(t)
  const event = verify(received, webhook.secret)
  t.strictSame(event, received.body)
})

void t.test('a delivery that was tampered with does not', async (t) => {
  const { received, webhook } = await delivered(t)
  const tampered = Buffer.from(received.raw.toString().replace('"acme"', '"evil"'))
  t.throws(() => verify(received, webhook.secret, tampered), /signature/i)
  const respaced = Buffer.from(JSON.stringify(received.body, null, 1))
  t.throws(() => verify(received, webhook.secret, respaced), /signature/i)
})

void t.test('a delivery that was cut does not', async (t) => {
  const { received, webhook } = await delivered(t)
  t.throws(() => verify(received, webhook.secret, received.raw.subarray(0, -1)), /signature/i)
})

void t.test('a delivery under another secret does not', async (t) => {
  const { received } = await delivered(t)
  t.throws(() => verify(received, 'whsec_of_somebody_else'), /signature/i)
})

void t.test('a delivery that is older than the tolerance does not', async (t) => {
  const clock = clockOf(() => Date.now() - (TOLERANCE_SECONDS + 5) * SECOND_MS)
  const { received, webhook } = await delivered(t, clock)
  t.throws(() => verify(received, webhook.secret), /tolerance/i)
})

void t.test('a time that was put over an old signature does not', async (t) => {
  const { received, webhook } = await delivered(t)
  const [, v1] = signatureOf(received).split(',')
  const later = Math.floor(Date.now() / SECOND_MS) + 1
  t.throws(
    () => stripe.constructEvent(received.raw, `t=${later},${v1}`, webhook.secret),
    /signature/i,
  )
})

void t.test('while a secret is replaced both verify, and then the new one only', async (t) => {
  const { world, receiver, webhook } = await delivered(t)
  const made = await world.webhooks.rotateSecret('acme', webhook.id, 60, ACTOR)
  await world.emit(1)
  await world.dispatcher.run()
  const [, both] = receiver.received
  t.equal(verify(both!, webhook.secret).id, both!.body.id)
  t.equal(verify(both!, made.secret).id, both!.body.id)
  const entries = signatureOf(both!).split(',')
  t.equal(entries.length, 3)
  t.equal(
    stripe.constructEvent(both!.raw, [entries[0], entries[2]].join(), made.secret).id,
    both!.body.id,
    'the new one comes last',
  )

  const last = await world.webhooks.rotateSecret('acme', webhook.id, 0, ACTOR)
  await world.emit(1)
  await world.dispatcher.run()
  const after = receiver.received[2]!
  t.match(signatureOf(after), /^t=\d+,v1=[0-9a-f]{64}$/, 'an overlap of nothing ends it at once')
  t.equal(verify(after, last.secret).id, after.body.id)
  t.throws(() => verify(after, made.secret), /signature/i)
})

void t.test('the code that our page shows verifies the same, and refuses the same', async (t) => {
  const { isFromService } = (await import(
    `data:text/javascript,${encodeURIComponent(RECEIVER)}`
  )) as { isFromService: (header: string, raw: Buffer, secret: string) => boolean }
  const { world, receiver, webhook, received } = await delivered(t)
  t.equal(isFromService(signatureOf(received), received.raw, webhook.secret), true)
  t.equal(isFromService(signatureOf(received), received.raw, 'whsec_other'), false)
  t.equal(isFromService(signatureOf(received), received.raw.subarray(1), webhook.secret), false)
  t.equal(isFromService('t=1,v1=00', received.raw, webhook.secret), false)
  t.equal(isFromService('v1=00', received.raw, webhook.secret), false)
  const made = await world.webhooks.rotateSecret('acme', webhook.id, 60, ACTOR)
  await world.emit(1)
  await world.dispatcher.run()
  const both = receiver.received[1]!
  for (const secret of [webhook.secret, made.secret])
    t.equal(isFromService(signatureOf(both), both.raw, secret), true)
})
