/** The part of the schema that signing in stands on: policies, attempts, factors, devices, mail. */
import type { Demanded } from '../policy/demanded.ts'
import type { PolicyName } from '../policy/policies.ts'
import { table, text, whole, json, flag, primaryKey, uniqueIndex } from './columns.ts'

/** What an administrator has decided, one row per policy; without a row the defaults hold. */
export const tenantPolicies = table(
  'tenant_policies',
  {
    tenantId: text('tenant_id').notNull(),
    name: text('name').$type<PolicyName>().notNull(),
    settings: json('settings').$type<Record<string, unknown>>().notNull(),
    updatedAt: whole('updated_at').notNull(),
    /** Of the device policy. */
    demanded: json('demanded').$type<readonly Demanded[]>().notNull().default([]),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.name] })],
)

/**
 * Every judged attempt with the facts that it was judged by: lockout counts them, a replay
 * judges them again. `loginHash` because people type passwords into the field for names.
 */
export const signIns = table('sign_ins', {
  signInId: text('sign_in_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  at: whole('at').notNull(),
  userId: text('user_id'),
  loginHash: text('login_hash').notNull(),
  ip: text('ip').notNull(),
  /** What lockout counts the address as: one of IPv4, a /64 of IPv6. */
  countedAs: text('counted_as').notNull().default(''),
  userAgent: text('user_agent').notNull(),
  /** Wrong password or wrong code: what lockout counts. */
  isFailure: flag('is_failure').notNull(),
  /** The browser has signed in to this account before, so its failures are counted apart. */
  isKnownDevice: flag('is_known_device').notNull(),
  outcome: text('outcome').$type<'signed_in' | 'asking' | 'refused'>().notNull(),
  reason: text('reason').notNull(),
  facts: json('facts').$type<Record<string, unknown>>().notNull(),
  /** How often the same was refused again within the minute, beside this once. */
  repeated: whole('repeated').notNull().default(0),
  /** The /48 of an IPv6 address, whose failures count together as well. */
  site: text('site'),
})

/** Addresses that lockout refuses, and when one was lifted: what was before is forgotten. */
export const addressBlocks = table(
  'address_blocks',
  {
    tenantId: text('tenant_id').notNull(),
    address: text('address').notNull(),
    failures: whole('failures').notNull(),
    createdAt: whole('created_at').notNull(),
    blockedUntil: whole('blocked_until').notNull(),
    /** Failures before this do not count any more. */
    liftedAt: whole('lifted_at'),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.address] })],
)

/** Second factors. A recovery code is a row of its own, so that using one is one update. */
export const factors = table(
  'factors',
  {
    factorId: text('factor_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    kind: text('kind').$type<'totp' | 'passkey' | 'recovery'>().notNull(),
    name: text('name').notNull(),
    /** TOTP seed, or what a passkey is checked with (its public key, counter, transports). */
    secretSealed: text('secret_sealed').notNull(),
    /** Of a passkey's credential id, or of a recovery code. */
    lookupHash: text('lookup_hash'),
    /** The last time step that was taken (TOTP), or the signature counter (passkey). */
    lastStep: whole('last_step').notNull().default(0),
    createdAt: whole('created_at').notNull(),
    lastUsedAt: whole('last_used_at'),
  },
  (table) => [uniqueIndex('factors_lookup').on(table.tenantId, table.kind, table.lookupHash)],
)

/** Browsers that have signed in to an account before, known by a cookie of their own. */
export const knownDevices = table(
  'known_devices',
  {
    deviceId: text('device_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    cookieHash: text('cookie_hash').notNull(),
    userAgent: text('user_agent').notNull(),
    ip: text('ip').notNull(),
    createdAt: whole('created_at').notNull(),
    lastSeenAt: whole('last_seen_at').notNull(),
    /** The cookie before this one, and until when it was the one: parallel tabs still send it. */
    replacedHash: text('replaced_hash'),
    replacedAt: whole('replaced_at'),
  },
  (table) => [
    uniqueIndex('known_devices_cookie').on(table.tenantId, table.userId, table.cookieHash),
  ],
)

/** Links in mails: found by the hash of their secret, good for one use. */
export const accountTickets = table('account_tickets', {
  ticketHash: text('ticket_hash').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  userId: text('user_id').notNull(),
  purpose: text('purpose').$type<'invite' | 'reset' | 'email' | 'sign_in' | 'sign_up'>().notNull(),
  contentSealed: text('content_sealed').notNull(),
  createdAt: whole('created_at').notNull(),
  expiresAt: whole('expires_at').notNull(),
  usedAt: whole('used_at'),
})

/** People with a proven address who wait until an administrator lets them have an account. */
export const signUps = table(
  'sign_ups',
  {
    signUpId: text('sign_up_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    email: text('email').notNull(),
    emailKey: text('email_key').notNull(),
    name: text('name').notNull(),
    /** Of the password that the account will have; '' where an email lets people in. */
    passwordHash: text('password_hash').notNull(),
    language: text('language').notNull(),
    /** Where they came from, and are led to once they may come in. */
    applicationUrl: text('application_url').notNull(),
    ip: text('ip').notNull(),
    provenAt: whole('proven_at').notNull(),
    createdAt: whole('created_at').notNull(),
    expiresAt: whole('expires_at').notNull(),
    /** When administrators were mailed of it. */
    toldAt: whole('told_at'),
  },
  (table) => [uniqueIndex('sign_ups_email').on(table.tenantId, table.emailKey)],
)

export const passwordHistory = table('password_history', {
  entryId: text('entry_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  userId: text('user_id').notNull(),
  passwordHash: text('password_hash').notNull(),
  replacedAt: whole('replaced_at').notNull(),
})

/** Mails that commit with what they tell of, until they have been handed to the mail server. */
export const mails = table('mails', {
  mailId: text('mail_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  contentSealed: text('content_sealed').notNull(),
  attempts: whole('attempts').notNull(),
  createdAt: whole('created_at').notNull(),
  nextAt: whole('next_at').notNull(),
  /** `link`, which somebody waits for, or `notice`. */
  kind: text('kind').$type<'link' | 'notice'>().notNull(),
  /** When its link is dead; null: it holds none that ends. */
  expiresAt: whole('expires_at'),
  /** By the clock of then, which may have been ahead (`queries/ahead-of-time.ts`). */
  writtenAt: whole('written_at').notNull(),
})

/** Ended sessions that an application still has to hear of (back-channel logout). */
export const logoutNotices = table('logout_notices', {
  noticeId: text('notice_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  userId: text('user_id').notNull(),
  sid: text('sid'),
  attempts: whole('attempts').notNull(),
  createdAt: whole('created_at').notNull(),
  nextAt: whole('next_at').notNull(),
  /** By the clock of then, which may have been ahead (`queries/ahead-of-time.ts`). */
  writtenAt: whole('written_at').notNull(),
  /** Another application that is to hear of it; null: the tenant's own. */
  clientId: text('client_id'),
})

/** A tenant's own database as the source of its users. */
export const userDirectories = table('user_directories', {
  tenantId: text('tenant_id').primaryKey(),
  settings: json('settings').$type<Record<string, unknown>>().notNull(),
  passwordSealed: text('password_sealed').notNull(),
  updatedAt: whole('updated_at').notNull(),
})
