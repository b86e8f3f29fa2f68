/** Running sessions found by person and by address, and a pause of lockout that somebody has ended. */
export const people = {
  name: '0008-people',
  statements: [
    `ALTER TABLE users ADD COLUMN unlocked_at BIGINT`,
    `CREATE INDEX sessions_alive ON sessions (tenant_id, expires_at, sid)
      WHERE ended_at IS NULL`,
    `CREATE INDEX sessions_alive_user ON sessions (tenant_id, user_id, expires_at, sid)
      WHERE ended_at IS NULL`,
    `CREATE INDEX sessions_alive_ip ON sessions (tenant_id, ip, expires_at, sid)
      WHERE ended_at IS NULL`,
  ],
} as const
