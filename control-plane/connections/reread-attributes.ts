/**
 * Attributes that a connection reads elsewhere from now on: in another claim, or at another provider.
 * What was read before says nothing any more, and a claim that is missing would leave it for good. So it
 * is taken from everybody, some at a time, before it is mapped anew; whoever is interrupted meanwhile
 * finds those attributes unmapped, and maps them again. Of several connections that map the same
 * attribute nobody knows which has given a value: it goes, and comes back with their next sign-in.
 */
import type { MappedAttribute } from '../store/connection-tables.ts'
import { attributeNamesBy } from '../store/queries/attributes.ts'
import {
  findConnection,
  updateConnection,
  type ConnectionRow,
} from '../store/queries/connections.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Store } from '../store/store.ts'
import { mappedIn, takeSomeAttributes } from './mapped-attributes.ts'

export interface Reread {
  readonly names: ReadonlySet<string>
  readonly wished: readonly MappedAttribute[]
  /** As it is until nobody has a value of before any more. */
  readonly meanwhile: MappedAttribute[]
}

type Wished = Partial<Pick<ConnectionRow, 'issuer' | 'attributes'>>

/** undefined: nobody has anything that would have to go. */
export async function rereadBy(
  queries: Queries,
  before: ConnectionRow,
  { issuer = before.issuer, attributes: wished = before.attributes }: Wished,
): Promise<Reread | undefined> {
  const isElsewhere = (name: string) =>
    issuer !== before.issuer || claimsOf(before.attributes, name) !== claimsOf(wished, name)
  const maybe = wished.map(({ attribute }) => attribute).filter(isElsewhere)
  if (maybe.length === 0) return undefined
  const held = new Set(await attributeNamesBy(queries, before.tenantId, 'connection'))
  const were = new Set(before.attributes.map(({ attribute }) => attribute))
  // what nobody mapped is what an interrupted change has left; what others alone map is theirs
  const others = (await mappedIn(queries, before.tenantId)).difference(were)
  const names = held.intersection(new Set(maybe)).difference(others)
  if (names.size === 0) return undefined
  return { names, wished, meanwhile: wished.filter(({ attribute }) => !names.has(attribute)) }
}

const claimsOf = (mapping: readonly MappedAttribute[], name: string) =>
  JSON.stringify(mapping.filter(({ attribute }) => attribute === name).map(({ claim }) => claim))

/** `connection`: as the change has left it that maps them no more. */
export async function mapAnew(
  store: Store,
  {
    tenantId,
    connectionId,
    updatedAt,
  }: Pick<ConnectionRow, 'tenantId' | 'connectionId' | 'updatedAt'>,
  { names, wished }: Reread,
  actor: Actor,
): Promise<void> {
  for (const name of names)
    while (await store.change((change) => takeSomeAttributes(change, tenantId, name, actor)));
  await store.change(async ({ queries, nowMs }) => {
    const now = await findConnection(queries, tenantId, connectionId)
    // whoever has changed it meanwhile has seen it without them
    if (now?.updatedAt !== updatedAt) return
    const changes = { attributes: [...wished], updatedAt: nowMs }
    await updateConnection(queries, tenantId, connectionId, changes)
  })
}
