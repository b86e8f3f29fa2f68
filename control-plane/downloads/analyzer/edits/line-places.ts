/** Where a line of ours can stand: behind a statement that ends its line, or before one that begins it. */
import type { Comment, Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import { startOf } from '../syntax/places.ts'

/** The end of the line at `offset`, if only blanks and whole comments follow there; else null. */
export function lineEndBehind(source: Source, offset: number): number | null {
  const { text, comments } = source
  for (let at = offset; ; at++) {
    const comment = comments.find(({ start }) => start === at)
    if (comment) {
      at = (comment.end ?? at + 1) - 1
    } else if (at >= text.length || text[at] === '\n') return at
    else if (text[at] === '\r' && text[at + 1] === '\n') return at
    else if (!/[ \t;]/.test(text[at] ?? '')) return null
  }
}

function lineStartAt({ text }: Pick<Source, 'text'>, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** What stands before `offset` on its line, if that is nothing but blanks; else null. */
export function indentAt(source: Source, offset: number): string | null {
  const before = source.text.slice(lineStartAt(source, offset), offset)
  return /^[ \t]*$/.test(before) ? before : null
}

/** The start of the line of `node`, or of the comments that stand right above and belong to it. */
export function lineStartWithComments(source: Source, node: Node): number {
  let start = lineStartAt(source, startOf(node))
  for (let comment = commentAbove(source, start); comment; comment = commentAbove(source, start)) {
    if (lineStartAt(source, comment.start ?? 0) === firstLine(source)) break
    start = lineStartAt(source, comment.start ?? 0)
  }
  return start
}

/** A comment that is alone on its lines and ends where the line at `start` begins. */
function commentAbove(source: Source, start: number): Comment | undefined {
  return source.comments.find(
    (comment) =>
      /^\r?\n$/.test(source.text.slice(comment.end ?? 0, start)) &&
      indentAt(source, comment.start ?? 0) !== null,
  )
}

/** What stands at the top of a file is about the file. */
function firstLine({ text }: Source): number {
  return text.startsWith('#!') ? text.indexOf('\n') + 1 : 0
}
