/** A tenant's public keys, for its application: no secret, but never from a stale cache either. */
import { Hono } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { Tenants } from '../tenants/tenants.ts'
import type { ApiContext, ApiEnv } from './api-env.ts'
import type { Callers } from './callers.ts'

export const PEM_TYPE = 'application/x-pem-file'
export const PEM_FILENAME = 'service_public.pem'

export interface PublicKeyRoutesWorld {
  readonly callers: Callers
  readonly keys: Pick<SigningKeys, 'publicKeys'>
  readonly tenants: Pick<Tenants, 'get'>
}

/** `/tenants/{id}/public-key`: every key that the application should accept now, as a JWKS. */
export function tenantKeyRoutes({ callers, keys, tenants }: PublicKeyRoutesWorld) {
  const app = new Hono<ApiEnv>()
  app.get('/:id/public-key', callers.anyone, async (c) => {
    const tenant = await tenants.get(c.req.param('id'))
    const published = await keys.publicKeys(tenant.tenantId)
    if (published.length === 0) throw new Refusal('not_published')
    c.header('Cache-Control', 'no-cache')
    c.header('Vary', 'Accept')
    return wantsPem(c) ? pemFile(c, published) : c.json({ keys: published })
  })
  return app
}

/** `/api/v1/public-key?api_key=`: the same keys as one file, for whoever holds the analyzer key. */
export function ownKeyRoutes({ callers, keys }: PublicKeyRoutesWorld) {
  const app = new Hono<ApiEnv>()
  app.get('/', callers.analyzerInQuery, async (c) => {
    const published = await keys.publicKeys(c.var.tenant.tenantId)
    if (published.length === 0) throw new Refusal('not_published')
    return pemFile(c, published)
  })
  return app
}

function pemFile(c: ApiContext, published: readonly { readonly pem: string }[]): Response {
  return c.body(published.map(({ pem }) => pem).join(''), 200, {
    'Content-Type': PEM_TYPE,
    'Content-Disposition': `attachment; filename="${PEM_FILENAME}"`,
  })
}

function wantsPem(c: ApiContext): boolean {
  const types = (c.req.header('accept') ?? '').split(',')
  return types.some((type) => type.split(';', 1)[0]?.trim().toLowerCase() === PEM_TYPE)
}
