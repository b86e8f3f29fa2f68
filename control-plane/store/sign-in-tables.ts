/** The part of the schema that signing in stands on: policies, attempts, factors, devices, mail. */
import type { PolicyName } from '../policy/policies.ts'
import type { Columns } from './columns.ts'

export function defineSignInTables(c: Columns) {
  /** What an administrator has decided, one row per policy; without a row the defaults hold. */
  const tenantPolicies = c.table(
    'tenant_policies',
    {
      tenantId: c.text('tenant_id').notNull(),
      name: c.text('name').$type<PolicyName>().notNull(),
      settings: c.json('settings').$type<Record<string, unknown>>().notNull(),
      updatedAt: c.whole('updated_at').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.tenantId, table.name] })],
  )

  /**
   * Every judged attempt with the facts that it was judged by: lockout counts them, a replay
   * judges them again. `loginHash` because people type passwords into the field for names.
   */
  const signIns = c.table(
    'sign_ins',
    {
      signInId: c.text('sign_in_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      at: c.whole('at').notNull(),
      userId: c.text('user_id'),
      loginHash: c.text('login_hash').notNull(),
      ip: c.text('ip').notNull(),
      /** What lockout counts the address as: one of IPv4, a /64 of IPv6. */
      countedAs: c.text('counted_as').notNull().default(''),
      userAgent: c.text('user_agent').notNull(),
      /** Wrong password or wrong code: what lockout counts. */
      isFailure: c.flag('is_failure').notNull(),
      /** The browser has signed in to this account before, so its failures are counted apart. */
      isKnownDevice: c.flag('is_known_device').notNull(),
      outcome: c.text('outcome').$type<'signed_in' | 'asking' | 'refused'>().notNull(),
      reason: c.text('reason').notNull(),
      facts: c.json('facts').$type<Record<string, unknown>>().notNull(),
      /** How often the same was refused again within the minute, beside this once. */
      repeated: c.whole('repeated').notNull().default(0),
      /** The /48 of an IPv6 address, whose failures count together as well. */
      site: c.text('site'),
    },
    (table) => [
      c.index('sign_ins_tenant').on(table.tenantId, table.at),
      c.index('sign_ins_outcome').on(table.tenantId, table.outcome, table.at),
      c
        .index('sign_ins_login')
        .on(table.tenantId, table.loginHash, table.isKnownDevice, table.isFailure, table.at),
      c.index('sign_ins_address').on(table.tenantId, table.countedAs, table.isFailure, table.at),
      c.index('sign_ins_site').on(table.tenantId, table.site, table.at), // only failures
      c.index('sign_ins_user').on(table.tenantId, table.userId, table.outcome, table.at),
      c.index('sign_ins_at').on(table.at),
    ],
  )

  /** Addresses that lockout refuses, and when one was lifted: what was before is forgotten. */
  const addressBlocks = c.table(
    'address_blocks',
    {
      tenantId: c.text('tenant_id').notNull(),
      address: c.text('address').notNull(),
      failures: c.whole('failures').notNull(),
      createdAt: c.whole('created_at').notNull(),
      blockedUntil: c.whole('blocked_until').notNull(),
      /** Failures before this do not count any more. */
      liftedAt: c.whole('lifted_at'),
    },
    (table) => [c.primaryKey({ columns: [table.tenantId, table.address] })],
  )

  /** Second factors. A recovery code is a row of its own, so that using one is one update. */
  const factors = c.table(
    'factors',
    {
      factorId: c.text('factor_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      userId: c.text('user_id').notNull(),
      kind: c.text('kind').$type<'totp' | 'passkey' | 'recovery'>().notNull(),
      name: c.text('name').notNull(),
      /** TOTP seed, or what a passkey is checked with (its public key, counter, transports). */
      secretSealed: c.text('secret_sealed').notNull(),
      /** Of a passkey's credential id, or of a recovery code. */
      lookupHash: c.text('lookup_hash'),
      /** The last time step that was taken (TOTP), or the signature counter (passkey). */
      lastStep: c.whole('last_step').notNull().default(0),
      createdAt: c.whole('created_at').notNull(),
      lastUsedAt: c.whole('last_used_at'),
    },
    (table) => [
      c.index('factors_user').on(table.tenantId, table.userId),
      c.uniqueIndex('factors_lookup').on(table.tenantId, table.kind, table.lookupHash),
    ],
  )

  /** Browsers that have signed in to an account before, known by a cookie of their own. */
  const knownDevices = c.table(
    'known_devices',
    {
      deviceId: c.text('device_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      userId: c.text('user_id').notNull(),
      cookieHash: c.text('cookie_hash').notNull(),
      userAgent: c.text('user_agent').notNull(),
      ip: c.text('ip').notNull(),
      createdAt: c.whole('created_at').notNull(),
      lastSeenAt: c.whole('last_seen_at').notNull(),
      /** The cookie before this one, and until when it was the one: parallel tabs still send it. */
      replacedHash: c.text('replaced_hash'),
      replacedAt: c.whole('replaced_at'),
    },
    (table) => [
      c.uniqueIndex('known_devices_cookie').on(table.tenantId, table.userId, table.cookieHash),
      c.index('known_devices_token').on(table.tenantId, table.cookieHash, table.userId),
      c.index('known_devices_replaced').on(table.tenantId, table.userId, table.replacedHash),
      c.index('known_devices_seen').on(table.lastSeenAt),
    ],
  )

  /** Links in mails: found by the hash of their secret, good for one use. */
  const accountTickets = c.table(
    'account_tickets',
    {
      ticketHash: c.text('ticket_hash').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      userId: c.text('user_id').notNull(),
      purpose: c.text('purpose').$type<'invite' | 'reset' | 'email'>().notNull(),
      contentSealed: c.text('content_sealed').notNull(),
      createdAt: c.whole('created_at').notNull(),
      expiresAt: c.whole('expires_at').notNull(),
      usedAt: c.whole('used_at'),
    },
    (table) => [
      c.index('account_tickets_user').on(table.tenantId, table.userId),
      c.index('account_tickets_expiry').on(table.expiresAt),
    ],
  )

  const passwordHistory = c.table(
    'password_history',
    {
      entryId: c.text('entry_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      userId: c.text('user_id').notNull(),
      passwordHash: c.text('password_hash').notNull(),
      replacedAt: c.whole('replaced_at').notNull(),
    },
    (table) => [c.index('password_history_user').on(table.tenantId, table.userId)],
  )

  /** Mails that commit with what they tell of, until they have been handed to the mail server. */
  const mails = c.table(
    'mails',
    {
      mailId: c.text('mail_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      contentSealed: c.text('content_sealed').notNull(),
      attempts: c.whole('attempts').notNull(),
      createdAt: c.whole('created_at').notNull(),
      nextAt: c.whole('next_at').notNull(),
      /** `link`, which somebody waits for, or `notice`. */
      kind: c.text('kind').$type<'link' | 'notice'>().notNull(),
      /** When its link is dead; null: it holds none that ends. */
      expiresAt: c.whole('expires_at'),
    },
    (table) => [
      c.index('mails_turn').on(table.tenantId, table.kind, table.nextAt),
      c.index('mails_due').on(table.nextAt, table.tenantId),
    ],
  )

  /** Ended sessions that an application still has to hear of (back-channel logout). */
  const logoutNotices = c.table(
    'logout_notices',
    {
      noticeId: c.text('notice_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      userId: c.text('user_id').notNull(),
      sid: c.text('sid'),
      attempts: c.whole('attempts').notNull(),
      createdAt: c.whole('created_at').notNull(),
      nextAt: c.whole('next_at').notNull(),
    },
    (table) => [
      c.index('logout_notices_turn').on(table.tenantId, table.nextAt),
      c.index('logout_notices_due').on(table.nextAt, table.tenantId),
    ],
  )

  /** A tenant's own database as the source of its users. */
  const userDirectories = c.table('user_directories', {
    tenantId: c.text('tenant_id').primaryKey(),
    settings: c.json('settings').$type<Record<string, unknown>>().notNull(),
    passwordSealed: c.text('password_sealed').notNull(),
    updatedAt: c.whole('updated_at').notNull(),
  })

  return {
    tenantPolicies,
    signIns,
    addressBlocks,
    factors,
    knownDevices,
    accountTickets,
    passwordHistory,
    mails,
    logoutNotices,
    userDirectories,
  }
}
