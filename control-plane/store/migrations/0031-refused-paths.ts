/** Which path was refused, and how often. */
export const refusedPaths = {
  name: '0031-refused-paths',
  statements: [
    'ALTER TABLE enforcement_events ADD COLUMN path TEXT',
    'ALTER TABLE enforcement_events ADD COLUMN count INTEGER NOT NULL DEFAULT 1',
  ],
} as const
