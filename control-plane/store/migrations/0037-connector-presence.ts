/** What was last told of a connector, so that a start of ours is no news about it. */
export const connectorPresence = {
  name: '0037-connector-presence',
  statements: [
    "ALTER TABLE connectors ADD COLUMN presence TEXT NOT NULL DEFAULT 'disconnected'",
    'ALTER TABLE connectors ADD COLUMN presence_at BIGINT',
  ],
} as const
