/** Who may do what: operators everything, a tenant's administrators what is theirs. */
import { Refusal } from '../../shared/errors.ts'
import {
  ALL_TENANTS,
  deleteWaysInBy,
  rolesOf,
  upsertRole,
  type ConsoleRoleRow,
} from '../store/queries/console.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import { CONSOLE_REALM, isReserved } from '../store/reserved.ts'
import type { Actor, Change } from '../store/store.ts'
import type { ConsoleAccessWorld } from './world.ts'
import type { Queries } from '../store/engine.ts'

export interface Roles {
  /** Sees all tenants, and what runs them. */
  readonly isOperator: boolean
  /** Which tenants the person sees besides. */
  readonly tenantIds: readonly string[]
  /** What they see and do not change is theirs to look at only. */
  readonly changes: 'everything' | readonly string[]
}

/** The one rule; `tenantId` is undefined for what belongs to no tenant. */
export const mayChange = ({ changes }: Pick<Roles, 'changes'>, tenantId?: string): boolean =>
  changes === 'everything' || (tenantId !== undefined && changes.includes(tenantId))

/** What somebody is asked to become, or is from now on. */
export const roleFor = (tenantId: string, isReadOnly: boolean): ConsoleRoleRow['role'] =>
  isReadOnly ? 'viewer' : tenantId === ALL_TENANTS ? 'operator' : 'administrator'

export type ConsoleRoles = ReturnType<typeof createConsoleRoles>

export function createConsoleRoles({ store }: ConsoleAccessWorld) {
  return {
    async of(userId: string): Promise<Roles> {
      return rolesFrom(await rolesOf(store.read, userId))
    },
  }
}

export const rolesFrom = (rows: readonly ConsoleRoleRow[]): Roles => ({
  isOperator: rows.some(({ tenantId }) => tenantId === ALL_TENANTS),
  tenantIds: rows.map(({ tenantId }) => tenantId).filter((id) => id !== ALL_TENANTS),
  changes: rows.some(({ role }) => role === 'operator')
    ? 'everything'
    : rows.flatMap(({ role, tenantId }) => (role === 'administrator' ? [tenantId] : [])),
})

/** The console's own realm is no tenant that anybody administers. */
export async function requireListed(queries: Queries, tenantId: string): Promise<void> {
  const isListed = !isReserved(tenantId) && (await findTenant(queries, tenantId)) !== undefined
  if (!isListed) throw new Refusal('tenant_not_found')
}

/** Inside a change, so that an account and what it may do begin together. */
export async function give(
  change: Change,
  userId: string,
  tenantId: string,
  actor: Actor,
  isReadOnly = false,
) {
  const { queries, nowMs } = change
  if ((await findUser(queries, CONSOLE_REALM, userId)) === undefined)
    throw new Refusal('user_not_found')
  const role = roleFor(tenantId, isReadOnly)
  const before = (await rolesOf(queries, userId)).find((one) => one.tenantId === tenantId)
  await upsertRole(queries, { userId, tenantId, role, createdAt: nowMs })
  // what they have made gives more than they have now
  if (isReadOnly && before !== undefined) await deleteWaysInBy(queries, userId, tenantId)
  await audit(change, 'console.role_given', { userId, tenantId, role }, actor)
}

export function noteTaken(
  change: Change,
  { userId, tenantId, role }: Pick<ConsoleRoleRow, 'userId' | 'tenantId' | 'role'>,
  actor: Actor,
) {
  return audit(change, 'console.role_taken', { userId, tenantId, role }, actor)
}

function audit(
  change: Change,
  action: string,
  { userId, tenantId, role }: Pick<ConsoleRoleRow, 'userId' | 'tenantId' | 'role'>,
  actor: Actor,
) {
  const content = { user_id: userId, role }
  return change.audit(actor, { action, content, ...(tenantId !== ALL_TENANTS && { tenantId }) })
}
