/** Where the pages of webhooks are, and the calls of the API that do the same. */
import { TENANT_PATH, tenantPath } from '../../navigation.ts'

export const WEBHOOKS = `${TENANT_PATH}/webhooks` as const
export const NEW_WEBHOOK = `${WEBHOOKS}/new` as const
export const WEBHOOK = `${WEBHOOKS}/{webhook_id}` as const
export const DELIVERY = `${WEBHOOK}/deliveries/{delivery_id}` as const

export const webhooksAt = (tenantId: string): string => tenantPath(tenantId, 'webhooks')

export const webhookAt = (tenantId: string, webhookId: string): string =>
  `${webhooksAt(tenantId)}/${webhookId}`

export const deliveryAt = (tenantId: string, webhookId: string, deliveryId: string): string =>
  `${webhookAt(tenantId, webhookId)}/deliveries/${deliveryId}`

/** The same thing under the operator API. */
export const apiOf = (path: string): string => path.replace(/^\/console/, '/api/v1/operator')
