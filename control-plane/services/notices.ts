/** What tenants are told without asking: webhooks, alerts, the weekly digest. */
import { SECOND_MS } from '../../shared/clock.ts'
import { createAlertLinks } from '../mail/alert-links.ts'
import { createAlertRecipients } from '../mail/alert-recipients.ts'
import { createAlertMail } from '../mail/alert-mail.ts'
import { createAlerts } from '../monitoring/alerts.ts'
import { createDigests } from '../monitoring/digests.ts'
import { createRefusals } from '../monitoring/refusals.ts'
import { createDispatcher } from '../webhooks/dispatcher.ts'
import { readWebhookQueue } from '../webhooks/queue.ts'
import {
  createAddressCheck,
  createReceiverClient,
  type ReceiverWorld,
} from '../webhooks/receiver-client.ts'
import { createDeliveries } from '../webhooks/deliveries.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import type { Jobs } from './jobs.ts'
import type { PeopleServices } from './people.ts'
import type { TenantServices } from './tenants.ts'
import { noTracing } from '../tracing/tracing.ts'
import { timedReceiver } from './timed-clients.ts'
import type { ServicesWorld } from './world.ts'

const PUBLIC_RECEIVERS: ReceiverWorld = { allowPrivate: [], egressProxy: null }
/** About as often as gateways report what they have counted. */
const ALERTS_EVERY_MS = 10 * SECOND_MS

export function createNotices(
  world: ServicesWorld,
  { store, vault, leases, mails }: TenantServices & Pick<PeopleServices, 'mails'>,
  jobs: Jobs,
) {
  const { receivers = PUBLIC_RECEIVERS, baseUrl, clock, log, tracing = noTracing() } = world
  const receiver = timedReceiver(createReceiverClient(receivers), tracing)
  const dispatcher = createDispatcher({ store, vault, receiver, clock, log })
  jobs.begins(() => dispatcher.run())
  const deliveries = jobs.tidied('deliveries', createDeliveries({ store, dispatcher }))
  jobs.tidies('largestDeliveries', (limit) => deliveries.pruneLargest(limit))
  jobs.tidies('endedDeliveries', (limit) => deliveries.writeEndings(limit))
  jobs.tidies('events', (limit) => deliveries.pruneEvents(limit))
  const digests = jobs.tidied('digests', createDigests({ store, clock, log }))
  jobs.follows(leases.alone('digests', digests.send), 'digests wait for the next round')
  const links = createAlertLinks({ vault, baseUrl })
  const mailAlert = createAlertMail({ mails, links, baseUrl })
  const alertRecipients = createAlertRecipients({ store, clock, mails, links })
  const alerts = createAlerts({ store, clock, mailAlert, alertRecipients, mails })
  const failure = 'looking at alerts failed, trying again later'
  jobs.follows(leases.alone('alerts', alerts.evaluate), failure, ALERTS_EVERY_MS)
  return {
    dispatcher,
    webhooks: createWebhooks({ store, vault, checkAddress: createAddressCheck(receivers), clock }),
    deliveries,
    webhookQueue: () => readWebhookQueue(store, dispatcher),
    refusals: createRefusals({ store }),
    alerts,
    alertRecipients,
    mailAlert,
    digests,
  }
}
