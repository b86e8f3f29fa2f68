/** Whose browser shows a cookie is found by the cookie alone, before anybody has said who they are. */
export const deviceTokens = {
  name: '0019-device-tokens',
  statements: ['CREATE INDEX known_devices_token ON known_devices (tenant_id, cookie_hash)'],
} as const
