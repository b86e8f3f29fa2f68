/** Groups of a tenant's people. A membership has its source, and each source takes back its own alone. */
import { setImmediate as breathe } from 'node:timers/promises'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import { outdateClaimsIn } from '../sessions/revocations.ts'
import type { MembershipSource } from '../store/access-tables.ts'
import type { Enforced } from '../store/enforced.ts'
import type { Queries } from '../store/engine.ts'
import type { Page } from '../store/page.ts'
import {
  deleteGroup,
  deleteMembers,
  deleteSomeMembersOf,
  findGroup,
  findMember,
  groupsOf,
  insertGroup,
  insertMember,
  memberCountOf,
  membersAfter,
  membersAmong,
  type GroupRow,
  type MemberRow,
} from '../store/queries/access.ts'
import { deleteScimGroupCalled } from '../store/queries/scim.ts'
import { findTenant, type Tenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { isSpokenOf } from './access-rules.ts'
import { found } from './alter.ts'

export type Groups = ReturnType<typeof createGroups>

interface Group extends GroupRow {
  readonly members: number
}

interface Membership {
  readonly tenantId: string
  readonly group: string
  readonly userId: string
  readonly source: MembershipSource
}

/** In an object, or the change would wait for what comes after it. */
interface Told {
  readonly enforced: Promise<Enforced>
}

export function createGroups({ store }: { store: Store }) {
  /** One after the other: of many at once each turn of the event loop would hold a look of all. */
  const counts = createFairSemaphore({ concurrency: 1 })

  /** What tokens say of them is another thing, if it is in no other source as well. */
  async function alter(membership: Membership, isIn: boolean, actor: Actor): Promise<Told> {
    const { tenantId, group, userId, source } = membership
    const named = [tenantId, group, userId, source] as const
    return store.change(async (change) => {
      const { queries, nowMs, enforced } = change
      const { maxSessionSeconds } = await requireGroup(queries, tenantId, group)
      if ((await findUser(queries, tenantId, userId)) === undefined)
        throw new Refusal('user_not_found')
      if (((await findMember(queries, ...named)) !== undefined) === isIn) return { enforced }
      const before = await isMember(queries, tenantId, group, userId)
      if (isIn) await insertMember(queries, { ...membership, createdAt: nowMs })
      else await deleteMembers(queries, membership, [userId], nowMs)
      const after = await isMember(queries, tenantId, group, userId)
      if (before !== after && (await isSpokenOf(queries, tenantId, group)))
        await outdateClaimsIn(change, tenantId, userId, maxSessionSeconds)
      const content = { group, user_id: userId, source }
      const action = isIn ? 'group.member_added' : 'group.member_removed'
      await change.audit(actor, { action, tenantId, content })
      return { enforced }
    })
  }

  return {
    async list(tenantId: string): Promise<GroupRow[]> {
      found(await findTenant(store.read, tenantId))
      return groupsOf(store.read, tenantId)
    },

    /** With how many people are in each: a provider may have pushed twenty thousand into every one. */
    async counted(tenantId: string, groups: readonly GroupRow[]): Promise<Group[]> {
      return counts.take(async () => {
        const all: Group[] = []
        for (const group of groups) {
          if (all.length > 0) await breathe()
          all.push({ ...group, members: await memberCountOf(store.read, tenantId, group.name) })
        }
        return all
      }, tenantId)
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

    /** Its members go a few at a time, and other changes between them. */
    async remove(tenantId: string, group: string, actor: Actor): Promise<void> {
      const takeSome = async ({ queries, nowMs }: Change) => {
        await requireGroup(queries, tenantId, group)
        if (await isSpokenOf(queries, tenantId, group)) throw new Refusal('group_used')
        return deleteSomeMembersOf(queries, tenantId, group, nowMs)
      }
      while (await store.change(takeSome));
      await store.change(async (change) => {
        while (await takeSome(change)); // whoever has come meanwhile
        await deleteGroup(change.queries, tenantId, group)
        await deleteScimGroupCalled(change.queries, tenantId, group) // a provider may push it anew
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

    add: (membership: Membership, actor: Actor) => alter(membership, true, actor),
    take: (membership: Membership, actor: Actor) => alter(membership, false, actor),
  }
}

async function isMember(queries: Queries, tenantId: string, group: string, userId: string) {
  return (await membersAmong(queries, tenantId, group, [userId])).length > 0
}

/** Its tenant. */
async function requireGroup(queries: Queries, tenantId: string, group: string): Promise<Tenant> {
  const tenant = found(await findTenant(queries, tenantId))
  if ((await findGroup(queries, tenantId, group)) === undefined)
    throw new Refusal('group_not_found')
  return tenant
}
