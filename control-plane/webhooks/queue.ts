/** How long the queue of webhooks is, for a page that must not count a million rows. */
import { LIMITS } from '../../shared/limits.ts'
import { newestEvent, outboxPosition } from '../store/queries/outbox.ts'
import { countPendingUpTo } from '../store/queries/webhook-deliveries.ts'
import type { Store } from '../store/store.ts'
import type { DispatchCounts, Dispatcher } from './dispatcher.ts'

export interface WebhookQueue extends DispatchCounts {
  /** Events that no deliveries have been made of yet. */
  readonly eventsWaiting: number
  readonly deliveriesWaiting: number
  /** There are as many as are counted, or more. */
  readonly isCut: boolean
}

export async function readWebhookQueue(
  { read }: Pick<Store, 'read'>,
  dispatcher: Pick<Dispatcher, 'counts'>,
): Promise<WebhookQueue> {
  const most = LIMITS.deliveriesCountedMax
  const deliveriesWaiting = await countPendingUpTo(read, most)
  const eventsWaiting = Math.max(0, (await newestEvent(read)) - (await outboxPosition(read)))
  return {
    ...dispatcher.counts(),
    eventsWaiting,
    deliveriesWaiting,
    isCut: deliveriesWaiting >= most,
  }
}
