/**
 * Names of statements: what has one is parsed once in each session of the server, and planned once for
 * any values where that is as good. Nearly all texts stand in the code; what differs by the length of
 * a list takes no place of theirs, since only what is asked again gets a name.
 */

/** So many are kept in each session: some ten kilobytes each at the server. */
const NAMED_MAX = 400
const SEEN_MAX = 1000
/** Lists of any length make them long; they are written by hand to a hundred lines at most. */
const TEXT_CHARS_MAX = 4000

/** Made while a table was small, a plan would stay when it has grown: it is made anew so often. */
export const PLANS_KEPT_MS = 5000

export function createNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const seen = new Set<string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size === NAMED_MAX || text.length > TEXT_CHARS_MAX)
      return known
    if (!seen.delete(text)) {
      if (seen.size === SEEN_MAX) seen.clear()
      seen.add(text)
      return undefined
    }
    const name = `s${names.size}`
    names.set(text, name)
    return name
  }
}

/** The session has lost what it kept, or the tables are no longer what they were. */
const OUTDATED = new Set(['26000', '0A000'])

export const isOutdated = (state: string) => OUTDATED.has(state)
