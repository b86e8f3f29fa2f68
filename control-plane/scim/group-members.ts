/**
 * Who is in a group by a provider's word. One request may name twenty thousand: those come and go some at
 * a time, ahead of what else it says, and others' changes between.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { Queries } from '../store/engine.ts'
import { changeInSlices } from '../store/change-in-batches.ts'
import { countMembersOf, memberIdsOf } from '../store/queries/access.ts'
import { findScimGroup, scimPeopleAmong, type ScimGroupRow } from '../store/queries/scim.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { alterMembershipsIn, membershipsToAlter } from '../tenants/memberships.ts'
import { tooManyMembers, type GroupDraft } from './group-attributes.ts'

/** Each is up to three rows: who is in it, who was, and that tokens say so no longer. */
export const MEMBERS_AT_ONCE = 250

type Members = Pick<GroupDraft, 'isWhole' | 'add' | 'take'>

interface Synced {
  readonly changed: number
  /** Ids that are nobody's whom this provider has made. */
  readonly ignored: readonly string[]
}

export const ofScim = ({ tenantId, name }: ScimGroupRow) =>
  ({ tenantId, group: name, source: 'scim' }) as const

/**
 * Nothing where they are few: then they are a part of the change that they come with. Of many, who is
 * named and stays is looked up out here as well; answers who is named and is nobody.
 */
export async function syncManyMembers(
  store: Pick<Store, 'read' | 'change'>,
  group: ScimGroupRow,
  members: Members,
  actor: Actor,
  /** Refuses all of them, before any has changed. */
  admit: (memberships: number) => void,
): Promise<readonly string[] | undefined> {
  const { add, take, skipped } = await wishedIn(store.read, group, members)
  if (add.length + take.length <= MEMBERS_AT_ONCE) return undefined
  const ofGroup = ofScim(group)
  const { added, taken } = await membershipsToAlter(store.read, ofGroup, { add, take })
  const before = await countMembersOf(store.read, ofGroup)
  if (before + added.length - taken.length > LIMITS.scimMembersPerGroupMax) throw tooManyMembers()
  if (added.length + taken.length > 0) admit(added.length + taken.length)
  const all = [
    ...taken.map((userId) => ({ userId, isIn: false })),
    ...added.map((userId) => ({ userId, isIn: true })),
  ]
  await changeInSlices(store, all, MEMBERS_AT_ONCE, async (change, some) => {
    const { tenantId, groupId } = group
    if ((await findScimGroup(change.queries, tenantId, groupId)) === undefined) return
    const [come, go] = [some.filter(({ isIn }) => isIn), some.filter(({ isIn }) => !isIn)]
    const known = await scimPeopleAmong(
      change.queries,
      tenantId,
      come.map(({ userId }) => userId),
    )
    const wished = { add: [...known], take: go.map(({ userId }) => userId) }
    const altered = await alterMembershipsIn(change, ofGroup, wished)
    await note(change, group, { ...altered, skipped: [] }, actor)
  })
  return skipped
}

/** Who is named by a provider and is nobody here. */
export async function noteSkipped(
  change: Change,
  group: ScimGroupRow,
  skipped: readonly string[],
  actor: Actor,
): Promise<readonly string[]> {
  await note(change, group, { added: [], taken: [], skipped }, actor)
  return skipped.slice(0, LIMITS.scimNamedMax).map((id) => `member ${id.slice(0, 60)}`)
}

export async function syncMembers(
  change: Change,
  group: ScimGroupRow,
  members: Members,
  actor: Actor,
): Promise<Synced> {
  const { queries } = change
  const { isWhole, take } = members
  const wished = await wishedIn(queries, group, members)
  const { skipped } = wished
  if (!isWhole && wished.add.length === 0 && take.size === 0 && skipped.length === 0)
    return { changed: 0, ignored: [] }
  const { added, taken } = await alterMembershipsIn(change, ofScim(group), wished)
  if ((await countMembersOf(queries, ofScim(group))) > LIMITS.scimMembersPerGroupMax)
    throw tooManyMembers()
  await note(change, group, { added, taken, skipped: [] }, actor)
  const ignored = await noteSkipped(change, group, skipped, actor)
  return { changed: added.length + taken.length, ignored }
}

async function wishedIn(queries: Queries, group: ScimGroupRow, { isWhole, add, take }: Members) {
  const known = await scimPeopleAmong(queries, group.tenantId, [...add])
  const skipped = [...add].filter((userId) => !known.has(userId))
  const present = isWhole
    ? await memberIdsOf(queries, ofScim(group), LIMITS.scimMembersPerGroupMax)
    : []
  const goes = isWhole ? present.filter((userId) => !known.has(userId)) : [...take]
  return { add: [...known], take: goes, skipped }
}

async function note(
  change: Change,
  { tenantId, name }: ScimGroupRow,
  { added, taken, skipped }: Readonly<Record<'added' | 'taken' | 'skipped', readonly string[]>>,
  actor: Actor,
) {
  for (const [action, userIds] of [
    ['group.member_added', added],
    ['group.member_removed', taken],
    ['group.member_skipped', skipped],
  ] as const)
    if (userIds.length > 0) {
      const content = { group: name, source: 'scim', ...told(userIds) }
      await change.audit(actor, { action, tenantId, content })
    }
}

/** One is somebody, of whom the trail of that person tells; many are a number and the first of them. */
function told(userIds: readonly string[]) {
  const [only] = userIds
  if (userIds.length === 1) return { user_id: only?.slice(0, 100) }
  const some = userIds.slice(0, LIMITS.scimNamedMax).map((id) => id.slice(0, 100))
  return { users: userIds.length, user_ids: some }
}
