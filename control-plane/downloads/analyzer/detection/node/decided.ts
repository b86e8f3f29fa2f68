/** Which way a test in the code goes. */
import type { Node } from '@babel/types'
import { bare } from '../../syntax/references.ts'
import { isOfEnvironment, type Outcome, type Value } from './outcomes.ts'

/** Where nobody tells anything: what the test comes to; null: that cannot be known. */
export function decided(test: Node, evaluate: (node: Node) => Outcome[]): boolean | null {
  const node = bare(test)
  const inner = (node: Node) => decided(node, evaluate)
  if (node.type === 'UnaryExpression' && node.operator === '!') {
    const is = inner(node.argument)
    return is === null ? null : !is
  }
  if (node.type === 'LogicalExpression' && node.operator !== '??') {
    const [left, right] = [inner(node.left), inner(node.right)]
    const ends = node.operator === '||'
    return left === ends || right === ends ? ends : left === null || right === null ? null : !ends
  }
  if (node.type === 'BinaryExpression' && /^[!=]==?$/.test(node.operator)) {
    const [left, right] = [known(node.left), known(node.right)]
    if (left === null || right === null) return null
    return (left.value === right.value) === node.operator.startsWith('=')
  }
  const is = known(node)
  return is === null ? null : Boolean(is.value)

  function known(one: Node): { readonly value: Value | undefined } | null {
    if (one.type === 'UnaryExpression' && one.operator === 'typeof') {
      const of = known(one.argument)
      return of && { value: typeof of.value }
    }
    if (one.type === 'NullLiteral') return { value: undefined }
    if (one.type === 'Identifier' && one.name === 'undefined') return { value: undefined }
    const found = evaluate(one)
    if (found.length === 0) return null
    const [said, more] = found.filter((outcome) => !isOfEnvironment(outcome))
    if (said === undefined) return { value: undefined }
    return said.value === null || more !== undefined ? null : { value: said.value }
  }
}
