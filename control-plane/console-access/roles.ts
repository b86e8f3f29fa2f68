/** Who may do what: operators everything, a tenant's administrators what is theirs. */
import { Refusal } from '../../shared/errors.ts'
import { ALL_TENANTS, rolesOf, upsertRole } from '../store/queries/console.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import { CONSOLE_REALM, isReserved } from '../store/reserved.ts'
import type { Actor, Change } from '../store/store.ts'
import type { ConsoleAccessWorld } from './world.ts'
import type { Queries } from '../store/sqlite.ts'

export interface Roles {
  readonly isOperator: boolean
  /** Where the person is an administrator. */
  readonly tenantIds: readonly string[]
}

export type ConsoleRoles = ReturnType<typeof createConsoleRoles>

export function createConsoleRoles({ store }: ConsoleAccessWorld) {
  return {
    async of(userId: string): Promise<Roles> {
      const rows = await rolesOf(store.read, userId)
      return {
        isOperator: rows.some(({ role }) => role === 'operator'),
        tenantIds: rows.flatMap(({ role, tenantId }) =>
          role === 'administrator' ? [tenantId] : [],
        ),
      }
    },
  }
}

/** The console's own realm is no tenant that anybody administers. */
export async function requireListed(queries: Queries, tenantId: string): Promise<void> {
  const isListed = !isReserved(tenantId) && (await findTenant(queries, tenantId)) !== undefined
  if (!isListed) throw new Refusal('tenant_not_found')
}

/** Inside a change, so that an account and what it may do begin together. */
export async function give(change: Change, userId: string, tenantId: string, actor: Actor) {
  const { queries, nowMs } = change
  if ((await findUser(queries, CONSOLE_REALM, userId)) === undefined)
    throw new Refusal('user_not_found')
  const role = tenantId === ALL_TENANTS ? 'operator' : 'administrator'
  await upsertRole(queries, { userId, tenantId, role, createdAt: nowMs })
  await audit(change, 'console.role_given', { userId, tenantId }, actor)
}

export function noteTaken(change: Change, userId: string, tenantId: string, actor: Actor) {
  return audit(change, 'console.role_taken', { userId, tenantId }, actor)
}

function audit(
  change: Change,
  action: string,
  { userId, tenantId }: { userId: string; tenantId: string },
  actor: Actor,
) {
  const isOfAll = tenantId === ALL_TENANTS
  const content = { user_id: userId, role: isOfAll ? 'operator' : 'administrator' }
  return change.audit(actor, { action, content, ...(!isOfAll && { tenantId }) })
}
