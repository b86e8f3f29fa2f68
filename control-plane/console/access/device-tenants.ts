/** Whose key somebody may hand out: operators search all tenants, others have their own. */
import { LIMITS } from '../../../shared/limits.ts'
import type { Viewer } from '../../console-access/console-sessions.ts'
import { mayChange } from '../../console-access/roles.ts'
import { isReserved } from '../../store/reserved.ts'
import type { Tenant, Tenants } from '../../tenants/tenants.ts'

export interface OfferedTenants {
  readonly tenants: readonly Tenant[]
  /** There are more than these. */
  readonly hasMore: boolean
}

interface Wanted {
  readonly text: string
  /** Is among them whatever was searched for, if it may be. */
  readonly chosen: string
}

const MOST = LIMITS.deviceTenantsListedMax

export async function offeredTenants(
  tenants: Pick<Tenants, 'search' | 'find'>,
  viewer: Viewer,
  { text, chosen }: Wanted,
): Promise<OfferedTenants> {
  const offered = await matching(tenants, viewer, text)
  const isThere = offered.tenants.some(({ tenantId }) => tenantId === chosen)
  if (isThere || chosen === '' || isReserved(chosen) || !mayChange(viewer, chosen)) return offered
  const own = await tenants.find(chosen)
  return own === undefined ? offered : { ...offered, tenants: [own, ...offered.tenants] }
}

async function matching(
  tenants: Pick<Tenants, 'search' | 'find'>,
  { changes }: Viewer,
  text: string,
): Promise<OfferedTenants> {
  if (changes === 'everything') {
    const filter = text === '' ? {} : { text }
    const { items, next } = await tenants.search(filter, { limit: MOST })
    return { tenants: items, hasMore: next !== null }
  }
  const own = await Promise.all(changes.map((tenantId) => tenants.find(tenantId)))
  const isMeant = ({ tenantId, name }: Tenant) =>
    `${tenantId}\n${name}`.toLowerCase().includes(text.toLowerCase())
  const meant = own.filter((tenant) => tenant !== undefined).filter(isMeant)
  return { tenants: meant.slice(0, MOST), hasMore: meant.length > MOST }
}
