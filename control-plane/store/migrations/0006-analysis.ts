/** Guides that a model wrote, and what asking for them has cost. */
export const analysis = {
  name: '0006-analysis',
  statements: [
    `CREATE TABLE guides (
      guide_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, number BIGINT NOT NULL,
      created_at BIGINT NOT NULL, framework TEXT NOT NULL, model TEXT NOT NULL,
      content TEXT NOT NULL)`,
    `CREATE UNIQUE INDEX guides_tenant ON guides (tenant_id, number)`,
    `CREATE TABLE analyses (
      analysis_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, started_at BIGINT NOT NULL,
      outcome TEXT NOT NULL, tokens BIGINT NOT NULL)`,
    `CREATE INDEX analyses_tenant ON analyses (tenant_id, started_at)`,
    `CREATE INDEX analyses_started ON analyses (started_at)`,
  ],
} as const
