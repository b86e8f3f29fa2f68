/**
 * Everything that was given up, sent once more. There may be ten thousand of them, each with a large
 * body: a few are taken in one change, by count and by bytes, and whoever has come meanwhile goes first.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  countPending,
  failedAfter,
  findDeliveries,
  insertDeliveries,
  type FailedDelivery,
} from '../store/queries/webhook-deliveries.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { replayOf } from './deliveries.ts'
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
}

type Place = readonly [createdAt: number, deliveryId: string]

interface Turn {
  readonly count: number
  /** Up to where it has looked; undefined: to the end. */
  readonly place: Place | undefined
}

/** Answers how many; those that were sent again already are not among them. */
export async function replayFailed(world: World, asked: Asked): Promise<number> {
  const { tenantId, webhookId } = asked
  let sent = 0
  let startedMs: number | undefined
  for (let place: Place | undefined = [0, '']; place !== undefined;) {
    const from: Place = place
    const turn: Turn = await world.store
      .change((change) => {
        startedMs ??= change.nowMs
        return takeTurn(change, asked, { from, untilMs: startedMs, isFirst: sent === 0 })
      })
      .catch((error: unknown) => {
        // paused, deleted or out of its plan in between: what is on its way was told of
        if (sent === 0 || !(error instanceof Refusal)) throw error
        return { count: 0, place: undefined }
      })
    if (turn.count > 0) world.dispatcher.noted(webhookId, tenantId)
    sent += turn.count
    place = turn.place
  }
  return sent
}

export async function requireSendable(change: Change, tenantId: string, webhookId: string) {
  const webhook = await requireWebhook(change.queries, tenantId, webhookId)
  await requirePlan(change.queries, tenantId)
  return webhook
}

interface Stretch {
  readonly from: Place
  /** What is made from then on is no failure of before. */
  readonly untilMs: number
  readonly isFirst: boolean
}

async function takeTurn(
  change: Change,
  { tenantId, webhookId, sinceMs, actor }: Asked,
  { from, untilMs, isFirst }: Stretch,
): Promise<Turn> {
  const { queries, nowMs } = change
  const webhook = await requireSendable(change, tenantId, webhookId)
  if (webhook.state === 'paused') throw new Refusal('webhook_paused')
  const most = LIMITS.webhookReplayedAtOnceMax
  const failed = await failedAfter(queries, webhookId, from, most)
  const room = LIMITS.webhookPendingMax - (await countPending(queries, webhookId))
  const isMeant = ({ createdAt, updatedAt, isSentAgain }: FailedDelivery) =>
    createdAt <= untilMs && updatedAt >= sinceMs && !isSentAgain
  const taken = withinBytes(failed, isMeant, room)
  const last = failed[taken.looked - 1]
  const ids = taken.meant.map(({ deliveryId }) => deliveryId)
  if (ids.length > 0) {
    const originals = await findDeliveries(queries, ids)
    const made = originals.map((original) => replayOf(original, webhook, nowMs))
    await insertDeliveries(queries, made)
  }
  if (ids.length > 0 && isFirst) {
    const content = { webhook_id: webhookId, failed_since: new Date(sinceMs).toISOString() }
    await change.audit(actor, { action: 'webhook.replayed', tenantId, content })
  }
  const isOver = room <= ids.length || (taken.looked === failed.length && failed.length < most)
  const place: Place | undefined =
    isOver || last === undefined || last.createdAt > untilMs
      ? undefined
      : [last.createdAt, last.deliveryId]
  return { count: ids.length, place }
}

function withinBytes(
  failed: readonly FailedDelivery[],
  isMeant: (one: FailedDelivery) => boolean,
  room: number,
) {
  const meant: FailedDelivery[] = []
  let looked = 0
  let bytes = 0
  for (const one of failed) {
    if (isMeant(one)) {
      bytes += one.bodyBytes
      const isTooMuch = bytes > LIMITS.webhookBytesAtOnceMax && meant.length > 0
      if (isTooMuch || meant.length >= room) break
      meant.push(one)
    }
    looked++
  }
  return { meant, looked }
}
