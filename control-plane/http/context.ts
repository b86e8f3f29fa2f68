/** What travels with one API request. */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { countedAs, withoutMapping } from '../../shared/client-address.ts'
import { addressOf as addressOfRequest } from '../listener/client-address.ts'
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
    /** Refuses where that opens nothing any more: a body may have taken its time. */
    admitAgain?: () => Promise<void>
  }
}

export type ApiContext = Context<ApiEnv>

export function addressOf(c: ApiContext): string {
  const { address, incoming } = c.env ?? {}
  if (address !== undefined) return withoutMapping(address)
  return incoming === undefined ? 'unknown' : addressOfRequest(incoming)
}

/** What a rate counts an address as: one IPv6 client has a whole network of them. */
export const countedAddressOf = (c: ApiContext): string => countedAs(addressOf(c))
