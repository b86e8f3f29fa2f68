/**
 * Lists by key, not by offset: page 1,000 costs what page 1 costs, and a row that comes or goes
 * meanwhile shifts nothing. A cursor is opaque: the key of the last item that was answered.
 */
import { Refusal } from '../../shared/errors.ts'

export interface PageRequest {
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface Page<T> {
  readonly items: T[]
  readonly next: string | null
}

type CursorKey = readonly (string | number)[]

/** `rows` holds one more than was asked for when there is a next page. */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => CursorKey,
): Page<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const next = rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null
  return { items, next }
}

export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** `shape` says what the list's key is made of; a cursor of another list is refused. */
export function decodeCursor<Shape extends readonly ('string' | 'number')[]>(
  cursor: string | undefined,
  ...shape: Shape
): { -readonly [K in keyof Shape]: Shape[K] extends 'string' ? string : number } | undefined {
  if (cursor === undefined) return undefined
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const isOfShape =
      Array.isArray(key) &&
      key.length === shape.length &&
      shape.every((type, place) => isOf(type, key[place]))
    if (isOfShape) return key as never
  } catch {
    // not a cursor of ours: refused below
  }
  throw new Refusal('query_invalid', { field: 'cursor' })
}

/** Numbers are times and places in a row: others are none of ours, and one database refuses them. */
const isOf = (type: 'string' | 'number', value: unknown) =>
  type === 'number' ? Number.isSafeInteger(value) : typeof value === 'string'
