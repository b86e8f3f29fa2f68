/** Tables of machines with our agent, and of the tickets that they enroll with. */
import type { DeviceFact, DevicePlatform, KeyStorage, Posture } from '../../shared/device/facts.ts'
import { json, table, text, uniqueIndex, whole } from './columns.ts'

export const deviceTickets = table(
  'device_tickets',
  {
    ticketId: text('ticket_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    ticketHash: text('ticket_hash').notNull(),
    platform: text('platform').$type<DevicePlatform>().notNull(),
    uses: whole('uses').notNull(),
    usesLeft: whole('uses_left').notNull(),
    /** Whose the devices will be; null: of whoever signs in with one first. */
    userId: text('user_id'),
    /** From where alone it can be used. */
    network: text('network'),
    createdAt: whole('created_at').notNull(),
    expiresAt: whole('expires_at').notNull(),
    /** A person of the console; '': who holds the operator key. */
    madeBy: text('made_by').notNull().default(''),
  },
  (table) => [uniqueIndex('device_tickets_hash').on(table.ticketHash)],
)

export const enrolledDevices = table('enrolled_devices', {
  deviceId: text('device_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  /** With which it has enrolled: whoever asks again for want of an answer gets the same. */
  ticketId: text('ticket_id').notNull(),
  userId: text('user_id'),
  /** `x` and `y` of a point on P-256, joined by a dot. */
  publicKey: text('public_key').notNull(),
  // what it says of itself
  platform: text('platform').$type<DevicePlatform>().notNull(),
  arch: text('arch').notNull(),
  hostname: text('hostname').notNull(),
  agent: text('agent').notNull(),
  keyStorage: text('key_storage').$type<KeyStorage>().notNull(),
  machineHash: text('machine_hash').notNull(),
  network: text('network'),
  enrolledAt: whole('enrolled_at').notNull(),
  seenAt: whole('seen_at').notNull(),
  // what became of it: the last of these that is set is its state
  approvedAt: whole('approved_at'),
  suspectedAt: whole('suspected_at'),
  suspicion: text('suspicion'),
  revokedAt: whole('revoked_at'),
  // the ratchet: control-plane/devices/ratchet.ts
  currentHash: text('current_hash').notNull(),
  otherHash: text('other_hash'),
  previousHash: text('previous_hash'),
  turnedBy: text('turned_by'),
  boots: json('boots').$type<readonly string[]>().notNull(),
  postureHash: text('posture_hash'),
  /** When it collected its facts, by its uptime and our clock. */
  collectedAt: whole('collected_at'),
})

/** Apart from their devices: a check-in that brings nothing new writes none of it. */
export const devicePostures = table('device_postures', {
  deviceId: text('device_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  posture: json('posture').$type<Posture>().notNull(),
  /** By fact, since when its value is what it is. */
  factsSince: json('facts_since').$type<Partial<Record<DeviceFact, number>>>().notNull(),
  /** Of those that are not true: since when, be it false or unknown. */
  unmetSince: json('unmet_since').$type<Partial<Record<DeviceFact, number>>>().notNull(),
})

/** What agents show to people: one at a time, for a minute. */
export const deviceTypedCodes = table(
  'device_typed_codes',
  {
    deviceId: text('device_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    codeHash: text('code_hash').notNull(),
    expiresAt: whole('expires_at').notNull(),
  },
  (table) => [uniqueIndex('device_typed_codes_hash').on(table.codeHash)],
)

/** What browsers bring to agents: each a minute, and then its code another one. */
export const deviceChallenges = table('device_challenges', {
  cidHash: text('cid_hash').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  /** Of the sign-in that asks. */
  uidHash: text('uid_hash').notNull(),
  uidSealed: text('uid_sealed').notNull(),
  browserHash: text('browser_hash').notNull(),
  userId: text('user_id').notNull(),
  createdAt: whole('created_at').notNull(),
  expiresAt: whole('expires_at').notNull(),
  /** Which has proven it, and what the browser has to bring back. */
  deviceId: text('device_id'),
  codeHash: text('code_hash'),
})
