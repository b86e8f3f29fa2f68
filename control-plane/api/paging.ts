/** `?limit=&cursor=` of every list. */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Page, PageRequest } from '../store/page.ts'
import type { ApiContext } from './api-env.ts'

export function pageRequestOf(c: ApiContext): PageRequest {
  const limit = single(c, 'limit')
  const cursor = single(c, 'cursor')
  if (limit !== undefined && !(/^\d{1,4}$/.test(limit) && isPageSize(Number(limit))))
    throw new Refusal(
      'query_invalid',
      { field: 'limit' },
      `"limit" must be a whole number from 1 to ${LIMITS.pageItemsMax}.`,
    )
  if (cursor !== undefined && cursor.length > LIMITS.cursorCharactersMax)
    throw new Refusal('query_invalid', { field: 'cursor' })
  return { limit: limit === undefined ? LIMITS.pageItemsDefault : Number(limit), cursor }
}

export function mapPage<From, To>(page: Page<From>, write: (item: From) => To): Page<To> {
  return { items: page.items.map(write), next: page.next }
}

/** A parameter that is given twice has no single meaning. */
export function single(c: ApiContext, name: string): string | undefined {
  const values = c.req.queries(name) ?? []
  if (values.length > 1) throw new Refusal('query_invalid', { field: name })
  return values[0]
}

function isPageSize(limit: number): boolean {
  return limit >= 1 && limit <= LIMITS.pageItemsMax
}
