/**
 * What a person leaves open says so in the code, where it is reviewed with the rest:
 * `// service-analyzer-open: metrics, reached from inside only`, in the line above or behind it.
 */
import type { Comment, Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import { lineOf } from '../syntax/places.ts'
import { ancestorsOf } from '../syntax/walk.ts'

export const OPEN_MARK = 'service-analyzer-open'

/** With a letter or a digit in it: a mark without a reason opens nothing. */
const MARKED = new RegExp(String.raw`^[\s*]*${OPEN_MARK}:[ \t]*([^\r\n]*[\p{L}\p{N}][^\r\n]*)`, 'u')

/** Why this is left open; null: nobody says so. */
export function reasonToLeaveOpen(source: Source, node: Node): string | null {
  const line = lineOf(source, node)
  const statement = statementAround(source, node)
  const comments = [
    ...source.comments.filter(({ loc }) => loc?.start.line === line),
    ...commentsAbove(source, line),
    ...(statement === null ? [] : commentsAbove(source, lineOf(source, statement))),
  ]
  const [reason] = comments.flatMap(({ value }) => MARKED.exec(value)?.[1]?.trim() ?? [])
  return reason?.slice(0, REASON_CHARACTERS_MAX) ?? null
}

/** It is shown in one line with others, and reported. */
const REASON_CHARACTERS_MAX = 200

/** Up to the first line that has code: what stands behind code is said of that. */
function commentsAbove({ comments, text }: Source, line: number): Comment[] {
  const above: Comment[] = []
  let next = line - 1
  for (const comment of comments.toReversed()) {
    const isAlone = /(?:^|\n)[ \t]*$/.test(
      text.slice(Math.max(0, (comment.start ?? 0) - 200), comment.start),
    )
    if (comment.loc?.end.line !== next || !isAlone) continue
    above.push(comment)
    next = comment.loc.start.line - 1
  }
  return above
}

function statementAround(source: Source, node: Node): Node | null {
  for (const around of ancestorsOf(source.parents, node)) {
    if (STATEMENTS.test(around.type)) return around
    if (/Function|Method|^Class/.test(around.type)) return null
  }
  return null
}

const STATEMENTS =
  /^(?:VariableDeclaration|ExpressionStatement|ReturnStatement|Export(?:Named|Default)Declaration)$/
