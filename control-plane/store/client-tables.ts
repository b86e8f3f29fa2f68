/** Other applications that sign their people in by a realm: its clients beside the tenant's own. */
import { flag, json, primaryKey, table, text, whole } from './columns.ts'

export const realmClients = table('realm_clients', {
  clientId: text('client_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  name: text('name').notNull(),
  /** SHA-256 of 256 random bits. */
  secretHash: text('secret_hash').notNull(),
  redirectUris: json('redirect_uris').$type<readonly string[]>().notNull(),
  postLogoutRedirectUris: json('post_logout_redirect_uris').$type<readonly string[]>().notNull(),
  /** Where it hears of sessions that have ended; null: nowhere. */
  backchannelLogoutUri: text('backchannel_logout_uri'),
  /** Its tokens name the groups of whoever signs in. */
  isToldGroups: flag('is_told_groups').notNull(),
  createdAt: whole('created_at').notNull(),
})

/** Which of them has been given a token of which session: it hears of the session's end. */
export const clientSessions = table(
  'client_sessions',
  {
    tenantId: text('tenant_id').notNull(),
    sid: text('sid').notNull(),
    clientId: text('client_id').notNull(),
    expiresAt: whole('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sid, table.clientId] })],
)
