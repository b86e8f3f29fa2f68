import t from 'tap'
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { startWebhooks } from './webhook-world.ts'

const receivers = createReceivers()

void t.test('an overlap ends when its time is over, for retries as well', async (t) => {
  const world = await startWebhooks(t, receivers)
  const receiver = await receivers.start(t, () => 500)
  const { id } = await world.webhook(receiver.url)
  await world.webhooks.rotateSecret('acme', id, MINUTE_MS / SECOND_MS, ACTOR)
  await world.emit(1)
  await world.dispatcher.run()
  await world.later(2 * MINUTE_MS)
  t.strictSame(
    receiver.received.map(
      ({ headers }) => String(headers['x-service-signature']).match(/v1=/g)?.length,
    ),
    [2, 1],
  )
})
