/**
 * Other applications that sign their people in by a tenant's realm, and which sessions each knows of; and
 * which groups a connection by OpenID Connect names, as SAML connections did before.
 */
export const realmClients = {
  name: '0099-realm-clients',
  statements: [
    `CREATE TABLE realm_clients (
      client_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      name TEXT NOT NULL,
      secret_hash TEXT NOT NULL,
      redirect_uris TEXT NOT NULL,
      post_logout_redirect_uris TEXT NOT NULL,
      backchannel_logout_uri TEXT,
      is_told_groups BIGINT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX realm_clients_tenant ON realm_clients (tenant_id, created_at, client_id)`,
    `CREATE TABLE client_sessions (
      tenant_id TEXT NOT NULL,
      sid TEXT NOT NULL,
      client_id TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, sid, client_id)
    )`,
    `CREATE INDEX client_sessions_expiry ON client_sessions (expires_at)`,
    `ALTER TABLE logout_notices ADD COLUMN client_id TEXT`,
    `ALTER TABLE connections ADD COLUMN groups_claim TEXT`,
    `ALTER TABLE connections ADD COLUMN mapped_groups TEXT NOT NULL DEFAULT '[]'`,
  ],
} as const
