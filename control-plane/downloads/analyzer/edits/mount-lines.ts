/** The lines that mount the middleware behind an application that has a name. */
import type { Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import { lineAt, startOf } from '../syntax/places.ts'
import { functionAround } from '../syntax/walk.ts'
import type { Insertion } from './changes.ts'
import type { FreeNames } from './free-names.ts'
import { indentAt, lineEndBehind } from './line-places.ts'
import type { MadeApplication } from './made-applications.ts'
import type { MountedFramework } from './mounted-frameworks.ts'
import type { Style } from './style.ts'

export function mountLine(
  source: Source,
  style: Style,
  { method, name, remark }: MountedFramework,
  hasTopLevelAwait: boolean,
  one: MadeApplication,
  { service }: FreeNames,
): string {
  const isAwaited = method === 'register' && canAwait(source, one.behind, hasTopLevelAwait)
  const call = `${one.receiver}.${method}(${service}.${name}())`
  return `${isAwaited ? 'await ' : ''}${call}${style.semicolon} // ${remark}`
}

function canAwait(source: Source, node: Node, hasTopLevelAwait: boolean): boolean {
  const around = functionAround(source.parents, node)
  if (around === null) return hasTopLevelAwait
  const isGenerator = 'generator' in around && around.generator === true
  return 'async' in around && around.async === true && !isGenerator
}

/** null: there is no line of their own for them. */
export function linesBehind(
  source: Source,
  style: Style,
  one: MadeApplication,
  lines: readonly string[],
): Insertion | null {
  const at = lineEndBehind(source, one.behindEnd)
  const indent = one.isFirstOfBlock
    ? indentInside(source, style, one.block)
    : indentAt(source, startOf(one.behind))
  if (at === null || indent === null) return null
  // a line that begins like this would go on where ours ends
  const isOpenEnded = style.semicolon === '' && /^[([`+\-/*,.]/.test(codeBehind(source, at))
  const text = lines.map((line, index) => {
    const isLast = index === lines.length - 1
    return `${style.lineBreak}${indent}${isLast && isOpenEnded ? line.replace(') //', '); //') : line}`
  })
  return { kind: 'statements', at, text: text.join('') }
}

/** The first character of code that follows, comments left out. */
function codeBehind(source: Source, offset: number): string {
  let at = offset
  for (;;) {
    at += /^\s*/.exec(source.text.slice(at))?.[0].length ?? 0
    const comment = source.comments.find(({ start }) => start === at)
    if (comment === undefined) return source.text.slice(at, at + 1)
    at = comment.end ?? at + 1
  }
}

function indentInside(source: Source, style: Style, block: Node): string | null {
  const first = block.type === 'BlockStatement' ? block.body[0] : undefined
  if (first && lineAt(source.text, startOf(first)) !== lineAt(source.text, startOf(block)))
    return indentAt(source, startOf(first))
  const parent = source.parents.get(block)
  const own = parent ? indentAt(source, startOf(parent)) : null
  return own === null ? null : own + style.step
}
