/** One row of a table: what code reads like, in which files, and what that means. */
import type { Confidence, Place } from '../application.ts'
import type { Clue } from '../assemble.ts'
import { within } from '../folders.ts'
import { firstHit, placeAt, type Source } from '../source/source.ts'
import type { ReadPart } from './part.ts'

export interface PlaceRule {
  /** Only in these files, by their path within the part. */
  readonly in?: RegExp
  /** Only in files that read like this somewhere as well. */
  readonly beside?: RegExp
  /** Files that read like this as well go first. */
  readonly first?: RegExp
  /** Nothing is asked of the code where it is not said: the file being there is enough. */
  readonly code?: RegExp
  /** Where to look in such a file, if it reads like this. */
  readonly at?: RegExp
  /** The path, if it is not said. */
  readonly value?: string
  readonly confidence: Confidence
  /** How sure it is if several files read like this. */
  readonly severally?: Confidence
  readonly detail: string
}

type Said = Clue<string> & { readonly at: Place; readonly source: Source }

type Read = Pick<ReadPart, 'folder' | 'sources'>

/** By the first rule that anything reads like, in the first file that does. */
export function firstSaid(part: Read, rules: readonly PlaceRule[]): Said | null {
  for (const { code = /^/, beside, first: rather, at, value, ...rule } of rules) {
    const saying = filesOf(part, rule.in).flatMap((source) => {
      if (beside !== undefined && firstHit(source, beside) === null) return []
      const hit = firstHit(source, code)
      return hit === null ? [] : [{ source, hit }]
    })
    const [first] = saying
    if (first === undefined) continue
    const { source, hit } =
      saying.find((one) => rather !== undefined && firstHit(one.source, rather) !== null) ?? first
    const place = placeAt(source, (at && firstHit(source, at)?.index) ?? hit.index)
    return {
      value: value ?? source.path,
      at: place,
      source,
      confidence: saying.length === 1 ? rule.confidence : (rule.severally ?? rule.confidence),
      detail: rule.detail,
    }
  }
  return null
}

export function filesOf({ folder, sources }: Read, inside: RegExp | undefined): readonly Source[] {
  return inside === undefined
    ? sources
    : sources.filter(({ path }) => inside.test(within(folder, path)))
}
