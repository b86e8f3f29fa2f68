/** `?limit=&cursor=` of every list. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import type { Page } from '../store/page.ts'

const LIMIT_WISH = `a whole number from 1 to ${LIMITS.pageItemsMax}`
const CURSOR_WISH = 'the "next" value of the previous page'

export const PAGE_QUERY = {
  limit: v.pipe(
    v.optional(v.string(), String(LIMITS.pageItemsDefault)),
    v.regex(/^\d{1,4}$/, LIMIT_WISH),
    v.transform(Number),
    v.number(),
    v.integer(LIMIT_WISH),
    v.minValue(1, LIMIT_WISH),
    v.maxValue(LIMITS.pageItemsMax, LIMIT_WISH),
    v.description(`Maximum number of items; ${LIMITS.pageItemsDefault} by default.`),
  ),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1, CURSOR_WISH),
      v.maxLength(LIMITS.cursorCharactersMax, CURSOR_WISH),
      v.description('Where to continue: the `next` value of the previous page.'),
    ),
  ),
} as const

export function mapPage<From, To>(page: Page<From>, write: (item: From) => To): Page<To> {
  return { items: page.items.map(write), next: page.next }
}

/** What a list answers with. */
export function pageOf<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({
    items: v.array(item),
    next: v.pipe(
      v.nullable(v.string()),
      v.description('The `cursor` of the next page; null on the last page.'),
    ),
  })
}
