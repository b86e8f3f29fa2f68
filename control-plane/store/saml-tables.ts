/** What SAML connections have beside what all connections have, and the responses that have come. */
import { flag, json, primaryKey, table, text, uniqueIndex, whole } from './columns.ts'
import type { MappedGroup } from './connection-tables.ts'

export const samlConnections = table('saml_connections', {
  connectionId: text('connection_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  /** Where the metadata is read anew each day; null: it was uploaded. */
  metadataUrl: text('metadata_url'),
  ssoUrl: text('sso_url').notNull(),
  /** Base64 of each certificate that the metadata names. */
  certificates: json('certificates').$type<string[]>().notNull(),
  signsRequests: flag('signs_requests').notNull(),
  /** Ours, in base64; its key is the connection's secret. */
  ownCertificate: text('own_certificate'),
  /** Which attribute says who somebody is; null: a persistent NameID. */
  subjectAttribute: text('subject_attribute'),
  /** null: the usual names. */
  emailAttribute: text('email_attribute'),
  nameAttribute: text('name_attribute'),
  /** null: groups are none of its business. */
  groupsAttribute: text('groups_attribute'),
  groups: json('mapped_groups').$type<MappedGroup[]>().notNull(),
  metadataAt: whole('metadata_at').notNull(),
  /** null: never. */
  metadataDueAt: whole('metadata_due_at'),
  /** Why the newest could not be taken; null: it was. */
  metadataProblem: text('metadata_problem'),
})

/** Each assertion once, at whichever control plane; its content until its browser has come for it. */
export const samlAnswers = table(
  'saml_answers',
  {
    connectionId: text('connection_id').notNull(),
    assertionHash: text('assertion_hash').notNull(),
    tenantId: text('tenant_id').notNull(),
    answerHash: text('answer_hash').notNull(),
    /** Of the flow in the browser that asked. */
    stateHash: text('state_hash').notNull(),
    claims: json('claims').$type<Readonly<Record<string, unknown>>>(),
    answerUntil: whole('answer_until').notNull(),
    /** After it the assertion is worth nothing anyhow. */
    endsAt: whole('ends_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.connectionId, table.assertionHash] }),
    uniqueIndex('saml_answers_answer').on(table.answerHash),
  ],
)
