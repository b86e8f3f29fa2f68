/** Where a tenant's devices are, in the console and in the API. */
import { TENANT_PATH, tenantPath } from '../../navigation.ts'

export const DEVICES = `${TENANT_PATH}/devices` as const
export const DEVICE = `${DEVICES}/{device_id}` as const
/** No id of a device: those begin with `dev_`. */
export const ENROLL = `${DEVICES}/enroll` as const

export const devicesPath = (tenantId: string) => tenantPath(tenantId, 'devices')
export const devicePath = (tenantId: string, deviceId: string) =>
  `${devicesPath(tenantId)}/${encodeURIComponent(deviceId)}`
export const enrollPath = (tenantId: string) => `${devicesPath(tenantId)}/enroll`

export const apiOf = (tenantId: string, what: 'devices' | 'device-tickets') =>
  `/api/v1/operator/tenants/${tenantId}/${what}`
