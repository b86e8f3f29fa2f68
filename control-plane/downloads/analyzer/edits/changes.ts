/** Changes of a source file that only ever add: every character that was there stays where it was. */
import MagicString from 'magic-string'

/** Whole statements, with the line breaks and the indentation that put them on lines of their own. */
export interface AddedStatements {
  readonly kind: 'statements'
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

/** `.use(…)` behind an expression. */
interface Chaining {
  readonly kind: 'chaining'
  readonly at: number
  readonly text: string
}

export type Change = AddedStatements | Wrapping | Chaining

export interface Changed {
  readonly text: string
  /** Where what was added stands in `text`, in order. */
  readonly added: readonly { readonly start: number; readonly end: number }[]
}

interface Piece {
  readonly at: number
  readonly text: string
}

export function withChanges(text: string, changes: readonly Change[]): Changed {
  const pieces = changes.flatMap(piecesOf).sort((a, b) => a.at - b.at)
  const string = new MagicString(text)
  const added: { start: number; end: number }[] = []
  let shift = 0
  for (const piece of pieces) {
    string.appendLeft(piece.at, piece.text)
    const start = piece.at + shift
    shift += piece.text.length
    added.push({ start, end: start + piece.text.length })
  }
  return { text: string.toString(), added }
}

function piecesOf(change: Change): Piece[] {
  if (change.kind !== 'wrapping') return [change]
  return [
    { at: change.start, text: `${change.callee}(` },
    { at: change.end, text: ')' },
  ]
}

/** Where it begins in the text as it was. */
export const placeOf = (change: Change): number =>
  change.kind === 'wrapping' ? change.start : change.at
