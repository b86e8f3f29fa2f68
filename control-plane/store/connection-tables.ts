/** The company's own identity providers, and who is who there. */
import { flag, json, primaryKey, table, text, whole } from './columns.ts'

export const OIDC_PRESETS = ['google', 'entra', 'okta', 'oidc'] as const
/** SAML has what is its own in `saml_connections`; its issuer is the provider's entity ID. */
export const CONNECTION_PRESETS = [...OIDC_PRESETS, 'saml'] as const
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
