/** One change of one tenant: read it, alter it, tell the fleet, write it down. */
import { Refusal } from '../../shared/errors.ts'
import { findTenant, type Tenant } from '../store/queries/tenants.ts'
import { isReserved } from '../store/reserved.ts'
import type { Actor, Change, Store } from '../store/store.ts'

/** What the audit trail says of it; undefined: there was nothing to do, and nothing is written. */
type Alteration = Record<string, unknown> | undefined

export type Alter = (
  tenantId: string,
  actor: Actor,
  action: string,
  work: (change: Change, before: Tenant) => Promise<Alteration>,
) => Promise<Tenant>

export function createAlter(store: Store): Alter {
  return (tenantId, actor, action, work) =>
    store.change(async (change) => {
      const before = found(await findTenant(change.queries, tenantId))
      const content = await work(change, before)
      if (content === undefined) return before
      await change.touch(tenantId)
      await change.audit(actor, { action, tenantId, content })
      return found(await findTenant(change.queries, tenantId))
    })
}

export function found(tenant: Tenant | undefined): Tenant {
  if (tenant === undefined || isReserved(tenant.tenantId)) throw new Refusal('tenant_not_found')
  return tenant
}
