/** Several control planes on one database: what each has to hear of the others, and who they are. */
export const nodes = {
  name: '0051-nodes',
  statements: [],
  postgres: [
    'CREATE TABLE commits (position BIGINT PRIMARY KEY, node_id TEXT NOT NULL, at BIGINT NOT NULL, news TEXT NOT NULL)',
    'CREATE INDEX commits_at ON commits (at)',
    // of now alone: written every second, and nothing that a restart of the server has to keep
    `CREATE UNLOGGED TABLE nodes (
      node_id TEXT PRIMARY KEY, host TEXT NOT NULL, pid BIGINT NOT NULL, started_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL, is_ended BIGINT NOT NULL, progress TEXT NOT NULL, status TEXT NOT NULL)`,
  ],
} as const
