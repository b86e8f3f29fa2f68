/** People and groups that a provider pushes (SCIM), the tokens it shows, and what it has asked for. */
import { flag, json, primaryKey, table, text, uniqueIndex, whole } from './columns.ts'

export const scimTokens = table(
  'scim_tokens',
  {
    tokenId: text('token_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    tokenHash: text('token_hash').notNull(),
    name: text('name').notNull(),
    /** By which people of this token sign in: their `externalId` is their subject there. */
    connectionId: text('connection_id'),
    createdAt: whole('created_at').notNull(),
    expiresAt: whole('expires_at').notNull(),
    /** To within a minute; null: never. */
    lastUsedAt: whole('last_used_at'),
  },
  (table) => [uniqueIndex('scim_tokens_hash').on(table.tokenHash)],
)

/** What a provider says of somebody beside what is in the account itself. */
export const SCIM_DETAILS = [
  'givenName',
  'familyName',
  'formatted',
  'title',
  'userType',
  'department',
  'employeeNumber',
  'costCenter',
  'organization',
  'division',
  'manager',
] as const
type ScimDetails = Partial<Record<(typeof SCIM_DETAILS)[number], string>>

/** The accounts that a provider has made, and may see and change: no others. */
export const scimPeople = table(
  'scim_people',
  {
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    externalId: text('external_id'),
    /** As the provider writes it; it may be no name that somebody can sign in with here. */
    userName: text('user_name').notNull(),
    userNameKey: text('user_name_key').notNull(),
    displayName: text('display_name').notNull(),
    displayKey: text('display_key').notNull(),
    details: json('details').$type<ScimDetails>().notNull(),
    createdAt: whole('created_at').notNull(),
    updatedAt: whole('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    uniqueIndex('scim_people_user_name').on(table.tenantId, table.userNameKey),
  ],
)

export const scimGroups = table(
  'scim_groups',
  {
    groupId: text('group_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** What rules call it; that stays when the provider calls it another thing. */
    name: text('group_name').notNull(),
    externalId: text('external_id'),
    displayName: text('display_name').notNull(),
    displayKey: text('display_key').notNull(),
    /** Here before the provider named it: it stays when the provider deletes it. */
    isJoined: flag('is_joined').notNull(),
    createdAt: whole('created_at').notNull(),
    updatedAt: whole('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('scim_groups_name').on(table.tenantId, table.name),
    uniqueIndex('scim_groups_display').on(table.tenantId, table.displayKey),
  ],
)

/** What was asked and how it was answered; the newest of each tenant. */
export const scimRequests = table('scim_requests', {
  entryId: text('entry_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  at: whole('at').notNull(),
  method: text('method').notNull(),
  path: text('path').notNull(),
  status: whole('status').notNull(),
  /** Why it was refused, or what of it was passed over. */
  detail: text('detail').notNull(),
  tokenId: text('token_id').notNull(),
  requestId: text('request_id').notNull(),
})
