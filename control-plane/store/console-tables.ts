/** The part of the schema that the console stands on: roles, invitations, sessions, links, forms. */
import type { Columns } from './columns.ts'

export function defineConsoleTables(c: Columns) {
  /** Of accounts of the realm `console`. An operator's `tenantId` is '': it is about all of them. */
  const consoleRoles = c.table(
    'console_roles',
    {
      userId: c.text('user_id').notNull(),
      tenantId: c.text('tenant_id').notNull(),
      role: c.text('role').$type<'operator' | 'administrator'>().notNull(),
      createdAt: c.whole('created_at').notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.userId, table.tenantId] }),
      c.index('console_roles_tenant').on(table.tenantId, table.userId),
    ],
  )

  const consoleSessions = c.table(
    'console_sessions',
    {
      sessionHash: c.text('session_hash').primaryKey(),
      userId: c.text('user_id').notNull(),
      /** Of the realm's session that it stands on, and ends with. */
      sid: c.text('sid').notNull(),
      /** When the person last proved who they are: `auth_time` of the realm. */
      signedInAt: c.whole('signed_in_at').notNull(),
      createdAt: c.whole('created_at').notNull(),
      lastSeenAt: c.whole('last_seen_at').notNull(),
      expiresAt: c.whole('expires_at').notNull(),
    },
    (table) => [c.index('console_sessions_expiry').on(table.expiresAt)],
  )

  /** Each lets one person become an operator. */
  const consoleLinks = c.table('console_links', {
    linkHash: c.text('link_hash').primaryKey(),
    createdAt: c.whole('created_at').notNull(),
    expiresAt: c.whole('expires_at').notNull(),
    usedAt: c.whole('used_at'),
  })

  /** Forms that have been sent, and where their answer is: a second sending does nothing twice. */
  const consoleForms = c.table(
    'console_forms',
    {
      formHash: c.text('form_hash').primaryKey(),
      createdAt: c.whole('created_at').notNull(),
      /** null: it is being worked on, or was cut off in the middle. */
      location: c.text('location'),
      /** Where it was sent, and with what; null of those from before this was kept. */
      contentHash: c.text('content_hash'),
    },
    (table) => [c.index('console_forms_age').on(table.createdAt)],
  )

  /** What was typed into a form that could not be taken, until its person is back. */
  const consoleKeptForms = c.table(
    'console_kept_forms',
    {
      keptHash: c.text('kept_hash').primaryKey(),
      userId: c.text('user_id').notNull(),
      contentSealed: c.text('content_sealed').notNull(),
      createdAt: c.whole('created_at').notNull(),
    },
    (table) => [
      c.index('console_kept_forms_user').on(table.userId, table.createdAt),
      c.index('console_kept_forms_age').on(table.createdAt),
    ],
  )

  /** Of colleagues, to administer one tenant; the role begins when the person accepts. */
  const consoleInvitations = c.table(
    'console_invitations',
    {
      invitationId: c.text('invitation_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      email: c.text('email').notNull(),
      emailKey: c.text('email_key').notNull(),
      /** An account of the console; '' where the operator key has asked. */
      invitedBy: c.text('invited_by').notNull(),
      /** Of the newest link; the one before it is void. */
      linkHash: c.text('link_hash').notNull(),
      createdAt: c.whole('created_at').notNull(),
      sentAt: c.whole('sent_at').notNull(),
      expiresAt: c.whole('expires_at').notNull(),
    },
    (table) => [
      c.uniqueIndex('console_invitations_link').on(table.linkHash),
      c.uniqueIndex('console_invitations_email').on(table.tenantId, table.emailKey),
      c.index('console_invitations_person').on(table.emailKey),
      c.index('console_invitations_expiry').on(table.expiresAt),
    ],
  )

  return {
    consoleRoles,
    consoleSessions,
    consoleLinks,
    consoleForms,
    consoleKeptForms,
    consoleInvitations,
  }
}
