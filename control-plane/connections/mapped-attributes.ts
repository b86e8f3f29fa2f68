/**
 * What a provider says of a person that rules can ask for, as far as their connection maps it. A claim
 * that is missing says nothing, and changes nothing; an empty one takes the attribute away. Pure but for
 * what takes attributes.
 */
import { isAttributeValue } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { MappedAttribute } from '../store/connection-tables.ts'
import type { Queries } from '../store/engine.ts'
import { attributeNamesBy, someWithAttribute } from '../store/queries/attributes.ts'
import { connectionsOf } from '../store/queries/connections.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { takeAttributeIn, type Said } from '../tenants/person-attributes.ts'
import { predicateOf } from '../tenants/rule-predicates.ts'

export function mappedAttributes(
  mapping: readonly MappedAttribute[],
  claims: Readonly<Record<string, unknown>>,
): Said {
  const names = new Set<string>()
  const still = new Set<string>()
  let given = 0
  const attributes = mapping.flatMap(({ attribute: name, claim }) => {
    // `__proto__` and `constructor` are claims like any other, if somebody sends them
    const values = Object.hasOwn(claims, claim) ? valuesOf(claims[claim]) : undefined
    if (values === undefined) return []
    names.add(name)
    const all = [...values].map((value) => ({ name, value }))
    const isFew = all.length <= LIMITS.attributeValuesMax
    if (isFew && given + all.length <= LIMITS.attributesPerPersonMax) {
      given += all.length
      return all
    }
    // too many to keep, and still the word on what somebody is no more
    for (const one of all) still.add(predicateOf(one))
    return []
  })
  return { attributes, names, still }
}

/** undefined: it says nothing that can be told from nothing. */
function valuesOf(claim: unknown): ReadonlySet<string> | undefined {
  if (claim === undefined) return undefined
  const all: readonly unknown[] = claim === null ? [] : Array.isArray(claim) ? claim : [claim]
  const texts = all.flatMap((one) => {
    const isPlain = typeof one === 'number' || typeof one === 'boolean'
    return isPlain ? String(one) : typeof one === 'string' ? one.trim() : []
  })
  return new Set(texts.filter(isAttributeValue))
}

const AT_ONCE = 100

/**
 * Whoever has an attribute by a connection has it no longer once none maps it: no sign-in would take it
 * away, and no administrator can. Also what a process that ended has left.
 */
export async function takeUnmappedAttributes(
  store: Store,
  tenantId: string,
  actor: Actor,
): Promise<void> {
  const held = new Set(await attributeNamesBy(store.read, tenantId, 'connection'))
  if (held.size === 0) return
  for (const name of held.difference(await mappedIn(store.read, tenantId)))
    while (
      await store.change(async (change) => {
        const isMapped = (await mappedIn(change.queries, tenantId)).has(name)
        return !isMapped && takeSomeAttributes(change, tenantId, name, actor)
      })
    );
}

export async function mappedIn(queries: Queries, tenantId: string): Promise<ReadonlySet<string>> {
  const all = await connectionsOf(queries, tenantId)
  return new Set(all.flatMap(({ attributes }) => attributes.map(({ attribute }) => attribute)))
}

/** False: nobody has had it by a connection any more. */
export async function takeSomeAttributes(
  change: Change,
  tenantId: string,
  name: string,
  actor: Actor,
): Promise<boolean> {
  const source = 'connection'
  const userIds = await someWithAttribute(change.queries, { tenantId, name, source }, AT_ONCE)
  if (userIds.length === 0) return false
  await takeAttributeIn(change, { tenantId, name, source }, userIds, actor)
  // who comes behind the last ones has it anew: whoever waited for nobody to have it might wait for ever
  return userIds.length === AT_ONCE
}
