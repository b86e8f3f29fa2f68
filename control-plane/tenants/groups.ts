/** Groups of a tenant's people. A membership has its source, and each source takes back its own alone. */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { outdateClaimsIn } from '../sessions/revocations.ts'
import type { MembershipSource } from '../store/access-tables.ts'
import type { Enforced } from '../store/enforced.ts'
import type { Queries } from '../store/engine.ts'
import type { Page } from '../store/page.ts'
import {
  deleteGroup,
  deleteMember,
  deleteMembersOf,
  findGroup,
  findMember,
  groupsOf,
  insertGroup,
  insertMember,
  memberCounts,
  membersAfter,
  membershipsOf,
  type GroupRow,
  type MemberRow,
} from '../store/queries/access.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { isSpokenOf } from './access-rules.ts'
import { found } from './alter.ts'

export type Groups = ReturnType<typeof createGroups>

interface Group extends GroupRow {
  readonly members: number
}

/** In an object, or the change would wait for what comes after it. */
interface Told {
  readonly enforced: Promise<Enforced>
}

export function createGroups({ store }: { store: Store }) {
  /** What tokens say of somebody is another thing now. */
  async function changeMember(
    change: Change,
    membership: { tenantId: string; group: string; userId: string },
    write: () => Promise<void>,
  ): Promise<void> {
    const { queries } = change
    const { tenantId, group, userId } = membership
    const tenant = found(await findTenant(queries, tenantId))
    const before = await isMember(queries, tenantId, group, userId)
    await write()
    const after = await isMember(queries, tenantId, group, userId)
    if (before !== after && (await isSpokenOf(queries, tenantId, group)))
      await outdateClaimsIn(change, tenantId, userId, tenant.maxSessionSeconds)
  }

  return {
    async list(tenantId: string): Promise<Group[]> {
      found(await findTenant(store.read, tenantId))
      const counts = await memberCounts(store.read, tenantId)
      const groups = await groupsOf(store.read, tenantId)
      return groups.map((group) => ({ ...group, members: counts.get(group.name) ?? 0 }))
    },

    async create(
      tenantId: string,
      { name, description = '' }: { name: string; description?: string },
      actor: Actor,
    ): Promise<Group> {
      return store.change(async (change) => {
        const { queries, nowMs } = change
        found(await findTenant(queries, tenantId))
        const groups = await groupsOf(queries, tenantId)
        // two names that people cannot tell apart would be one to them
        if (groups.some((one) => one.name.toLowerCase() === name.toLowerCase()))
          throw new Refusal('group_taken', { field: 'name' })
        if (groups.length >= LIMITS.groupsPerTenantMax) throw new Refusal('groups_full')
        const row = { tenantId, name, description, createdAt: nowMs }
        await insertGroup(queries, row)
        await change.audit(actor, { action: 'group.created', tenantId, content: { group: name } })
        return { ...row, members: 0 }
      })
    },

    async remove(tenantId: string, group: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        await requireGroup(change.queries, tenantId, group)
        if (await isSpokenOf(change.queries, tenantId, group)) throw new Refusal('group_used')
        await deleteMembersOf(change.queries, tenantId, group)
        await deleteGroup(change.queries, tenantId, group)
        await change.audit(actor, { action: 'group.deleted', tenantId, content: { group } })
      })
    },

    async members(
      tenantId: string,
      group: string,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<MemberRow>> {
      await requireGroup(store.read, tenantId, group)
      const rows = await membersAfter(store.read, tenantId, group, cursor ?? '', limit + 1)
      const items = rows.slice(0, limit)
      return { items, next: rows.length > limit ? (items.at(-1)?.userId ?? null) : null }
    },

    async add(
      tenantId: string,
      group: string,
      userId: string,
      actor: Actor,
      source: MembershipSource = 'local',
    ): Promise<Told> {
      return store.change(async (change) => {
        const { queries, nowMs } = change
        await requireGroup(queries, tenantId, group)
        if ((await findUser(queries, tenantId, userId)) === undefined)
          throw new Refusal('user_not_found')
        if ((await findMember(queries, tenantId, group, userId, source)) !== undefined)
          return { enforced: change.enforced }
        await changeMember(change, { tenantId, group, userId }, () =>
          insertMember(queries, { tenantId, group, userId, source, createdAt: nowMs }),
        )
        const content = { group, user_id: userId, source }
        await change.audit(actor, { action: 'group.member_added', tenantId, content })
        return { enforced: change.enforced }
      })
    },

    async take(
      tenantId: string,
      group: string,
      userId: string,
      actor: Actor,
      source: MembershipSource = 'local',
    ): Promise<Told> {
      return store.change(async (change) => {
        const { queries } = change
        await requireGroup(queries, tenantId, group)
        if ((await findUser(queries, tenantId, userId)) === undefined)
          throw new Refusal('user_not_found')
        if ((await findMember(queries, tenantId, group, userId, source)) === undefined)
          return { enforced: change.enforced }
        await changeMember(change, { tenantId, group, userId }, async () => {
          await deleteMember(queries, tenantId, group, userId, source)
        })
        const content = { group, user_id: userId, source }
        await change.audit(actor, { action: 'group.member_removed', tenantId, content })
        return { enforced: change.enforced }
      })
    },
  }
}

async function isMember(queries: Queries, tenantId: string, group: string, userId: string) {
  return (await membershipsOf(queries, tenantId, userId)).some((one) => one.group === group)
}

async function requireGroup(queries: Queries, tenantId: string, group: string): Promise<void> {
  found(await findTenant(queries, tenantId))
  if ((await findGroup(queries, tenantId, group)) === undefined)
    throw new Refusal('group_not_found')
}
