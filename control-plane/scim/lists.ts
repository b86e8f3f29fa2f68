/** Which page of a list is asked for, and what of each: RFC 7644, sections 3.4.2 and 3.9. */
import { LIMITS } from '../../shared/limits.ts'
import type { Asked } from './asked.ts'
import { readFilter, type Term } from './attribute-paths.ts'
import type { Shape } from './resources.ts'
import { invalid } from './scim-error.ts'

/** Below 1 means 1, and below 0 means 0: the standard says so. */
export function pageAsked({ query }: Asked) {
  const startIndex = Math.max(1, wholeOf('startIndex', query('startIndex'), 1))
  if (startIndex > LIMITS.scimStartIndexMax)
    throw invalid('startIndex', `at most ${LIMITS.scimStartIndexMax}`)
  const count = Math.max(0, wholeOf('count', query('count'), LIMITS.scimPageItemsDefault))
  return { startIndex, offset: startIndex - 1, limit: Math.min(count, LIMITS.scimPageItemsMax) }
}

function wholeOf(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined || text === '') return otherwise
  if (!/^-?\d{1,15}$/.test(text)) throw invalid(name, 'a whole number')
  return Number(text)
}

export function termsAsked({ query }: Asked): readonly Term[] {
  const filter = query('filter')
  return filter === undefined || filter.trim() === '' ? [] : readFilter(filter)
}

export function shapeAsked({ query }: Asked): Shape {
  const names = (text = '') =>
    new Set(
      text
        .slice(0, LIMITS.scimPathCharactersMax)
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter((name) => name !== '')
        .map((name) => (name.startsWith('urn:') ? name : (name.split('.')[0] ?? ''))),
    )
  const only = query('attributes')
  return {
    only: only === undefined ? undefined : names(only),
    without: names(query('excludedAttributes')),
  }
}
