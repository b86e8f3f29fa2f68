/** Where several change at once, numbers come from what nobody waits for. */
export const numbers = {
  name: '0050-numbers',
  statements: [],
  postgres: [
    'CREATE SEQUENCE event_numbers',
    'CREATE SEQUENCE audit_numbers',
    `SELECT setval(name || '_numbers', value) FROM counters WHERE name IN ('event', 'audit')`,
    `DELETE FROM counters WHERE name IN ('event', 'audit')`,
  ],
} as const
