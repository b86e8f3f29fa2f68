/** Whoever may not see it learns nothing but that there is nothing. */
import { Refusal } from '../../../shared/errors.ts'
import type { Tenant, Tenants } from '../../tenants/tenants.ts'
import type { Role } from '../route.ts'
import type { Viewer } from '../../console-access/console-sessions.ts'

export async function entering(
  role: Role,
  { tenant_id: tenantId = '' }: Readonly<Record<string, string>>,
  viewer: Viewer | undefined,
  tenants: Pick<Tenants, 'get'>,
): Promise<Tenant | undefined> {
  if (role === 'operator' && viewer?.isOperator !== true) throw new Refusal('not_found')
  if (role !== 'tenant') return undefined
  const isTheirs = viewer?.isOperator === true || viewer?.tenantIds.includes(tenantId) === true
  if (!isTheirs) throw new Refusal('not_found')
  return tenants.get(tenantId).catch(() => Promise.reject(new Refusal('not_found')))
}
