/** How many requests a connector has answered, whichever connections they were on. */
export const connectorRequests = {
  name: '0059-connector-requests',
  statements: ['ALTER TABLE connectors ADD COLUMN requests BIGINT NOT NULL DEFAULT 0'],
} as const
