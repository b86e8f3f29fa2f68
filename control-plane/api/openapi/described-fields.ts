/** A schema as a person reads it: one line per field, what is inside of it with a path of its own. */
import { nameOf, type JsonSchema } from './schemas.ts'

export interface DescribedField {
  /** `checks[].status`. */
  readonly path: string
  readonly type: string
  /** Of the document: described on its own. */
  readonly named: string | undefined
  readonly isRequired: boolean
  readonly meaning: string
}

export function describedFields(schema: JsonSchema, prefix = ''): DescribedField[] {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return []
    const path = prefix + name
    const field = describe(value, path, required.has(name))
    return [field, ...inside(value, path)]
  })
}

function describe(schema: JsonSchema, path: string, isRequired: boolean): DescribedField {
  const meaning = [schema.description ?? '', meaningOfItems(schema), defaultOf(schema)]
    .filter((part) => part !== '')
    .join(' ')
  return { path, type: typeOf(schema), named: nameIn(schema), isRequired, meaning }
}

function inside(schema: JsonSchema, path: string): DescribedField[] {
  const items = itemsOf(schema)
  if (items !== undefined) return describedFields(items, `${path}[].`)
  const values = valuesOf(schema)
  return values === undefined ? describedFields(schema, `${path}.`) : inside(values, `${path}.*`)
}

/** `text`, `list of text`, `on or pass-through`: no word that only programmers know. */
export function typeOf(schema: JsonSchema): string {
  const named = nameOf(schema)
  if (named !== undefined) return named
  if (schema.anyOf !== undefined) return alternatives(schema.anyOf.map(anyTypeOf))
  if (schema.const !== undefined) return String(JSON.stringify(schema.const))
  if (schema.enum !== undefined) return alternatives(schema.enum.map(String))
  const items = itemsOf(schema)
  if (items !== undefined) return `list of ${typeOf(items)}`
  const values = valuesOf(schema)
  if (values !== undefined) return `map to ${typeOf(values)}`
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? 'time' : 'text'
    case 'integer':
      return 'whole number'
    case 'boolean':
      return 'true or false'
    case undefined:
      return 'anything'
    default:
      return String(schema.type)
  }
}

const anyTypeOf = (schema: JsonSchema | boolean) =>
  typeof schema === 'boolean' ? 'anything' : typeOf(schema)

function alternatives(types: readonly string[]): string {
  const [last = '', ...others] = [...types].reverse()
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
}

function itemsOf({ items }: JsonSchema): JsonSchema | undefined {
  return typeof items === 'object' && !Array.isArray(items) ? items : undefined
}

function valuesOf({ additionalProperties }: JsonSchema): JsonSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

function nameIn(schema: JsonSchema): string | undefined {
  const inner = itemsOf(schema) ?? valuesOf(schema)
  return nameOf(schema) ?? (inner === undefined ? undefined : nameOf(inner))
}

function meaningOfItems(schema: JsonSchema): string {
  return itemsOf(schema)?.description ?? ''
}

function defaultOf(schema: JsonSchema): string {
  return schema.default === undefined || schema.default === null
    ? ''
    : `Default: \`${JSON.stringify(schema.default)}\`.`
}
