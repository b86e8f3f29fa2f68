/** Where the pages of access rules are, in the console and in the API. */
import { createHash } from 'node:crypto'
import type { AccessRules } from '../../../../shared/fleet/access-rules.ts'
import { TENANT_PATH } from '../../navigation.ts'

export const RULES = `${TENANT_PATH}/rules` as const
export const GROUPS = `${TENANT_PATH}/groups` as const
export const apiOf = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}/access-rules`

/** Which rules a page was made of: what somebody else has saved meanwhile is not written over. */
export const versionOf = (content: AccessRules): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)
