/**
 * Groups that a connection reads elsewhere from now on: in another claim or attribute, or at another provider.
 * Where the new one is missing nobody would be taken out of them, so they are taken from everybody, some at
 * a time, before they are mapped anew; as with attributes (`reread-attributes.ts`).
 */
import type { MappedGroup } from '../store/connection-tables.ts'
import { connectedGroups } from '../store/queries/access.ts'
import {
  findConnection,
  updateConnection,
  type ConnectionRow,
} from '../store/queries/connections.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Store } from '../store/store.ts'
import { mappedIn, takeSome } from './unmapped-groups.ts'

export interface RereadGroups {
  readonly names: ReadonlySet<string>
  readonly wished: readonly MappedGroup[]
  /** As it is until nobody is in one of them by a word of before. */
  readonly meanwhile: MappedGroup[]
}

interface Read {
  readonly issuer: string
  /** The claim or attribute that names groups; null: none does. */
  readonly from: string | null
  readonly groups: readonly MappedGroup[]
}

/** undefined: nobody is in one that would have to go. */
export async function rereadGroupsBy(
  queries: Queries,
  tenantId: string,
  before: Read,
  { issuer, from, groups: wished }: Read,
): Promise<RereadGroups | undefined> {
  const isElsewhere = issuer !== before.issuer || from !== before.from
  const held = new Set(await connectedGroups(queries, tenantId))
  const were = new Set(before.groups.map(({ group }) => group))
  // what nobody mapped is what an interrupted change has left; what others alone map is theirs
  const others = (await mappedIn(queries, tenantId)).difference(were)
  const maybe = new Set(
    wished.map(({ group }) => group).filter((one) => isElsewhere || !were.has(one)),
  )
  const names = held.intersection(maybe).difference(others)
  if (names.size === 0) return undefined
  return { names, wished, meanwhile: wished.filter(({ group }) => !names.has(group)) }
}

/** `connection`: as the change has left it that maps them no more; `write`: where its mapping is. */
export async function mapGroupsAnew(
  store: Store,
  {
    tenantId,
    connectionId,
    updatedAt,
  }: Pick<ConnectionRow, 'tenantId' | 'connectionId' | 'updatedAt'>,
  { names, wished }: RereadGroups,
  write: (queries: Queries, groups: MappedGroup[]) => Promise<unknown>,
  actor: Actor,
): Promise<void> {
  for (const name of names)
    while (await store.change((change) => takeSome(change, tenantId, name, actor)));
  await store.change(async ({ queries, nowMs }) => {
    const now = await findConnection(queries, tenantId, connectionId)
    // whoever has changed it meanwhile has seen it without them
    if (now?.updatedAt !== updatedAt) return
    await write(queries, [...wished])
    await updateConnection(queries, tenantId, connectionId, { updatedAt: nowMs })
  })
}
