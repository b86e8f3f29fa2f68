/** Sign-in by SAML 2.0. */
export const saml = {
  name: '0078-saml',
  statements: [
    `CREATE TABLE saml_connections (
      connection_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      metadata_url TEXT,
      sso_url TEXT NOT NULL,
      certificates TEXT NOT NULL,
      signs_requests BIGINT NOT NULL,
      own_certificate TEXT,
      subject_attribute TEXT,
      email_attribute TEXT,
      name_attribute TEXT,
      groups_attribute TEXT,
      mapped_groups TEXT NOT NULL,
      metadata_at BIGINT NOT NULL,
      metadata_due_at BIGINT,
      metadata_problem TEXT
    )`,
    `CREATE INDEX saml_connections_tenant ON saml_connections (tenant_id)`,
    `CREATE INDEX saml_connections_due ON saml_connections (metadata_due_at)`,
    `CREATE TABLE saml_answers (
      connection_id TEXT NOT NULL,
      assertion_hash TEXT NOT NULL,
      tenant_id TEXT NOT NULL,
      answer_hash TEXT NOT NULL,
      state_hash TEXT NOT NULL,
      claims TEXT,
      answer_until BIGINT NOT NULL,
      ends_at BIGINT NOT NULL,
      PRIMARY KEY (connection_id, assertion_hash)
    )`,
    `CREATE UNIQUE INDEX saml_answers_answer ON saml_answers (answer_hash)`,
    `CREATE INDEX saml_answers_tenant ON saml_answers (tenant_id)`,
    `CREATE INDEX saml_answers_ends ON saml_answers (ends_at)`,
  ],
} as const
