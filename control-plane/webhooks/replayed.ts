/**
 * Everything that was given up, sent once more. There may be ten thousand of them, each with a large
 * body: a few are taken in one change, by count and by bytes, and whoever has come meanwhile goes first.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { countFitting } from '../store/fitting.ts'
import {
  countPending,
  findDeliveries,
  givenUpWithin,
  insertDeliveries,
  updateDeliveries,
} from '../store/queries/webhook-deliveries.ts'
import { writeEndings } from '../store/queries/webhook-endings.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { replayOf } from './new-delivery.ts'
import type { Dispatcher } from './dispatcher.ts'
import { requirePlan, requireWebhook } from './webhooks.ts'

interface World {
  readonly store: Pick<Store, 'change'>
  readonly dispatcher: Pick<Dispatcher, 'noted'>
}

interface Asked {
  readonly tenantId: string
  readonly webhookId: string
  readonly sinceMs: number
  readonly actor: Actor
  /** Whoever asked is not there any more. */
  readonly isGone: () => boolean
}

interface Turn {
  readonly count: number
  readonly hasMore: boolean
}

const NOTHING: Turn = { count: 0, hasMore: false }
const MORE: Turn = { count: 0, hasMore: true }

/** Answers how many; of very many it leaves some for the next time. */
export async function replayFailed(world: World, asked: Asked): Promise<number> {
  const { tenantId, webhookId } = asked
  let sent = 0
  let untilMs: number | undefined
  for (let turn = 0; turn < LIMITS.webhookReplayTurnsMax && !asked.isGone(); turn++) {
    const { count, hasMore } = await world.store
      .change(async (change) => {
        // What a pause has ended is to be sent again as well, written down or not.
        if (await writeEndings(change.queries, change.nowMs, tenantId)) return MORE
        return takeTurn(change, asked, (untilMs ??= change.nowMs), sent === 0)
      })
      .catch((error: unknown) => {
        // paused, deleted or out of its plan in between: what is on its way was told of
        if (sent === 0 || !(error instanceof Refusal)) throw error
        return NOTHING
      })
    if (count > 0) world.dispatcher.noted(webhookId, tenantId)
    sent += count
    if (!hasMore) break
  }
  return sent
}

export async function requireSendable(change: Change, tenantId: string, webhookId: string) {
  const webhook = await requireWebhook(change.queries, tenantId, webhookId)
  await requirePlan(change.queries, tenantId)
  return webhook
}

/** `untilMs`: what is given up from then on is no failure of before. */
async function takeTurn(
  change: Change,
  { tenantId, webhookId, sinceMs, actor }: Asked,
  untilMs: number,
  isFirst: boolean,
): Promise<Turn> {
  const { queries, nowMs } = change
  const webhook = await requireSendable(change, tenantId, webhookId)
  if (webhook.state === 'paused') throw new Refusal('webhook_paused')
  const room = LIMITS.webhookPendingMax - (await countPending(queries, webhookId))
  const most = Math.min(room, LIMITS.webhookReplayedAtOnceMax)
  if (most <= 0) return NOTHING
  const some = await givenUpWithin(queries, webhookId, sinceMs, untilMs, most)
  const count = countFitting(
    some.map(({ bodyBytes }) => bodyBytes),
    LIMITS.webhookBytesAtOnceMax,
  )
  const ids = some.slice(0, count).map(({ deliveryId }) => deliveryId)
  if (count === 0) return NOTHING
  const originals = await findDeliveries(queries, ids)
  await insertDeliveries(
    queries,
    originals.map((original) => replayOf(original, webhook, nowMs)),
  )
  await updateDeliveries(queries, ids, { isSentAgain: true })
  if (isFirst) {
    const content = { webhook_id: webhookId, failed_since: new Date(sinceMs).toISOString() }
    await change.audit(actor, { action: 'webhook.replayed', tenantId, content })
  }
  return { count, hasMore: some.length === most || count < some.length }
}
