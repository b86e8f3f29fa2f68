/** Deliveries as people see them: looked at, tried out, sent once more. */
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../shared/errors.ts'
import { EVENTS, type EventName } from '../../shared/events.ts'
import { LIMITS } from '../../shared/limits.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import { deleteOutboxBefore } from '../store/queries/outbox.ts'
import {
  attemptsOf,
  countPending,
  deleteOldestSettledOf,
  deleteSettledBefore,
  deliveriesBefore,
  findDelivery,
  findDeliveryStates,
  insertDeliveries,
  oldestPending,
  updateDeliveries,
  type AttemptRow,
  type DeliveryRow,
  type DeliveryState,
  type ListedDelivery,
} from '../store/queries/webhook-deliveries.ts'
import { tenantsKeepingMore } from '../store/queries/webhook-kept.ts'
import { writeEndings } from '../store/queries/webhook-endings.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { newDelivery, replayOf } from './new-delivery.ts'
import type { Dispatcher } from './dispatcher.ts'
import { replayFailed, requireSendable } from './replayed.ts'
import { requireWebhook, type Webhook } from './webhooks.ts'

/** With every attempt at it, the first one first. */
export type Delivery = Readonly<ListedDelivery> & { readonly tries: readonly AttemptRow[] }

export interface Retrying {
  readonly failed: number
  readonly nextAt: number
}

const LOOK_EVERY_MS = 50

export function createDeliveries({
  store,
  dispatcher,
}: {
  readonly store: Store
  readonly dispatcher: Pick<Dispatcher, 'noted'>
}) {
  /** Tenants with failures that are being sent again just now: one webhook after the other. */
  const replaying = new Set<string>()

  /** `make` answers what is to be sent; the audit trail tells of it. */
  async function send(
    tenantId: string,
    webhookId: string,
    actor: Actor,
    action: string,
    make: (change: Change) => Promise<readonly DeliveryRow[]>,
  ): Promise<readonly DeliveryRow[]> {
    const sent = await store.change(async (change) => {
      const made = await make(change)
      if (made.length === 0) return made
      const waiting = await countPending(change.queries, webhookId)
      if (waiting + made.length > LIMITS.webhookPendingMax)
        throw new Refusal('deliveries_exhausted')
      await insertDeliveries(change.queries, made)
      const content = { webhook_id: webhookId, deliveries: made.length }
      await change.audit(actor, { action, tenantId, content })
      return made
    })
    if (sent.length > 0) dispatcher.noted(webhookId, tenantId)
    return sent
  }

  return {
    /** Newest first. */
    async list(
      tenantId: string,
      webhookId: string,
      page: PageRequest,
      state?: DeliveryState,
    ): Promise<Page<Delivery>> {
      await requireWebhook(store.read, tenantId, webhookId)
      const before = decodeCursor(page.cursor, 'number', 'string')
      const rows = await deliveriesBefore(store.read, webhookId, state, before, page.limit + 1)
      const listed = toPage(rows, page.limit, (row) => [row.createdAt, row.deliveryId])
      const tries = Map.groupBy(
        await attemptsOf(
          store.read,
          listed.items.map(({ deliveryId }) => deliveryId),
        ),
        ({ deliveryId }) => deliveryId,
      )
      const items = listed.items.map((row) => ({ ...row, tries: tries.get(row.deliveryId) ?? [] }))
      return { ...listed, items }
    },

    /** Of those that wait for another attempt since theirs have failed: the oldest that waits. */
    async retryingOf(webhooks: readonly Webhook[]): Promise<ReadonlyMap<string, Retrying>> {
      const retrying = new Map<string, Retrying>()
      for (const webhook of webhooks) {
        if (webhook.state !== 'active') continue
        const oldest = await oldestPending(store.read, webhook)
        if (oldest === undefined) continue
        // counted before it is made: one that is under way has not failed
        const failed = oldest.attempts - (oldest.leaseOwner === null ? 0 : 1)
        if (failed > 0) retrying.set(webhook.webhookId, { failed, nextAt: oldest.nextAt })
      }
      return retrying
    },

    /** With what is sent. */
    async get(tenantId: string, webhookId: string, deliveryId: string) {
      await requireWebhook(store.read, tenantId, webhookId)
      const row = await findDelivery(store.read, webhookId, deliveryId)
      if (row === undefined) throw new Refusal('delivery_not_found')
      return { ...row, tries: await attemptsOf(store.read, [deliveryId]) }
    },

    /** Whether somebody has answered it, or it is over; waits for that, but no longer than so. */
    async settled(deliveryId: string, waitMsMax: number): Promise<boolean> {
      for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
        const [row] = await findDeliveryStates(store.read, [deliveryId])
        if (row === undefined || row.state !== 'pending') return true
        if (row.attempts > 0 && row.leaseOwner === null) return true
        if (waitedMs >= waitMsMax) return false
        await pause(LOOK_EVERY_MS)
      }
    },

    /**
     * A delivery like any other, of the example of an event. A paused webhook may be tried as well:
     * that is how one finds out whether it would work again.
     */
    async test(
      tenantId: string,
      webhookId: string,
      wanted: EventName | undefined,
      actor: Actor,
    ): Promise<Delivery> {
      const [made] = await send(tenantId, webhookId, actor, 'webhook.tested', async (change) => {
        const webhook = await requireSendable(change, tenantId, webhookId)
        const event = wanted ?? webhook.events[0] ?? 'tenant.activated'
        const happening = { event, data: EVENTS[event].example, happenedAtMs: change.nowMs }
        return [newDelivery(webhook, happening, change.nowMs, true)]
      })
      return fresh(made)
    },

    async replay(
      tenantId: string,
      webhookId: string,
      deliveryId: string,
      actor: Actor,
    ): Promise<Delivery> {
      const [made] = await send(tenantId, webhookId, actor, 'webhook.replayed', async (change) => {
        const webhook = await requireSendable(change, tenantId, webhookId)
        const original = await findDelivery(change.queries, webhookId, deliveryId)
        if (original === undefined) throw new Refusal('delivery_not_found')
        if (webhook.state === 'paused') throw new Refusal('webhook_paused')
        await updateDeliveries(change.queries, [deliveryId], { isSentAgain: true })
        return [replayOf(original, webhook, change.nowMs)]
      })
      return fresh(made)
    },

    /** All that have failed since then and were not sent again; answers how many. */
    async replayFailed(
      tenantId: string,
      webhookId: string,
      sinceMs: number,
      actor: Actor,
      isGone = () => false,
    ): Promise<number> {
      if (replaying.has(tenantId)) throw new Refusal('replay_running')
      replaying.add(tenantId)
      try {
        const asked = { tenantId, webhookId, sinceMs, actor, isGone }
        return await replayFailed({ store, dispatcher }, asked)
      } finally {
        replaying.delete(tenantId)
      }
    },

    prune: pruneWith(store, deleteSettledBefore, LIMITS.webhookDeliveryKeptMs),

    /** Of tenants that keep more than they may; as many as the limit: there may be more. */
    async pruneLargest(limit: number): Promise<number> {
      return store.change(async ({ queries }) => {
        const bytesMax = LIMITS.webhookKeptBytesPerTenantMax
        for (const tenantId of await tenantsKeepingMore(queries, bytesMax))
          if ((await deleteOldestSettledOf(queries, tenantId, limit)) > 0) return limit
        return 0
      })
    },

    /** What waited, and is over. As many as the limit: there may be more. */
    async writeEndings(limit: number): Promise<number> {
      const hasMore = await store.change(({ queries, nowMs }) => writeEndings(queries, nowMs))
      return hasMore ? limit : 0
    },

    /** Of events that have become deliveries, or that nobody had chosen. */
    pruneEvents: pruneWith(store, deleteOutboxBefore, LIMITS.outboxKeptMs),
  }
}

function fresh(made: DeliveryRow | undefined): Delivery {
  if (made === undefined) throw new Error('no delivery was made')
  const { body: _, ...listed } = made
  return { ...listed, tries: [] }
}
