/** What is counted in the changes of tenants, on its way to the figures of all together. */
export const figureAdditions = {
  name: '0086-figure-additions',
  statements: [
    `CREATE TABLE figure_additions (
      tenant_id TEXT NOT NULL,
      at BIGINT NOT NULL,
      source TEXT NOT NULL,
      outcome TEXT NOT NULL,
      reason TEXT NOT NULL,
      count BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, at, source, outcome, reason)
    )`,
    `CREATE INDEX figure_additions_at ON figure_additions (at)`,
  ],
}
