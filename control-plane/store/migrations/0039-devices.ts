/** Machines with our agent: how they enroll, who they are, what they say of themselves. */
export const devices = {
  name: '0039-devices',
  statements: [
    `CREATE TABLE device_tickets (
      ticket_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      ticket_hash TEXT NOT NULL,
      platform TEXT NOT NULL,
      uses BIGINT NOT NULL,
      uses_left BIGINT NOT NULL,
      user_id TEXT,
      network TEXT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX device_tickets_hash ON device_tickets (ticket_hash)',
    'CREATE INDEX device_tickets_tenant ON device_tickets (tenant_id)',
    'CREATE INDEX device_tickets_expiry ON device_tickets (expires_at)',
    `CREATE TABLE enrolled_devices (
      device_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      ticket_id TEXT NOT NULL,
      user_id TEXT,
      public_key TEXT NOT NULL,
      platform TEXT NOT NULL,
      arch TEXT NOT NULL,
      hostname TEXT NOT NULL,
      agent TEXT NOT NULL,
      key_storage TEXT NOT NULL,
      machine_hash TEXT NOT NULL,
      network TEXT,
      enrolled_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      approved_at BIGINT,
      suspected_at BIGINT,
      suspicion TEXT,
      revoked_at BIGINT,
      current_hash TEXT NOT NULL,
      other_hash TEXT,
      previous_hash TEXT,
      turned_by TEXT,
      boots TEXT NOT NULL,
      posture_hash TEXT,
      collected_at BIGINT
    )`,
    'CREATE INDEX enrolled_devices_tenant ON enrolled_devices (tenant_id, enrolled_at, device_id)',
    'CREATE INDEX enrolled_devices_user ON enrolled_devices (tenant_id, user_id, enrolled_at)',
    'CREATE INDEX enrolled_devices_machine ON enrolled_devices (tenant_id, machine_hash)',
    'CREATE INDEX enrolled_devices_ticket ON enrolled_devices (ticket_id, public_key)',
    `CREATE INDEX enrolled_devices_revoked ON enrolled_devices (revoked_at)
      WHERE revoked_at IS NOT NULL`,
    `CREATE TABLE device_postures (
      device_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      posture TEXT NOT NULL,
      facts_since TEXT NOT NULL
    )`,
    'CREATE INDEX device_postures_tenant ON device_postures (tenant_id)',
    // on which of them a session was begun
    'ALTER TABLE sessions ADD COLUMN device_id TEXT',
    `CREATE INDEX sessions_device ON sessions (tenant_id, device_id, expires_at)
      WHERE device_id IS NOT NULL AND ended_at IS NULL`,
  ],
} as const
