/** A request's query: each parameter once, and what the endpoint takes. What it does not know is ignored. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import type { ApiContext } from './context.ts'

/** From text as it comes; a message completes «"name" must be …». */
export type QueryFields = Readonly<Record<string, v.GenericSchema<string | undefined, unknown>>>

export type QueryValues<Fields extends QueryFields> = {
  readonly [Name in keyof Fields]: v.InferOutput<Fields[Name]>
}

export function readQuery<Fields extends QueryFields>(
  c: ApiContext,
  fields: Fields,
): QueryValues<Fields> {
  const values = Object.entries(fields).map(([name, schema]) => [name, read(c, name, schema)])
  return Object.fromEntries(values) as QueryValues<Fields>
}

/**
 * A parameter that is given twice has no single meaning. A schema with a fallback says what whatever
 * is wrong is taken for, where nobody is told what is wrong with it.
 */
function read(c: ApiContext, name: string, schema: QueryFields[string]): unknown {
  const [value, ...others] = c.req.queries(name) ?? []
  const isReadable = others.length === 0 && value?.includes('\0') !== true
  if (!isReadable && 'fallback' in schema) return v.getFallback(schema)
  if (others.length > 0)
    throw new Refusal(
      'query_invalid',
      { field: name },
      `"${name}" appears more than once. Send it once.`,
    )
  // one database would find nothing by it, and the other cannot be asked
  if (value?.includes('\0') === true)
    throw new Refusal('query_invalid', { field: name }, `"${name}" must be text without NUL (%00).`)
  const result = v.safeParse(schema, value, { abortEarly: true })
  if (result.success) return result.output
  const wish = result.issues[0].message
  throw new Refusal('query_invalid', { field: name }, `"${name}" must be ${wish}.`)
}
