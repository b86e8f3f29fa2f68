/** What stands between people and their sign-in: blocked addresses, and lost second factors. */
import { Hono } from 'hono'
import type { AddressBlock, AddressBlocks } from '../../accounts/address-blocks.ts'
import type { Factor, Factors } from '../../accounts/factors.ts'
import type { Users } from '../../accounts/users.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import type { ApiEnv } from '../api-env.ts'
import { mapPage, pageRequestOf } from '../paging.ts'
import { iso } from './views.ts'

export interface SignInRoutesWorld {
  readonly tenants: Pick<Tenants, 'get'>
  readonly users: Pick<Users, 'get'>
  readonly addressBlocks: AddressBlocks
  readonly factors: Factors
}

export function signInRoutes({ tenants, users, addressBlocks, factors }: SignInRoutesWorld) {
  const app = new Hono<ApiEnv>()

  app.get('/:id/address-blocks', async (c) => {
    const { tenantId } = await tenants.get(c.req.param('id'))
    return c.json(mapPage(await addressBlocks.list(tenantId, pageRequestOf(c)), blockView))
  })

  app.delete('/:id/address-blocks/:address', async (c) => {
    const { tenantId } = await tenants.get(c.req.param('id'))
    await addressBlocks.lift(tenantId, c.req.param('address'), c.var.actor)
    return c.body(null, 204)
  })

  app.get('/:id/users/:user/factors', async (c) => {
    const { tenantId, userId } = await users.get(c.req.param('id'), c.req.param('user'))
    const items = await factors.list({ tenantId, userId })
    return c.json({ items: items.map(factorView), next: null })
  })

  /** For who has lost it: the next sign-in goes on as the policy has it without one. */
  app.delete('/:id/users/:user/factors/:factor', async (c) => {
    const { tenantId, userId } = await users.get(c.req.param('id'), c.req.param('user'))
    await factors.remove({ tenantId, userId }, c.req.param('factor'), c.var.actor)
    return c.body(null, 204)
  })

  return app
}

function blockView({ address, failures, createdAt, blockedUntil }: AddressBlock) {
  return {
    address,
    failures,
    created_at: iso(createdAt),
    blocked_until: iso(blockedUntil),
  }
}

function factorView({ factorId, kind, createdAt, lastUsedAt }: Factor) {
  return {
    factor_id: factorId,
    kind,
    created_at: iso(createdAt),
    last_used_at: lastUsedAt === null ? null : iso(lastUsedAt),
  }
}
