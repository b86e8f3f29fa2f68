/** Everything under `/api/v1/operator`. */
import { Hono } from 'hono'
import type { GatewayStatus } from '../../fleet/gateway-book.ts'
import type { AuditTrail } from '../../accounts/audit-trail.ts'
import type { ApiEnv } from '../api-env.ts'
import type { Callers } from '../callers.ts'
import { mapPage, pageRequestOf, single } from '../paging.ts'
import { accountRoutes, type AccountRoutesWorld } from './account-routes.ts'
import { directoryRoutes, type DirectoryRoutesWorld } from './directory-routes.ts'
import { policyRoutes, type PolicyRoutesWorld } from './policy-routes.ts'
import { signInRoutes, type SignInRoutesWorld } from './sign-in-routes.ts'
import { tenantRoutes, type TenantRoutesWorld } from './tenant-routes.ts'
import { auditView } from './views.ts'

export interface OperatorRoutesWorld
  extends
    Omit<AccountRoutesWorld, 'tenants'>,
    Omit<SignInRoutesWorld, 'tenants' | 'users'>,
    TenantRoutesWorld,
    PolicyRoutesWorld,
    Omit<DirectoryRoutesWorld, 'tenants'> {
  readonly callers: Callers
  readonly auditTrail: AuditTrail
  readonly gateways: () => readonly GatewayStatus[]
  /** Settles when the connected gateways serve what has been committed, or after a short while. */
  readonly changesSettled: () => Promise<unknown>
}

export function operatorRoutes(world: OperatorRoutesWorld) {
  const app = new Hono<ApiEnv>()

  app.use(world.callers.operator)

  /** Who changes something and looks at once should see it: the answer waits for the gateways. */
  app.use('/tenants/*', async (c, next) => {
    await next()
    // what is created (201) is a draft or a user: no gateway has to hear of it
    if (c.req.method !== 'GET' && c.res.ok && c.res.status !== 201) await world.changesSettled()
  })

  app.route('/tenants', tenantRoutes(world))
  app.route('/tenants', accountRoutes(world))
  app.route('/tenants', policyRoutes(world))
  app.route('/tenants', signInRoutes(world))
  app.route('/tenants', directoryRoutes(world))

  app.get('/gateways', (c) => c.json({ items: world.gateways(), next: null }))

  app.get('/audit', async (c) => {
    const page = await world.auditTrail.list(pageRequestOf(c), single(c, 'tenant_id'))
    return c.json(mapPage(page, auditView))
  })

  return app
}
