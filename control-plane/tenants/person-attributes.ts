/** What people are: an attribute has its source, and each source takes back its own alone. */
import { Refusal } from '../../shared/errors.ts'
import { outdateClaimsIn, outdateClaimsOfEach } from '../sessions/revocations.ts'
import type { MembershipSource } from '../store/access-tables.ts'
import type { Enforced } from '../store/enforced.ts'
import {
  attributeAmong,
  attributesOf,
  endAttributeOf,
  endAttributes,
  insertAttributes,
  type AttributeRow,
  type OfName,
} from '../store/queries/attributes.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { spokenOfIn } from './access-rules.ts'
import { found } from './alter.ts'
import { predicateOf, type Attribute } from './rule-predicates.ts'

export type PersonAttributes = ReturnType<typeof createPersonAttributes>

interface Whose {
  readonly tenantId: string
  readonly userId: string
  readonly source: MembershipSource
  /** Made in this change: no token speaks of them yet. */
  readonly isNew?: boolean
}

export interface Said {
  readonly attributes: readonly Attribute[]
  /** What the source speaks of: of those it no longer names it takes the value. undefined: everything. */
  readonly names?: ReadonlySet<string> | undefined
  /** Predicates that it says as well, and which are not given: whoever has one of them keeps it. */
  readonly still?: ReadonlySet<string> | undefined
}

export function createPersonAttributes({ store }: { store: Store }) {
  return {
    /** By name; the same value once for each source. */
    async list(tenantId: string, userId: string): Promise<readonly AttributeRow[]> {
      found(await findTenant(store.read, tenantId))
      if ((await findUser(store.read, tenantId, userId)) === undefined)
        throw new Refusal('user_not_found')
      return attributesOf(store.read, tenantId, userId)
    },

    /** All that administrators say of somebody; what providers say of them stays. */
    async put(
      { tenantId, userId }: Omit<Whose, 'source'>,
      attributes: readonly Attribute[],
      actor: Actor,
    ): Promise<{ readonly enforced: Promise<Enforced> }> {
      return store.change(async (change) => {
        const { queries, enforced } = change
        found(await findTenant(queries, tenantId))
        if ((await findUser(queries, tenantId, userId)) === undefined)
          throw new Refusal('user_not_found')
        await alterAttributesIn(
          change,
          { tenantId, userId, source: 'local' },
          { attributes },
          actor,
        )
        // in an object, or the change would wait for what comes after it
        return { enforced }
      })
    },
  }
}

/** What of it is another thing by now; a token that says so is issued anew. */
export async function alterAttributesIn(
  change: Change,
  { tenantId, userId, source, isNew = false }: Whose,
  said: Said,
  actor: Actor,
): Promise<void> {
  const { queries, nowMs } = change
  const rows = await attributesOf(queries, tenantId, userId)
  const { added, gone } = differences(rows, source, said)
  if (added.length + gone.length === 0) return
  await endAttributes(queries, gone, nowMs)
  const row = { tenantId, userId, source, createdAt: nowMs }
  await insertAttributes(
    queries,
    added.map(({ name, value }) => ({ ...row, name, value })),
  )
  const byOthers = new Set(rows.filter((one) => one.source !== source).map(predicateOf))
  const altered = [...added, ...gone].map(predicateOf).filter((one) => !byOthers.has(one))
  const spokenOf = isNew ? undefined : await spokenOfIn(queries, tenantId)
  if (altered.some((one) => spokenOf?.has(one))) {
    const { maxSessionSeconds } = found(await findTenant(queries, tenantId))
    await outdateClaimsIn(change, tenantId, userId, maxSessionSeconds)
  }
  const content = { user_id: userId, source, added: told(added), removed: told(gone) }
  await change.audit(actor, { action: 'user.attributes_changed', tenantId, content })
}

/**
 * An attribute by one source, with all of its values, from many people at once: so many statements for
 * a hundred as for one, since whoever waits for this change must not wait for each of them.
 */
export async function takeAttributeIn(
  change: Change,
  { tenantId, name, source }: OfName,
  userIds: readonly string[],
  actor: Actor,
): Promise<void> {
  const { queries, nowMs } = change
  const rows = await attributeAmong(queries, tenantId, name, userIds)
  const gone = rows.filter((one) => one.source === source)
  await endAttributeOf(queries, { tenantId, name, source }, gone, nowMs)
  const spokenOf = await spokenOfIn(queries, tenantId)
  const heldOf = (one: AttributeRow) => `${one.userId} ${predicateOf(one)}`
  const byOthers = new Set(rows.filter((one) => one.source !== source).map(heldOf))
  const altered = gone.filter((one) => spokenOf.has(predicateOf(one)) && !byOthers.has(heldOf(one)))
  const outdated = new Set(altered.map(({ userId }) => userId))
  if (outdated.size > 0) {
    const { maxSessionSeconds } = found(await findTenant(queries, tenantId))
    await outdateClaimsOfEach(change, tenantId, [...outdated], maxSessionSeconds)
  }
  const whom = userIds.length === 1 ? { user_id: userIds[0] } : { users: userIds.length }
  const removed = told([...new Map(gone.map((one) => [predicateOf(one), one])).values()])
  const content = { ...whom, source, added: [], removed }
  await change.audit(actor, { action: 'user.attributes_changed', tenantId, content })
}

const TOLD_MAX = 20
const told = (all: readonly Attribute[]) => all.slice(0, TOLD_MAX).map(predicateOf)

/** Whether `alterAttributesIn` would have anything to do. */
export const isAnother = (
  rows: readonly AttributeRow[],
  source: MembershipSource,
  said: Said,
): boolean => {
  const { added, gone } = differences(rows, source, said)
  return added.length + gone.length > 0
}

function differences(
  rows: readonly AttributeRow[],
  source: MembershipSource,
  { attributes, names, still }: Said,
) {
  const own = rows.filter((one) => one.source === source)
  const had = new Set(own.map(predicateOf))
  const wished = new Map(attributes.map((one) => [predicateOf(one), one]))
  const isSpokenOf = ({ name }: Attribute) => names === undefined || names.has(name)
  const isSaid = (predicate: string) => wished.has(predicate) || still?.has(predicate) === true
  return {
    added: [...wished].filter(([predicate]) => !had.has(predicate)).map(([, one]) => one),
    gone: own.filter((one) => isSpokenOf(one) && !isSaid(predicateOf(one))),
  }
}
