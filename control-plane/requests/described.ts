/** What fields of requests and answers alike are made of. */
import * as v from 'valibot'

/** As it is written; inside, times are epoch milliseconds. */
export const time = v.pipe(v.string(), v.isoTimestamp(), v.brand('time'))
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))

export const described = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description))
