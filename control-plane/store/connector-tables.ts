/** Tables of connectors, and of the gateways that they dial. */
import { flag, json, primaryKey, table, text, uniqueIndex, whole } from './columns.ts'

export const connectorTokens = table(
  'connector_tokens',
  {
    tokenId: text('token_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    tokenHash: text('token_hash').notNull(),
    name: text('name').notNull(),
    uses: whole('uses').notNull(),
    usesLeft: whole('uses_left').notNull(),
    createdAt: whole('created_at').notNull(),
    expiresAt: whole('expires_at').notNull(),
    /** A person of the console; '': who holds the operator key. */
    madeBy: text('made_by').notNull().default(''),
  },
  (table) => [uniqueIndex('connector_tokens_hash').on(table.tokenHash)],
)

/** What control planes tell each other of the connectors at their gateways, where they are several. */
export const connectorPresence = table(
  'connector_presence',
  {
    gatewayId: text('gateway_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    content: json('content').notNull(),
    at: whole('at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.gatewayId, table.tenantId] })],
)

export const connectors = table('connectors', {
  connectorId: text('connector_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  /** With which it has joined: whoever asks again for want of an answer gets the same. */
  tokenId: text('token_id').notNull(),
  /** What it says of itself. */
  name: text('name').notNull(),
  program: text('program').notNull(),
  joinedAt: whole('joined_at').notNull(),
  /** When it last asked for its gateways, to within some minutes. */
  seenAt: whole('seen_at').notNull(),
  /** What the tenant's people were told last, and since when that is so. */
  presence: text('presence').notNull().default('disconnected'),
  presenceAt: whole('presence_at'),
  /** Answered since it joined, as far as it is written down. */
  requests: whole('requests').notNull().default(0),
  /** The key of a rotation that it has on its disk: the one that is to sign its lists of gateways. */
  authority: text('authority').notNull().default(''),
})

export const connectorKeys = table('connector_keys', {
  keyId: text('key_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  connectorId: text('connector_id').notNull(),
  publicKey: text('public_key').notNull(),
  /** Not used yet; once it is, the other one ends. */
  isNext: flag('is_next').notNull(),
  createdAt: whole('created_at').notNull(),
})

/** Where gateways are dialled, in their own words. */
export const gatewayDoors = table('gateway_doors', {
  gatewayId: text('gateway_id').primaryKey(),
  address: text('address').notNull(),
  certificate: text('certificate').notNull(),
  seenAt: whole('seen_at').notNull(),
})
