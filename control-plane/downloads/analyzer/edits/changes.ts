/** Changes of a source file that only ever add: every character that was there stays where it was. */

/**
 * Whole statements, with the line breaks and the indentation that put them on lines of their own; or
 * `.use(…)` behind an expression.
 */
export interface Insertion {
  readonly kind: 'statements' | 'chaining'
  readonly at: number
  readonly text: string
}

/** `callee(` in front of an expression, `)` behind it. */
interface Wrapping {
  readonly kind: 'wrapping'
  readonly start: number
  readonly end: number
  readonly callee: string
}

export type Change = Insertion | Wrapping

export interface Changed {
  readonly text: string
  /** Where what was added stands in `text`, in order. */
  readonly added: readonly { readonly start: number; readonly end: number }[]
}

export function withChanges(text: string, changes: readonly Change[]): Changed {
  const pieces = changes.flatMap((change) => piecesOf(text, change)).sort((a, b) => a.at - b.at)
  const added: { start: number; end: number }[] = []
  let after = ''
  let from = 0
  for (const piece of pieces) {
    const before = after + text.slice(from, piece.at)
    after = before + piece.text
    added.push({ start: before.length, end: after.length })
    from = piece.at
  }
  return { text: after + text.slice(from), added }
}

/** A line behind another ends as that one does: the line end that was there becomes its own. */
const LINE_END = /\r?\n/g

function piecesOf(text: string, change: Change) {
  if (change.kind !== 'wrapping') {
    const [end] = /^\r?\n/.exec(text.slice(change.at, change.at + 2)) ?? []
    if (end === undefined || !/^\r?\n/.test(change.text)) return [change]
    return [{ at: change.at, text: change.text.replace(LINE_END, end) }]
  }
  return [
    { at: change.start, text: `${change.callee}(` },
    { at: change.end, text: ')' },
  ]
}

/** Where it begins in the text as it was. */
export const placeOf = (change: Change): number =>
  change.kind === 'wrapping' ? change.start : change.at
