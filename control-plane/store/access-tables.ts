/** Who may open which paths of an application: groups, who is in them, and the rules. */
import type { AccessRules } from '../../shared/fleet/access-rules.ts'
import { json, primaryKey, table, text, whole } from './columns.ts'

/** Whose word a membership is: a sync touches its own alone. */
const MEMBERSHIP_SOURCES = ['local', 'scim', 'connection'] as const
export type MembershipSource = (typeof MEMBERSHIP_SOURCES)[number]

/**
 * A bit in tokens of a group, or of an attribute with its value (`attributeText`); `freeFrom`: no rule
 * speaks of it, and then another may have it.
 */
export interface StoredSlot {
  readonly slot: number
  readonly since: number
  readonly group: string
  readonly freeFrom: number | null
}

export const accessRules = table('access_rules', {
  tenantId: text('tenant_id').primaryKey(),
  content: json('content').$type<AccessRules>().notNull(),
  slots: json('slots').$type<readonly StoredSlot[]>().notNull(),
  /** Grows with everything that gets a slot. */
  slotsVersion: whole('slots_version').notNull(),
  updatedAt: whole('updated_at').notNull(),
})

export const groups = table(
  'access_groups',
  {
    tenantId: text('tenant_id').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull(),
    createdAt: whole('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.name] })],
)

export const groupMembers = table(
  'group_members',
  {
    tenantId: text('tenant_id').notNull(),
    group: text('group_name').notNull(),
    userId: text('user_id').notNull(),
    source: text('source', { enum: MEMBERSHIP_SOURCES }).notNull(),
    createdAt: whole('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.group, table.userId, table.source] })],
)

/** What a person is, by the word of each source: an attribute may have several values. */
export const personAttributes = table(
  'person_attributes',
  {
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    name: text('name').notNull(),
    value: text('value').notNull(),
    source: text('source', { enum: MEMBERSHIP_SOURCES }).notNull(),
    createdAt: whole('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId, table.name, table.value, table.source] }),
  ],
)

/** Attributes that people no longer have. */
export const pastAttributes = table(
  'past_attributes',
  {
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    name: text('name').notNull(),
    value: text('value').notNull(),
    source: text('source', { enum: MEMBERSHIP_SOURCES }).notNull(),
    createdAt: whole('created_at').notNull(),
    endedAt: whole('ended_at').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tenantId, table.userId, table.name, table.value, table.source, table.endedAt],
    }),
  ],
)

/** Every set of rules that was saved, from then on in force. */
export const accessRuleVersions = table(
  'access_rule_versions',
  {
    tenantId: text('tenant_id').notNull(),
    at: whole('at').notNull(),
    actor: text('actor').notNull(),
    content: json('content').$type<AccessRules>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.at] })],
)

/** Memberships that have ended. */
export const pastMembers = table(
  'past_members',
  {
    tenantId: text('tenant_id').notNull(),
    group: text('group_name').notNull(),
    userId: text('user_id').notNull(),
    source: text('source', { enum: MEMBERSHIP_SOURCES }).notNull(),
    createdAt: whole('created_at').notNull(),
    endedAt: whole('ended_at').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tenantId, table.userId, table.group, table.source, table.endedAt],
    }),
  ],
)
