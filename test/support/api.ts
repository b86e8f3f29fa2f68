/** The API without a socket: `app.request()` on real services and a real database. */
import { createApp } from '../../control-plane/app.ts'
import type { Services } from '../../control-plane/services/services.ts'
import { startServices } from './control-plane.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

export const OPERATOR_KEY = 'operator-key-of-the-tests'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  /** Of a list. */
  readonly items: readonly Record<string, unknown>[]
  readonly next: string | null
}

export interface CallOptions {
  readonly key?: string | null
  readonly type?: string
  /** Sent as it is. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Record<string, string>
  readonly address?: string
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  options?: CallOptions,
) => Promise<ApiAnswer>

export async function startApi(...args: Parameters<typeof startServices>) {
  return apiOf(await startServices(...args))
}

export function apiOf(services: Services) {
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY) })

  const call: Call = async (method, path, body, options = {}) => {
    const { key = OPERATOR_KEY, type = 'application/json', raw, address = '127.0.0.1' } = options
    const content = raw ?? (body === undefined ? null : JSON.stringify(body))
    const headers: Record<string, string> = { ...options.headers }
    if (key !== null) headers['authorization'] = `Bearer ${key}`
    if (content !== null && type !== '') headers['content-type'] = type
    const init = { method, headers, body: content }
    const answer = await app.request(path, init, { address })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    const isEmpty = text === '' // as of HEAD
    const read = isJson && !isEmpty ? (JSON.parse(text) as Record<string, unknown>) : { text }
    const items = ('items' in read ? read.items : []) as ApiAnswer['items']
    const next = typeof read['next'] === 'string' ? read['next'] : null
    return { status: answer.status, headers: answer.headers, body: read, items, next }
  }

  /** Under `/api/v1/operator`. */
  const operator: Call = (method, path, ...rest) => call(method, `/api/v1/operator${path}`, ...rest)

  async function tenant(tenantId: string, settings: Record<string, unknown> = {}) {
    const answer = await operator('POST', '/tenants', newTenant(tenantId, settings))
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body as { analyzer_key: string; client_id: string; client_secret: string }
  }

  return { services, app, call, operator, tenant }
}

export function newTenant(tenantId: string, settings: Record<string, unknown> = {}) {
  return {
    tenant_id: tenantId,
    name: tenantId,
    mode: 'gateway',
    plan: 'premium',
    hostnames: [`${tenantId}.localhost`],
    origin: 'http://127.0.0.1:9000',
    sealed: ['/internal'],
    excluded: ['/health'],
    health: '/health',
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'off',
    ...settings,
  }
}
