/** The analyzer key before this one, and until when it counts as well. */
export const analyzerKeyOverlap = {
  name: '0009-analyzer-key-overlap',
  statements: [
    `ALTER TABLE tenants ADD COLUMN previous_analyzer_hash TEXT`,
    `ALTER TABLE tenants ADD COLUMN previous_analyzer_until BIGINT`,
    `CREATE INDEX tenants_previous_analyzer ON tenants (previous_analyzer_hash)`,
  ],
} as const
