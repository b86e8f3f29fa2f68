/** Applications that others carry: what is mounted on their carrier stands before them too. */
import type { Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import { ancestorsOf } from '../syntax/walk.ts'
import type { Making } from './made-applications.ts'

const CARRIES: ReadonlySet<string> = new Set(['use', 'route', 'mount', 'register'])

/** `app.use('/admin', admin)`, where both are made in this file. */
export function isPartOfAnother(source: Source, call: Node, all: readonly Making[]): boolean {
  if (isHandedOn(source, call)) return all.length > 1
  const own = all.find((making) => making.call === call)
  const name = own && 'made' in own ? own.made.name : null
  if (name?.type !== 'Identifier') return false
  const binding = source.bindings.resolve(name)
  const others = all.flatMap((making) =>
    'made' in making && making.call !== call ? [making.made.receiver] : [],
  )
  return source.nodes.some((node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
    const { object, property } = node.callee
    if (property.type !== 'Identifier' || !CARRIES.has(property.name)) return false
    if (object.type !== 'Identifier' || !others.includes(object.name)) return false
    if (object.name === name.name) return false
    return node.arguments.some(
      (argument) => argument.type === 'Identifier' && source.bindings.resolve(argument) === binding,
    )
  })
}

/** `app.use('/admin', express().get(…))` */
function isHandedOn(source: Source, call: Node): boolean {
  let node = call
  for (const around of ancestorsOf(source.parents, call)) {
    if (around.type === 'CallExpression' && around.callee !== node) {
      const { callee } = around
      const name = callee.type === 'MemberExpression' ? callee.property : callee
      return name.type === 'Identifier' && CARRIES.has(name.name)
    }
    if (around.type !== 'CallExpression' && around.type !== 'MemberExpression') return false
    node = around
  }
  return false
}
