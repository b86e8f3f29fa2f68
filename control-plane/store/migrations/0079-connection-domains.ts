/** E-mail domains of connections, what GitHub is asked for, and sign-out at providers. */
export const connectionDomains = {
  name: '0079-connection-domains',
  statements: [
    `ALTER TABLE connections ADD COLUMN organization TEXT`,
    `ALTER TABLE connections ADD COLUMN signs_out BIGINT NOT NULL DEFAULT 0`,
    `CREATE TABLE connection_domains (
      tenant_id TEXT NOT NULL,
      domain TEXT NOT NULL,
      connection_id TEXT NOT NULL,
      token TEXT NOT NULL,
      turn BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      looks BIGINT NOT NULL DEFAULT 0,
      looked_at BIGINT,
      proven_at BIGINT,
      missing_since BIGINT,
      misses BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant_id, domain)
    )`,
    `CREATE INDEX connection_domains_due ON connection_domains (due_at)`,
    `CREATE TABLE upstream_sessions (
      tenant_id TEXT NOT NULL,
      sid TEXT NOT NULL,
      connection_id TEXT NOT NULL,
      subject TEXT NOT NULL,
      upstream_sid TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, sid)
    )`,
    `CREATE INDEX upstream_sessions_subject ON upstream_sessions (connection_id, subject)`,
    `CREATE INDEX upstream_sessions_sid ON upstream_sessions (connection_id, upstream_sid)`,
    `CREATE INDEX upstream_sessions_expiry ON upstream_sessions (expires_at)`,
    `CREATE TABLE upstream_logouts (
      connection_id TEXT NOT NULL,
      jti_hash TEXT NOT NULL,
      tenant_id TEXT NOT NULL,
      upstream_sid TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (connection_id, jti_hash)
    )`,
    `CREATE INDEX upstream_logouts_sid ON upstream_logouts (connection_id, upstream_sid)`,
    `CREATE INDEX upstream_logouts_expiry ON upstream_logouts (expires_at)`,
  ],
} as const
