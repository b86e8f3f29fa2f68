/** What browsers bring to agents, so that a sign-in knows on which machine it is. */
export const deviceChallenges = {
  name: '0041-device-challenges',
  statements: [
    `CREATE TABLE device_challenges (
      cid_hash TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      uid_hash TEXT NOT NULL,
      uid_sealed TEXT NOT NULL,
      browser_hash TEXT NOT NULL,
      user_id TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      device_id TEXT,
      code_hash TEXT
    )`,
    'CREATE INDEX device_challenges_uid ON device_challenges (tenant_id, uid_hash, created_at)',
    'CREATE INDEX device_challenges_expiry ON device_challenges (expires_at)',
  ],
} as const
