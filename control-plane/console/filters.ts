/** How a list is narrowed down by its address: what is empty there is not chosen. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'

const SEARCH_WISH = `at most ${LIMITS.consoleSearchCharactersMax} characters`

export const searched = v.pipe(
  v.optional(v.string(), ''),
  v.maxLength(LIMITS.consoleSearchCharactersMax, SEARCH_WISH),
  v.transform((text) => text.trim()),
)

export const chosen = <const Options extends readonly string[]>(
  options: Options,
  wish = `one of ${options.join(', ')}`,
) =>
  v.pipe(
    v.optional(v.string(), ''),
    v.transform((value) => (value === '' ? undefined : value)),
    v.optional(v.picklist(options, wish)),
  )
