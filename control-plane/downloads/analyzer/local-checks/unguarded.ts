/** What a person leaves open on purpose, as checks tell it. */
import { OPEN_MARK } from '../edits/open-on-purpose.ts'

export const OR_LEAVE_OPEN = `If it is meant to be open, say why in the line above: // ${OPEN_MARK}: the reason`

interface Place {
  readonly path: string
  readonly line: number | null
  readonly reason: string | null
}

/** Said each time: what was right once need not stay so. The end of a detail. */
export function unguardedOnPurpose(places: readonly Place[]): string {
  return places
    .filter(({ reason }) => reason !== null)
    .map(({ path, line, reason }) => ` Open on purpose: ${path}:${line ?? 1} (${reason ?? ''}).`)
    .join('')
}
