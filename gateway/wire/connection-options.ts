/** What Connection says: how long a connection lives, and which lines end with it. */
import { LIMITS } from '../../shared/limits.ts'
import { mayBeNominated } from './field-names.ts'
import { isToken, trimmed } from './grammar.ts'

/** The options of a Connection header, lower-cased; null where one is no token, or for too many. */
export function connectionOptions(value: string): Set<string> | null {
  if (value.length > LIMITS.connectionBytesMax) return null
  const options = new Set<string>()
  for (const element of value.split(',')) {
    // Not trim(): it would take NBSP and other obs-text away as well.
    const option = trimmed(element, 0, element.length).toLowerCase()
    if (option === '') continue
    if (!isToken(option)) return null
    options.add(option)
  }
  return options
}

const SPOKEN_OPTIONS = new Set(['close', 'keep-alive', 'upgrade', 'te'])

/** RFC 9110 section 7.6.1: what Connection names ends here, unless it is not the client's to end. */
export function withoutNominated(lines: string, options: ReadonlySet<string>): string {
  const nominated = new Set<string>()
  for (const option of options)
    if (!SPOKEN_OPTIONS.has(option) && mayBeNominated(option)) nominated.add(option)
  if (nominated.size === 0) return lines
  let kept = ''
  for (let at = 0; at < lines.length;) {
    const next = lines.indexOf('\r\n', at) + 2
    const name = lines.slice(at, lines.indexOf(':', at)).toLowerCase()
    if (!nominated.has(name)) kept += lines.slice(at, next)
    at = next
  }
  return kept
}
