/** The part of the schema that the console stands on: roles, invitations, sessions, links, forms. */
import { flag, table, text, whole, primaryKey, uniqueIndex } from './columns.ts'

/**
 * Of accounts of the realm `console`. An operator's `tenantId` is '': it is about all of them. A
 * viewer sees what an operator, or an administrator of the tenant, would see, and changes nothing.
 */
export const consoleRoles = table(
  'console_roles',
  {
    userId: text('user_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    role: text('role').$type<'operator' | 'administrator' | 'viewer'>().notNull(),
    createdAt: whole('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.tenantId] })],
)

export const consoleSessions = table('console_sessions', {
  sessionHash: text('session_hash').primaryKey(),
  userId: text('user_id').notNull(),
  /** Of the realm's session that it stands on, and ends with. */
  sid: text('sid').notNull(),
  /** When the person last proved who they are: `auth_time` of the realm. */
  signedInAt: whole('signed_in_at').notNull(),
  createdAt: whole('created_at').notNull(),
  lastSeenAt: whole('last_seen_at').notNull(),
  expiresAt: whole('expires_at').notNull(),
})

/** Each lets one person become an operator. */
export const consoleLinks = table('console_links', {
  linkHash: text('link_hash').primaryKey(),
  createdAt: whole('created_at').notNull(),
  expiresAt: whole('expires_at').notNull(),
  usedAt: whole('used_at'),
})

/** Forms that have been sent, and where their answer is: a second sending does nothing twice. */
export const consoleForms = table('console_forms', {
  formHash: text('form_hash').primaryKey(),
  createdAt: whole('created_at').notNull(),
  /** null: it is being worked on, or was cut off in the middle. */
  location: text('location'),
  /** Where it was sent, and with what; null of those from before this was kept. */
  contentHash: text('content_hash'),
})

/** What was typed into a form that could not be taken, until its person is back. */
export const consoleKeptForms = table('console_kept_forms', {
  keptHash: text('kept_hash').primaryKey(),
  userId: text('user_id').notNull(),
  contentSealed: text('content_sealed').notNull(),
  createdAt: whole('created_at').notNull(),
})

/** Of colleagues, to administer one tenant; the role begins when the person accepts. */
export const consoleInvitations = table(
  'console_invitations',
  {
    invitationId: text('invitation_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    email: text('email').notNull(),
    emailKey: text('email_key').notNull(),
    /** An account of the console; '' where the operator key has asked. */
    invitedBy: text('invited_by').notNull(),
    /** Of the newest link; the one before it is void. */
    linkHash: text('link_hash').notNull(),
    createdAt: whole('created_at').notNull(),
    sentAt: whole('sent_at').notNull(),
    expiresAt: whole('expires_at').notNull(),
    role: text('role').$type<'administrator' | 'viewer'>().notNull().default('administrator'),
    /** Of the realm's session that asked; null where none has. */
    invitedIn: text('invited_in'),
  },
  (table) => [
    uniqueIndex('console_invitations_link').on(table.linkHash),
    uniqueIndex('console_invitations_email').on(table.tenantId, table.emailKey),
  ],
)

/** Command line tools that wait to be allowed a tenant's key; gone once they have it. */
export const deviceCodes = table(
  'device_codes',
  {
    deviceHash: text('device_hash').primaryKey(),
    userCodeHash: text('user_code_hash').notNull(),
    /** As the tool calls them, and so anybody's words. */
    machine: text('machine').notNull(),
    application: text('application').notNull(),
    /** Where it was asked for, and what that counts as: a network, a site. */
    address: text('address').notNull(),
    network: text('network').notNull(),
    site: text('site').notNull(),
    createdAt: whole('created_at').notNull(),
    expiresAt: whole('expires_at').notNull(),
    polledAt: whole('polled_at'),
    intervalSeconds: whole('interval_seconds').notNull(),
    state: text('state').$type<'open' | 'allowed' | 'denied'>().notNull(),
    /** Of an allowed one: which tenant's key, by whom and when. */
    tenantId: text('tenant_id'),
    allowedBy: text('allowed_by'),
    handsSecret: flag('hands_secret').notNull(),
    allowedAt: whole('allowed_at'),
    /** Of the realm's session. */
    allowedIn: text('allowed_in'),
  },
  (table) => [uniqueIndex('device_codes_user_code').on(table.userCodeHash)],
)
