/** Where a tenant's people and their sessions are, in the console and in the API. */
import { html } from 'hono/html'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'

export const USERS = `${TENANT_PATH}/users` as const
export const USER = `${USERS}/{user_id}` as const
export const BLOCKS = `${TENANT_PATH}/address-blocks` as const
export const SIGN_UPS = `${TENANT_PATH}/sign-ups` as const
export const SESSIONS = `${TENANT_PATH}/sessions` as const

export const userPath = (tenantId: string, userId: string) =>
  `${tenantPath(tenantId, 'users')}/${encodeURIComponent(userId)}`
export const blocksPath = (tenantId: string) => `${tenantPath(tenantId)}/address-blocks`
export const signUpsPath = (tenantId: string) => `${tenantPath(tenantId)}/sign-ups`
export const sessionPath = (tenantId: string, sid: string) =>
  `${tenantPath(tenantId, 'sessions')}/${encodeURIComponent(sid)}`

/** Who is signed in from there. */
export const sessionsFrom = (tenantId: string, ip: string) =>
  `${tenantPath(tenantId, 'sessions')}?q=${encodeURIComponent(ip)}`
export const fromAddress = (tenantId: string, ip: string) =>
  html`<a href="${sessionsFrom(tenantId, ip)}">${ip}</a>`

export const apiOf = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}`
