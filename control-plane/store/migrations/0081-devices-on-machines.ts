/** Devices that were not revoked, by the hardware that they are on: whether there is another is one look. */
export const devicesOnMachines = {
  name: '0081-devices-on-machines',
  statements: [
    `CREATE INDEX enrolled_devices_twice ON enrolled_devices (tenant_id, machine_hash) WHERE revoked_at IS NULL`,
  ],
} as const
