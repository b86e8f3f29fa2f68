/** Certificates that we order by ourselves. */
import { table, text, whole } from './columns.ts'

/** How far a hostname has come. What is done at the authority lies in the order there. */
const STEPS = [
  /** Nothing is under way; at its time it is begun. */
  'waiting',
  /** An order is being asked for, and may have been made. */
  'asking',
  /** There is one, and the authority has not been told to look yet. */
  'ordered',
  /** It has been told, and goes on by itself. */
  'answered',
  /** There is a certificate; at its time it is asked when the next one is wanted. */
  'issued',
] as const

/** One row for each hostname whose certificate is ordered: so there is one order at most. */
export const acmeOrders = table('acme_orders', {
  hostname: text('hostname').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  step: text('step', { enum: STEPS }).notNull(),
  /** Grows with every step: whoever has read another one comes too late to write. */
  turn: whole('turn').notNull().default(0),
  dueAt: whole('due_at').notNull(),
  /** Directory of the authority of this order; of none, of the one that has refused the last. */
  authority: text('authority'),
  orderUrl: text('order_url'),
  startedAt: whole('started_at'),
  privateKeySealed: text('private_key_sealed'),
  failures: whole('failures').notNull().default(0),
  /** What kept the last attempt from a certificate, for people. */
  problem: text('problem'),
  /** Directory of the authority that has issued the certificate. */
  issuedBy: text('issued_by'),
  renewAt: whole('renew_at'),
  /** What was ordered last, where it is not the hostname: `*.example.com`. */
  identifier: text('identifier'),
  /** Where the order under way is proven by DNS: in our zone, and what the authority looks for there. */
  dnsLabel: text('dns_label'),
  dnsValue: text('dns_value'),
  /** Whose certificate it has; null: one that was ordered for it. */
  follows: text('follows'),
})

/** Authorities that do not want to be asked for now. */
export const acmeAuthorities = table('acme_authorities', {
  directory: text('directory').primaryKey(),
  pausedUntil: whole('paused_until').notNull(),
  /** In a row, without an order in between. */
  refusals: whole('refusals').notNull(),
})
