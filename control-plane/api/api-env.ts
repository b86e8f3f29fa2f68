/** What travels with one API request. */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Tenant } from '../tenants/tenants.ts'
import type { Actor } from '../store/store.ts'

export interface ApiEnv {
  /** Set by the server; a request that a test makes without one comes from nowhere. */
  Bindings: Partial<HttpBindings> & { readonly address?: string }
  Variables: {
    requestId: string
    actor: Actor
    /** Whose analyzer key or client secret came along. */
    tenant: Tenant
  }
}

export type ApiContext = Context<ApiEnv>

export function addressOf(c: ApiContext): string {
  return c.env?.address ?? c.env?.incoming?.socket.remoteAddress ?? 'unknown'
}
