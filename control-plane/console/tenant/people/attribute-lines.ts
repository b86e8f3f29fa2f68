/** Attributes as people type them: one per line, `department = audit`. Pure. */
import type { Attribute } from '../../../tenants/rule-predicates.ts'

/** A line that is none has a name that no schema takes. */
export const attributesIn = (text: string): readonly Attribute[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.indexOf('=')
      return { name: line.slice(0, Math.max(at, 0)).trim(), value: line.slice(at + 1).trim() }
    })

export const attributeLines = (attributes: readonly Attribute[]): string =>
  attributes.map(({ name, value }) => `${name} = ${value}`).join('\n')
