/** How long the queue of webhooks is, for a page. */
import { newestEvent, outboxPosition } from '../store/queries/outbox.ts'
import { countPending, pendingWebhooks } from '../store/queries/webhook-deliveries.ts'
import type { Store } from '../store/store.ts'
import type { DispatchCounts, Dispatcher } from './dispatcher.ts'

interface WebhookQueue extends DispatchCounts {
  /** Events that no deliveries have been made of yet. */
  readonly eventsWaiting: number
  readonly deliveriesWaiting: number
}

export async function readWebhookQueue(
  { read }: Pick<Store, 'read'>,
  dispatcher: Pick<Dispatcher, 'counts'>,
): Promise<WebhookQueue> {
  const eventsWaiting = Math.max(0, (await newestEvent(read)) - (await outboxPosition(read)))
  return {
    ...dispatcher.counts(),
    eventsWaiting,
    deliveriesWaiting: await countAllPending(read),
  }
}

/** Webhook by webhook, since each has few: a million at once would hold everybody up. */
export async function countAllPending(read: Store['read']): Promise<number> {
  let count = 0
  for (const { webhookId } of await pendingWebhooks(read)) {
    count += await countPending(read, webhookId)
    await new Promise(setImmediate)
  }
  return count
}
