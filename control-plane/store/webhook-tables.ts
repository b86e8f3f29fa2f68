/** The part of the schema that webhooks stand on. */
import type { EventName } from '../../shared/events.ts'
import { table, text, whole, json, flag, primaryKey } from './columns.ts'

/** Who wants to be told of what. */
export const webhooks = table('webhooks', {
  webhookId: text('webhook_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  url: text('url').notNull(),
  events: json('events').$type<EventName[]>().notNull(),
  description: text('description').notNull(),
  secretSealed: text('secret_sealed').notNull(),
  /** The secret before this one, and until when deliveries are signed with it as well. */
  previousSecretSealed: text('previous_secret_sealed'),
  previousSecretUntil: whole('previous_secret_until'),
  state: text('state').$type<'active' | 'paused'>().notNull(),
  pausedReason: text('paused_reason').$type<'operator' | 'failing'>(),
  /** Events up to this one are none of its: from before it, or while not served, or told already. */
  fromSequence: whole('from_sequence').notNull(),
  /** Deliveries that were given up since the last one that arrived, and since when. */
  failedCount: whole('failed_count').notNull(),
  failingSince: whole('failing_since'),
  createdAt: whole('created_at').notNull(),
  updatedAt: whole('updated_at').notNull(),
  /** Events that nothing is kept of, since too much waited and had failed; and since when. */
  droppedCount: whole('dropped_count').notNull(),
  droppedSince: whole('dropped_since'),
  /** One more with each end of what waits; deliveries of those before are sent no more. */
  generation: whole('generation').notNull(),
})

/** One event on its way to one webhook. `body` is made once: every attempt sends these bytes. */
export const webhookDeliveries = table('webhook_deliveries', {
  deliveryId: text('delivery_id').primaryKey(),
  webhookId: text('webhook_id').notNull(),
  tenantId: text('tenant_id').notNull(),
  event: text('event').$type<EventName>().notNull(),
  body: text('body').notNull(),
  isTest: flag('is_test').notNull(),
  state: text('state').$type<'pending' | 'delivered' | 'failed' | 'cancelled'>().notNull(),
  /** Why it failed or was cancelled, where the attempts do not say it. */
  problem: text('problem'),
  /** Counted before each is made, so that no end of the process makes one too many. */
  attempts: whole('attempts').notNull(),
  /** When it is due; while somebody is at it, when their lease ends. */
  nextAt: whole('next_at').notNull(),
  leaseOwner: text('lease_owner'),
  leaseUntil: whole('lease_until'),
  replayedFrom: text('replayed_from'),
  createdAt: whole('created_at').notNull(),
  updatedAt: whole('updated_at').notNull(),
  /** That of its webhook when it was made. */
  generation: whole('generation').notNull(),
  /** There is another one that repeats it. */
  isSentAgain: flag('is_sent_again').notNull(),
})

/** What becomes of that which waited in this generation or before: it may take a while to write. */
export const webhookEndings = table(
  'webhook_endings',
  {
    webhookId: text('webhook_id').notNull(),
    generation: whole('generation').notNull(),
    tenantId: text('tenant_id').notNull(),
    state: text('state').$type<'cancelled' | 'failed'>().notNull(),
    problem: text('problem').notNull(),
  },
  (table) => [primaryKey({ columns: [table.webhookId, table.generation] })],
)

export const webhookAttempts = table(
  'webhook_attempts',
  {
    deliveryId: text('delivery_id').notNull(),
    /** 1 is the first. */
    number: whole('number').notNull(),
    tenantId: text('tenant_id').notNull(),
    at: whole('at').notNull(),
    /** null: nobody answered. */
    status: whole('status'),
    milliseconds: whole('milliseconds').notNull(),
    firstBytes: text('first_bytes').notNull(),
    problem: text('problem').notNull(),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
)

/** Of deliveries with their bodies and answers, whatever their state. */
export const webhookKept = table('webhook_kept', {
  tenantId: text('tenant_id').primaryKey(),
  bytes: whole('bytes').notNull(),
})
