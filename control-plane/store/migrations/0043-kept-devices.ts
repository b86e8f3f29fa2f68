/** What is asked of a tenant's devices reads no more of them than it is about. */
export const keptDevices = {
  name: '0043-kept-devices',
  statements: [
    `CREATE INDEX enrolled_devices_kept ON enrolled_devices (tenant_id, revoked_at)
      WHERE revoked_at IS NULL`,
    'DROP INDEX enrolled_devices_user',
    `CREATE INDEX enrolled_devices_user
      ON enrolled_devices (tenant_id, user_id, enrolled_at, device_id)`,
  ],
} as const
