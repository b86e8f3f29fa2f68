/** Machines: services with credentials of their own, by which they are known to gateways. */
import { flag, json, primaryKey, table, text, whole } from './columns.ts'

/** What a signature is verified by, and nothing beside it. */
export interface PublicJwk {
  readonly kty: 'EC' | 'RSA' | 'OKP'
  readonly alg: 'ES256' | 'RS256' | 'EdDSA'
  readonly kid?: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
}

export const services = table('services', {
  serviceId: text('service_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  name: text('name').notNull(),
  isDisabled: flag('is_disabled').notNull(),
  createdAt: whole('created_at').notNull(),
  /** From when the token is that names it to applications; renewed daily. */
  identityAt: whole('identity_at').notNull(),
  /** As gateways and middlewares say, to within some minutes; null: never. */
  seenAt: whole('seen_at'),
  seenIp: text('seen_ip'),
})

/** Never more than two of a service. */
export const serviceSecrets = table('service_secrets', {
  secretId: text('secret_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  serviceId: text('service_id').notNull(),
  /** SHA-256 of 256 random bits; of a key of bits that nobody knows, so that no header shows it. */
  secretHash: text('secret_hash').notNull(),
  createdAt: whole('created_at').notNull(),
  endsAt: whole('ends_at').notNull(),
  /** As gateways say, to within some minutes. */
  usedAt: whole('used_at'),
  /** It is no secret but a key, whose private half the machine alone has. */
  publicKey: json('public_key').$type<PublicJwk>(),
  /** Its end is in the audit trail. */
  isEndNoted: flag('is_end_noted').notNull().default(false),
})

/** Each assertion that a machine has signed counts once, at whichever control plane. */
export const serviceAssertions = table(
  'service_assertions',
  {
    tenantId: text('tenant_id').notNull(),
    assertionHash: text('assertion_hash').notNull(),
    /** After it the assertion is worth nothing anyhow. */
    endsAt: whole('ends_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.assertionHash] })],
)

/** How many requests of each were let in, by the hour: of the last two days. */
export const serviceUses = table(
  'service_uses',
  {
    tenantId: text('tenant_id').notNull(),
    serviceId: text('service_id').notNull(),
    hourAt: whole('hour_at').notNull(),
    count: whole('count').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.serviceId, table.hourAt] })],
)
