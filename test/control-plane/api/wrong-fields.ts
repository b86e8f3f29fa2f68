/** From a schema and a body that it takes: bodies with one field wrong, or without one. */
import type { JsonSchema } from '../../../control-plane/api/openapi/schemas.ts'

type Body = Readonly<Record<string, unknown>>

export interface WrongBody {
  readonly name: string
  readonly body: Body
  /** The one that the answer has to name: the outermost. */
  readonly field: string
}

const NUMBER = 987_654_321_987
const TEXT = 'sent-by-mistake'

/** One of each type of JSON. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  null: null,
  boolean: true,
  number: NUMBER,
  string: TEXT,
  array: [],
  object: {},
}

export function wrongFields(schema: JsonSchema, good: Body): readonly WrongBody[] {
  return properties(schema).flatMap(([field, wanted]) =>
    wrongValues(wanted, good[field]).map((value) => ({
      name: `${field} = ${String(JSON.stringify(value)).slice(0, 60)}`,
      body: { ...good, [field]: value },
      field,
    })),
  )
}

export function missingFields(schema: JsonSchema, good: Body): readonly WrongBody[] {
  const outer = (schema.required ?? []).map((field) => ({
    name: `without ${field}`,
    body: without(good, field),
    field,
  }))
  const inner = properties(schema).flatMap(([field, wanted]) =>
    isBody(good[field])
      ? missingFields(wanted, good[field]).map(({ name, body }) => ({
          name: `${name} in ${field}`,
          body: { ...good, [field]: body },
          field,
        }))
      : [],
  )
  return [...outer, ...inner]
}

function wrongValues(schema: JsonSchema, good: unknown): readonly unknown[] {
  const types = typesOf(schema)
  if (types.size === 0) return [] // anything goes
  const { minimum, maximum, maxItems, maxLength } = schema
  const isFixed = schema.enum !== undefined || schema.const !== undefined
  return [
    ...Object.entries(SAMPLES)
      .filter(([type]) => !types.has(type))
      .map(([, value]) => value),
    ...(isFixed ? [TEXT, '', false] : []),
    ...(types.has('string') ? ['half a \ud800', 'a \u0000', 'a \u001b[2J'] : []),
    ...(types.has('integer') ? [1.5, '1', -1] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(maxItems === undefined
      ? []
      : [Array(maxItems + 1).fill(Array.isArray(good) ? good[0] : 'x')]),
    ...insideOf(schema, good),
  ]
}

function insideOf(schema: JsonSchema, good: unknown): readonly unknown[] {
  if (isBody(good) && schema.properties !== undefined)
    return [
      ...wrongFields(schema, good).map(({ body }) => body),
      ...(schema.additionalProperties === false ? [{ ...good, colour: TEXT }] : []),
    ]
  const { items } = schema
  if (typeof items !== 'object' || Array.isArray(items)) return []
  const [first] = Array.isArray(good) ? (good as unknown[]) : []
  return wrongValues(items, first).map((value) => [value])
}

function typesOf(schema: JsonSchema): ReadonlySet<string> {
  const { type, anyOf, const: only } = schema
  if (anyOf !== undefined) return new Set(anyOf.flatMap((one) => [...typesOf(one as JsonSchema)]))
  if (only !== undefined) return new Set([typeof only])
  const types = new Set<string>(type === undefined ? [] : [type].flat())
  if (types.has('integer')) types.add('number') // what is wrong about a number is told by bounds
  return types
}

function properties(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries(schema.properties ?? {}).filter(
    (entry): entry is [string, JsonSchema] => typeof entry[1] === 'object',
  )
}

function without(body: Body, field: string): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
