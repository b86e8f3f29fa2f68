/** `max_session_seconds` to the outside is `maxSessionSeconds` inside: one is made of the other. */
import type * as v from 'valibot'
import { time } from './described.ts'

type Inside<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Inside<Tail>>}`
  : Name
type Body = Readonly<Record<string, unknown>>

const insideName = (name: string) =>
  name.replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase())

/** What came in, under the names that the inside uses; without what was left out. */
export function fromOutside<Sent extends Body>(sent: Sent) {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [insideName(name), value])) as {
    [Name in keyof Sent & string as Inside<Name>]: Exclude<Sent[Name], undefined>
  }
}

type Written<Value> =
  Value extends v.Brand<'time'>
    ? number
    : Value extends readonly (infer Item)[]
      ? readonly Item[]
      : Value
type Source<Fields extends v.ObjectEntries> = {
  readonly [Name in keyof Fields & string as Inside<Name>]: Written<v.InferOutput<Fields[Name]>>
}
type View<Fields extends v.ObjectEntries> = {
  [Name in keyof Fields]: v.InferOutput<Fields[Name]>
}

/** Writes just the fields that an answer declares, each from what has its name inside. */
export function viewOf<Fields extends v.ObjectEntries>(answer: { readonly entries: Fields }) {
  const fields = Object.entries(answer.entries).map(([name, schema]) => ({
    name,
    inside: insideName(name),
    isTime: isTime(schema),
  }))
  return (source: Source<Fields>) =>
    Object.fromEntries(
      fields.map(({ name, inside, isTime }) => {
        const value = (source as Body)[inside]
        return [name, isTime && value !== null ? iso(value as number) : value]
      }),
    ) as View<Fields>
}

function isTime(schema: unknown): boolean {
  const { pipe = [], wrapped } = schema as { pipe?: readonly unknown[]; wrapped?: unknown }
  return schema === time || pipe.includes(time) || (wrapped !== undefined && isTime(wrapped))
}

export const iso = (ms: number) => new Date(ms).toISOString()
