/** Which value at a provider is which group here, as lines of a form. */
import * as v from 'valibot'
import type { MappedGroup } from '../../../store/connection-tables.ts'
import { linesField, type Attempt } from '../../../pages/blocks/field.ts'
import type { Html } from '../../../pages/html.ts'
import { mappedGroups } from '../../../requests/connection-fields.ts'

const GROUP_LINES = 'one group per line, as VALUE = GROUP'

/** A value may hold commas and equals signs, as names of directories do: the last one counts. */
export const groupLines = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const lines = dataset.value.split('\n').filter((line) => line.trim() !== '')
    const read = lines.map((line) => {
      const at = line.lastIndexOf('=')
      return { value: line.slice(0, at).trim(), group: line.slice(at + 1).trim(), isWhole: at > 0 }
    })
    if (read.every(({ isWhole }) => isWhole))
      return read.map(({ value, group }) => ({ value, group }))
    addIssue({ message: GROUP_LINES })
    return NEVER
  }),
  mappedGroups,
)

export const groupsField = (
  known: { readonly groups: readonly MappedGroup[] } | undefined,
  attempt?: Attempt,
): Html =>
  linesField({
    name: 'groups',
    label: 'Groups',
    hint: 'One per line: the value at the provider, an equals sign, and the group here. For example: Finance Team = finance. Other values are ignored.',
    isOptional: true,
    value: known?.groups.map(({ value, group }) => `${value} = ${group}`).join('\n'),
    attempt,
  })

/** What comes of groups at sign-ins, in a word. */
export function groupsText(from: string | null, groups: readonly MappedGroup[]): string {
  if (from === null) return 'managed here'
  const rows = groups.map(({ value, group }) => `${value} → ${group}`)
  return `${from}: ${rows.join(', ') || 'none mapped yet'}`
}
