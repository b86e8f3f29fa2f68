/**
 * Groups that a provider pushes, and who is in them by its word. What rules call a group is decided
 * when it first comes, and stays: a name that is changed at the provider opens and closes nothing here.
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { GROUP_NAME } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Clock } from '../../shared/clock.ts'
import { createRateLimits, type Rate } from '../../shared/rate-limits.ts'
import { fold } from '../accounts/login-keys.ts'
import type { Queries } from '../store/engine.ts'
import {
  deleteGroup,
  groupsOf,
  insertGroup,
  memberIdsOf,
  membersAfter,
} from '../store/queries/access.ts'
import {
  deleteScimGroup,
  findScimGroup,
  findScimGroupByName,
  insertScimGroup,
  scimGroupsListed,
  updateScimGroup,
  type GroupTerm,
  type ScimGroupRow,
} from '../store/queries/scim.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { isSpokenOf } from '../tenants/access-rules.ts'
import { groupDraft, writeGroup, writeGroupPath, type GroupDraft } from './group-attributes.ts'
import {
  MEMBERS_AT_ONCE,
  noteSkipped,
  ofScim,
  syncManyMembers,
  syncMembers,
} from './group-members.ts'
import type { Operation } from './patch-operations.ts'
import { ScimError } from './scim-error.ts'
import { withoutTrailing } from '../../shared/trailing.ts'

export type ScimGroups = ReturnType<typeof createScimGroups>

interface Answered {
  readonly group: ScimGroupRow
  readonly ignored: readonly string[]
}

export function createScimGroups({
  store,
  clock,
  rate = LIMITS.rateScimMembers,
}: {
  readonly store: Store
  readonly clock: Clock
  readonly rate?: Rate
}) {
  const rates = createRateLimits(clock)

  /** Refused as a whole where that is too much at once: then nothing of it is left. */
  async function sync(change: Change, group: ScimGroupRow, draft: GroupDraft, actor: Actor) {
    const { changed, ignored } = await syncMembers(change, group, draft, actor)
    if (changed > 0) rates.take('scim members', group.tenantId, rate, changed)
    return ignored
  }

  const syncMany = (group: ScimGroupRow, members: GroupDraft, actor: Actor) =>
    syncManyMembers(store, group, members, actor, (memberships) =>
      rates.take('scim members', group.tenantId, rate, memberships),
    )

  async function alter(
    tenantId: string,
    groupId: string,
    actor: Actor,
    work: (draft: GroupDraft) => void,
  ): Promise<Answered> {
    const known = await requireGroup(store.read, tenantId, groupId)
    const asked = groupDraft(known)
    work(asked)
    const many = await syncMany(known, asked, actor)
    return store.change(async (change) => {
      const before = await requireGroup(change.queries, tenantId, groupId)
      const draft = groupDraft(before)
      work(draft)
      const { displayName, externalId } = draft
      const row = { ...before, displayName, displayKey: fold(displayName), externalId }
      const isOther = JSON.stringify(row) !== JSON.stringify(before)
      const skipped = many
        ? await noteSkipped(change, before, many, actor)
        : await sync(change, before, draft, actor)
      const group = isOther ? { ...row, updatedAt: change.nowMs } : row
      if (isOther) {
        await updateScimGroup(change.queries, group)
        const content = { group: row.name, called: displayName }
        await change.audit(actor, { action: 'scim.group_changed', tenantId, content })
      }
      return { group, ignored: [...draft.ignored, ...skipped] }
    })
  }

  return {
    async create(tenantId: string, resource: object, actor: Actor): Promise<Answered> {
      const draft = groupDraft({ displayName: '', externalId: null })
      writeGroup(draft, resource, 'replace')
      if (draft.displayName === '') throw new ScimError(400, 'Send a displayName.', 'invalidValue')
      const isLarge = draft.add.size > MEMBERS_AT_ONCE
      const nobody = { ...draft, add: new Set<string>() }
      const made = await store.change(async (change) => {
        const { queries, nowMs } = change
        await requireTenant(queries, tenantId)
        const { displayName, externalId } = draft
        const { name, isJoined } = await nameFor(queries, tenantId, displayName)
        const group: ScimGroupRow = {
          ...{ groupId: `grp_${randomBytes(16).toString('hex')}`, tenantId, name, externalId },
          ...{ displayName, displayKey: fold(displayName), isJoined },
          ...{ createdAt: nowMs, updatedAt: nowMs },
        }
        await insertScimGroup(queries, group)
        const description = displayName === name ? '' : displayName.slice(0, DESCRIPTION_MAX)
        if (!isJoined) await insertGroup(queries, { tenantId, name, description, createdAt: nowMs })
        const content = { group: name, called: displayName, source: 'scim', joined: isJoined }
        await change.audit(actor, { action: 'group.created', tenantId, content })
        const skipped = await sync(change, group, isLarge ? nobody : draft, actor)
        return { group, ignored: [...draft.ignored, ...skipped] }
      })
      if (!isLarge) return made
      return alter(tenantId, made.group.groupId, actor, (members) => {
        members.isWhole = true
        for (const userId of draft.add) members.add.add(userId)
        for (const name of draft.ignored) members.ignored.add(name)
      })
    },

    get: (tenantId: string, groupId: string) => requireGroup(store.read, tenantId, groupId),

    list: (
      tenantId: string,
      terms: readonly GroupTerm[],
      place: { readonly offset: number; readonly limit: number },
    ) => scimGroupsListed(store.read, tenantId, terms, place),

    membersOf: (group: ScimGroupRow): Promise<readonly string[]> =>
      memberIdsOf(store.read, ofScim(group), LIMITS.scimMembersPerGroupMax),

    replace: (tenantId: string, groupId: string, resource: object, actor: Actor) =>
      alter(tenantId, groupId, actor, (draft) => writeGroup(draft, resource, 'replace')),

    patch: (tenantId: string, groupId: string, operations: readonly Operation[], actor: Actor) =>
      alter(tenantId, groupId, actor, (draft) => {
        for (const { op, path, value } of operations)
          if (path === undefined) writeGroup(draft, value as object, op)
          else writeGroupPath(draft, path, value, op)
      }),

    /** Nobody is in it by this provider any more. What rules speak of, or others are in, stays here. */
    async remove(tenantId: string, groupId: string, actor: Actor): Promise<void> {
      const known = await requireGroup(store.read, tenantId, groupId)
      await syncMany(known, { ...groupDraft(known), isWhole: true }, actor)
      await store.change(async (change) => {
        const { queries } = change
        const group = await requireGroup(queries, tenantId, groupId)
        const { name, isJoined } = group
        const nobody = { ...groupDraft(group), isWhole: true }
        await sync(change, group, nobody, actor)
        await deleteScimGroup(queries, tenantId, groupId)
        const isLeft = (await membersAfter(queries, tenantId, name, '', 1)).length > 0
        const isKept = isJoined || isLeft || (await isSpokenOf(queries, tenantId, name))
        if (!isKept) await deleteGroup(queries, tenantId, name)
        const content = { group: name, source: 'scim', kept: isKept }
        await change.audit(actor, { action: 'group.deleted', tenantId, content })
      })
    },
  }
}

const DESCRIPTION_MAX = 200

async function requireGroup(queries: Queries, tenantId: string, groupId: string) {
  const group = await findScimGroup(queries, tenantId, groupId)
  if (group !== undefined) return group
  throw new ScimError(
    404,
    'No provisioned group has this id. Look the group up by displayName or externalId, or create it.',
  )
}

/**
 * One that an administrator has made under exactly this name, before the provider had one of it, gets the
 * provider's members beside its own. A name that only looks alike gets a group of its own.
 */
async function nameFor(queries: Queries, tenantId: string, displayName: string) {
  const groups = await groupsOf(queries, tenantId)
  const nameByKey = new Map(groups.map(({ name }) => [name.toLowerCase(), name]))
  const isName = GROUP_NAME.test(displayName)
  const same = isName ? nameByKey.get(displayName.toLowerCase()) : undefined
  if (same !== undefined && (await findScimGroupByName(queries, tenantId, same)) === undefined)
    return { name: same, isJoined: true }
  if (groups.length >= LIMITS.groupsPerTenantMax) throw new Refusal('groups_full')
  const wished = isName ? displayName : spelledPlainly(displayName)
  let name = wished
  for (let count = 2; nameByKey.has(name.toLowerCase()); count++)
    name = `${wished.slice(0, PLAIN_MAX)}-${count}`
  return { name, isJoined: false }
}

const PLAIN_MAX = 56

/** For rules and headers, which know ASCII alone. */
function spelledPlainly(displayName: string): string {
  const letters = displayName
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9 ._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, PLAIN_MAX)
  const plain = withoutTrailing(letters, ' -')
  return GROUP_NAME.test(plain) ? plain : 'group'
}
