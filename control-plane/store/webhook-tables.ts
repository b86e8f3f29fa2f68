/** The part of the schema that webhooks stand on. */
import type { EventName } from '../../shared/events.ts'
import type { Columns } from './columns.ts'

export function defineWebhookTables(c: Columns) {
  /** Who wants to be told of what. */
  const webhooks = c.table(
    'webhooks',
    {
      webhookId: c.text('webhook_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      url: c.text('url').notNull(),
      events: c.json('events').$type<EventName[]>().notNull(),
      description: c.text('description').notNull(),
      secretSealed: c.text('secret_sealed').notNull(),
      /** The secret before this one, and until when deliveries are signed with it as well. */
      previousSecretSealed: c.text('previous_secret_sealed'),
      previousSecretUntil: c.whole('previous_secret_until'),
      state: c.text('state').$type<'active' | 'paused'>().notNull(),
      pausedReason: c.text('paused_reason').$type<'operator' | 'failing'>(),
      /** Events up to this one are none of its: from before it, or while not served, or told already. */
      fromSequence: c.whole('from_sequence').notNull(),
      /** Deliveries that were given up since the last one that arrived, and since when. */
      failedCount: c.whole('failed_count').notNull(),
      failingSince: c.whole('failing_since'),
      createdAt: c.whole('created_at').notNull(),
      updatedAt: c.whole('updated_at').notNull(),
      /** Events that nothing is kept of, since too much waited and had failed; and since when. */
      droppedCount: c.whole('dropped_count').notNull(),
      droppedSince: c.whole('dropped_since'),
      /** One more with each end of what waits; deliveries of those before are sent no more. */
      generation: c.whole('generation').notNull(),
    },
    (table) => [c.index('webhooks_tenant').on(table.tenantId, table.createdAt, table.webhookId)],
  )

  /** One event on its way to one webhook. `body` is made once: every attempt sends these bytes. */
  const webhookDeliveries = c.table(
    'webhook_deliveries',
    {
      deliveryId: c.text('delivery_id').primaryKey(),
      webhookId: c.text('webhook_id').notNull(),
      tenantId: c.text('tenant_id').notNull(),
      event: c.text('event').$type<EventName>().notNull(),
      body: c.text('body').notNull(),
      isTest: c.flag('is_test').notNull(),
      state: c.text('state').$type<'pending' | 'delivered' | 'failed' | 'cancelled'>().notNull(),
      /** Why it failed or was cancelled, where the attempts do not say it. */
      problem: c.text('problem'),
      /** Counted before each is made, so that no end of the process makes one too many. */
      attempts: c.whole('attempts').notNull(),
      /** When it is due; while somebody is at it, when their lease ends. */
      nextAt: c.whole('next_at').notNull(),
      leaseOwner: c.text('lease_owner'),
      leaseUntil: c.whole('lease_until'),
      replayedFrom: c.text('replayed_from'),
      createdAt: c.whole('created_at').notNull(),
      updatedAt: c.whole('updated_at').notNull(),
      /** That of its webhook when it was made. */
      generation: c.whole('generation').notNull(),
      /** There is another one that repeats it. */
      isSentAgain: c.flag('is_sent_again').notNull(),
    },
    (table) => [
      c
        .index('webhook_deliveries_due')
        .on(table.state, table.webhookId, table.generation, table.nextAt),
      c.index('webhook_deliveries_listed').on(table.webhookId, table.createdAt, table.deliveryId),
      c
        .index('webhook_deliveries_states')
        .on(table.webhookId, table.state, table.createdAt, table.deliveryId),
      c.index('webhook_deliveries_tenant').on(table.tenantId, table.state, table.updatedAt),
      c.index('webhook_deliveries_settled').on(table.state, table.updatedAt),
      // only of those that have failed and were not sent again
      c.index('webhook_deliveries_given_up').on(table.webhookId, table.updatedAt, table.deliveryId),
    ],
  )

  /** What becomes of that which waited in this generation or before: it may take a while to write. */
  const webhookEndings = c.table(
    'webhook_endings',
    {
      webhookId: c.text('webhook_id').notNull(),
      generation: c.whole('generation').notNull(),
      tenantId: c.text('tenant_id').notNull(),
      state: c.text('state').$type<'cancelled' | 'failed'>().notNull(),
      problem: c.text('problem').notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.webhookId, table.generation] }),
      c.index('webhook_endings_tenant').on(table.tenantId),
    ],
  )

  const webhookAttempts = c.table(
    'webhook_attempts',
    {
      deliveryId: c.text('delivery_id').notNull(),
      /** 1 is the first. */
      number: c.whole('number').notNull(),
      tenantId: c.text('tenant_id').notNull(),
      at: c.whole('at').notNull(),
      /** null: nobody answered. */
      status: c.whole('status'),
      milliseconds: c.whole('milliseconds').notNull(),
      firstBytes: c.text('first_bytes').notNull(),
      problem: c.text('problem').notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.deliveryId, table.number] }),
      c.index('webhook_attempts_tenant').on(table.tenantId),
    ],
  )

  /** Of deliveries with their bodies and answers, whatever their state. */
  const webhookKept = c.table('webhook_kept', {
    tenantId: c.text('tenant_id').primaryKey(),
    bytes: c.whole('bytes').notNull(),
  })

  return { webhooks, webhookDeliveries, webhookEndings, webhookAttempts, webhookKept }
}
