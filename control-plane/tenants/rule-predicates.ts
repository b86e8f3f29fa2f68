/**
 * What rules ask of a person that a token answers by one bit each: a group by its name, an attribute
 * with its value by `attributeText`. Pure.
 */
import {
  attributeText,
  type AccessRule,
  type AttributeSlot,
  type EnforcedRules,
  type GroupSlot,
} from '../../shared/fleet/access-rules.ts'

export interface Attribute {
  readonly name: string
  readonly value: string
}

export const predicateOf = ({ name, value }: Attribute): string => attributeText(name, value)

/** undefined: it is a group. */
export function attributeIn(predicate: string): Attribute | undefined {
  const at = predicate.indexOf('=')
  return at < 0 ? undefined : { name: predicate.slice(0, at), value: predicate.slice(at + 1) }
}

export function predicatesIn(rules: readonly AccessRule[]): ReadonlySet<string> {
  return new Set(
    rules.flatMap(({ allow, deny = [] }) =>
      [...allow, ...deny].flatMap(({ group, not_group, attr = {} }) => [
        ...(group === undefined ? [] : [group]),
        ...(not_group === undefined ? [] : [not_group]),
        ...Object.entries(attr).map(([name, value]) => attributeText(name, value)),
      ]),
    ),
  )
}

/** As gateways are told of them. */
export function toldSlots(
  slots: readonly GroupSlot[],
): Pick<EnforcedRules, 'slots' | 'attribute_slots'> {
  const ofGroups: GroupSlot[] = []
  const ofAttributes: AttributeSlot[] = []
  for (const { slot, since, group } of slots) {
    const attribute = attributeIn(group)
    if (attribute === undefined) ofGroups.push({ slot, since, group })
    else ofAttributes.push({ slot, since, attribute: attribute.name, value: attribute.value })
  }
  return { slots: ofGroups, ...(ofAttributes.length > 0 && { attribute_slots: ofAttributes }) }
}
