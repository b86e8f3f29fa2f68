/** One change to a set of access rules, as a page of the console makes it. Pure. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import {
  AccessRuleSchema,
  AccessRulesSchema,
  ContactSchema,
  type AccessRules,
} from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'

const place = v.pipe(
  v.number(),
  v.safeInteger(),
  v.minValue(0),
  v.maxValue(LIMITS.rulesPerTenantMax - 1),
)

export const RuleEditSchema = v.variant('kind', [
  /** Without `at` it is a new one, the last. */
  v.strictObject({ kind: v.literal('put'), at: v.optional(place), rule: AccessRuleSchema }),
  v.strictObject({ kind: v.literal('remove'), at: place }),
  v.strictObject({ kind: v.literal('move'), at: place, to: v.picklist(['up', 'down']) }),
  /** Without entries the network goes. */
  v.strictObject({
    kind: v.literal('network'),
    name: v.string(),
    entries: v.optional(v.array(v.string())),
  }),
  v.strictObject({ kind: v.literal('contact'), contact: v.optional(ContactSchema) }),
  v.strictObject({ kind: v.literal('all'), content: AccessRulesSchema }),
])
export type RuleEdit = v.InferOutput<typeof RuleEditSchema>

/** Refuses what names a rule that is not there. */
export function applyEdit(content: AccessRules, edit: RuleEdit): AccessRules {
  const rules = [...content.rules]
  switch (edit.kind) {
    case 'put':
      if (edit.at === undefined) rules.push(edit.rule)
      else rules.splice(placeOf(content, edit.at), 1, edit.rule)
      return { ...content, rules }
    case 'remove':
      rules.splice(placeOf(content, edit.at), 1)
      return { ...content, rules }
    case 'move': {
      const at = placeOf(content, edit.at)
      const [moved] = rules.splice(at, 1)
      rules.splice(Math.max(0, at + (edit.to === 'up' ? -1 : 1)), 0, moved!)
      return { ...content, rules }
    }
    case 'network': {
      const { [edit.name]: _before, ...others } = content.networks ?? {}
      const networks =
        edit.entries === undefined ? others : { ...others, [edit.name]: edit.entries }
      const { networks: _all, ...rest } = content
      return Object.keys(networks).length === 0 ? rest : { ...rest, networks }
    }
    case 'contact': {
      const { contact: _before, ...rest } = content
      return edit.contact === undefined ? rest : { ...rest, contact: edit.contact }
    }
    case 'all':
      return edit.content
  }
}

function placeOf({ rules }: AccessRules, at: number): number {
  if (rules[at] === undefined) throw new Refusal('access_rules_changed')
  return at
}
