/** Which connectors are at gateways, as the control plane that each is connected to tells the others. */
export const sharedPresence = {
  name: '0058-shared-presence',
  statements: [
    `CREATE TABLE connector_presence (
      gateway_id TEXT NOT NULL,
      tenant_id TEXT NOT NULL,
      content TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (gateway_id, tenant_id)
    )`,
    'CREATE INDEX connector_presence_at ON connector_presence (at)',
  ],
} as const
