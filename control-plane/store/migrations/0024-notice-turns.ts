/** Applications are told of ended sessions tenant by tenant, as mails go out. */
export const noticeTurns = {
  name: '0024-notice-turns',
  statements: [
    'DROP INDEX logout_notices_next',
    'CREATE INDEX logout_notices_turn ON logout_notices (tenant_id, next_at)',
    'CREATE INDEX logout_notices_due ON logout_notices (next_at, tenant_id)',
  ],
} as const
