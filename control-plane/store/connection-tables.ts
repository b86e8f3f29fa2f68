/** The company's own identity providers, and who is who there. */
import { flag, json, primaryKey, table, text, whole } from './columns.ts'

export const CLIENT_PRESETS = ['google', 'entra', 'okta', 'github', 'oidc'] as const
/** A value of the claim or attribute that names groups, and the group here that it stands for. */
export interface MappedGroup {
  readonly value: string
  readonly group: string
}

export interface MappedAttribute {
  readonly attribute: string
  /** For SAML: the name of an attribute there. */
  readonly claim: string
}

/** SAML has what is its own in `saml_connections`; its issuer is the provider's entity ID. */
export const CONNECTION_PRESETS = [...CLIENT_PRESETS, 'saml'] as const
export const CONNECTION_STATES = ['draft', 'tested', 'active'] as const

export const connections = table('connections', {
  connectionId: text('connection_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  preset: text('preset', { enum: CONNECTION_PRESETS }).notNull(),
  /** On the button: "Continue with NAME". */
  name: text('name').notNull(),
  issuer: text('issuer').notNull(),
  clientId: text('client_id').notNull(),
  clientSecretSealed: text('client_secret_sealed').notNull(),
  /** Google alone: whose people may come in. */
  hostedDomain: text('hosted_domain'),
  state: text('state', { enum: CONNECTION_STATES }).notNull(),
  /** Whoever comes in for the first time gets an account. */
  createsPeople: flag('creates_people').notNull(),
  /** Values of `amr` and `acr` there that count as a second factor here; none by itself. */
  mfaValues: json('mfa_values').$type<string[]>().notNull(),
  /** For programs of the version before, which read it: the password policy says it. */
  isRequired: flag('is_required').notNull().default(false),
  testedAt: whole('tested_at'),
  createdAt: whole('created_at').notNull(),
  updatedAt: whole('updated_at').notNull(),
  /** GitHub alone: whose members may come in; null: anybody. */
  organization: text('organization'),
  /** Whoever signs out here is sent there to sign out as well. */
  signsOut: flag('signs_out').notNull().default(false),
  /** What it says of people that rules can ask for: which of its claims is which attribute here. */
  attributes: json('attributes').$type<readonly MappedAttribute[]>().notNull().default([]),
  /** Its number, since names are given to others; null: nobody has shown a membership of it so far. */
  organizationId: text('organization_id'),
  /** Which claim names groups; null: groups are none of its business, or it is SAML, which has its own. */
  groupsClaim: text('groups_claim'),
  groups: json('mapped_groups').$type<MappedGroup[]>().notNull().default([]),
})

/** Who somebody is there. Never by an address: those are given to others, and typed by anybody. */
export const connectionIdentities = table(
  'connection_identities',
  {
    connectionId: text('connection_id').notNull(),
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    createdAt: whole('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.connectionId, table.issuer, table.subject] })],
)

/** Whose addresses end so comes in by this connection, once the domain is shown to be the tenant's. */
export const connectionDomains = table(
  'connection_domains',
  {
    tenantId: text('tenant_id').notNull(),
    domain: text('domain').notNull(),
    connectionId: text('connection_id').notNull(),
    /** What its TXT record has to hold: random, and of this tenant and this domain alone. */
    token: text('token').notNull(),
    /** Grows with each change: a look that comes late changes nothing. */
    turn: whole('turn').notNull().default(0),
    createdAt: whole('created_at').notNull(),
    dueAt: whole('due_at').notNull(),
    /** Until it was proven. */
    looks: whole('looks').notNull().default(0),
    lookedAt: whole('looked_at'),
    /** null: it waits for its proof, and leads nobody anywhere. */
    provenAt: whole('proven_at'),
    /** Since when the record is gone; null: it was there at the last look. */
    missingSince: whole('missing_since'),
    misses: whole('misses').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.domain] })],
)

/** By which session at a provider a session of ours was begun. */
export const upstreamSessions = table(
  'upstream_sessions',
  {
    tenantId: text('tenant_id').notNull(),
    sid: text('sid').notNull(),
    connectionId: text('connection_id').notNull(),
    /** As the provider's tokens name them. */
    subject: text('subject').notNull(),
    /** Empty: the provider names none. */
    upstreamSid: text('upstream_sid').notNull(),
    expiresAt: whole('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sid] })],
)

/** What providers have ended: each of their tokens counts once, and what comes late is over as well. */
export const upstreamLogouts = table(
  'upstream_logouts',
  {
    connectionId: text('connection_id').notNull(),
    jtiHash: text('jti_hash').notNull(),
    tenantId: text('tenant_id').notNull(),
    /** Empty: all of somebody's. */
    upstreamSid: text('upstream_sid').notNull(),
    expiresAt: whole('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.connectionId, table.jtiHash] })],
)
