/** Which groups here somebody is in by the values that a provider says, and in which they are not. Pure. */
import type { MappedGroup } from '../store/connection-tables.ts'

export interface MappedGroups {
  readonly isIn: readonly string[]
  readonly isNotIn: readonly string[]
}

export function groupsAmong(
  mapping: readonly MappedGroup[],
  values: readonly unknown[],
): MappedGroups {
  const isIn = new Set(mapping.filter(({ value }) => values.includes(value)).map(nameOf))
  const all = new Set(mapping.map(nameOf))
  return { isIn: [...isIn], isNotIn: [...all.difference(isIn)] }
}

const nameOf = ({ group }: MappedGroup) => group
