/** Which connectors have the next key that lists of gateways are to be signed with. */
export const connectorAuthority = {
  name: '0082-connector-authority',
  statements: [`ALTER TABLE connectors ADD COLUMN authority TEXT NOT NULL DEFAULT ''`],
} as const
