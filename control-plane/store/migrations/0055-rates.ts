/** How often something was done lately, counted over all control planes of a database. */
export const rates = {
  name: '0055-rates',
  statements: [
    `CREATE TABLE rates (
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      full_at BIGINT NOT NULL,
      PRIMARY KEY (kind, key)
    )`,
    'CREATE INDEX rates_full ON rates (full_at)',
  ],
} as const
