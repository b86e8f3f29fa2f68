/** What reaches a function that is called back: by the one that it is given to, or by a promise. */
import type { Identifier, Node } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import { moduleOfCall } from '../../syntax/imports.ts'
import type { Source } from '../../syntax/parse.ts'
import { bare } from '../../syntax/references.ts'
import { isFunction } from '../../syntax/walk.ts'
import type { Spot } from './codebase.ts'
import { indexOf } from './reach-index.ts'

export interface Step extends Spot {
  /** Of what the node stands for, from the outermost on. */
  readonly members: readonly string[]
}

/** What is called by the name of a parameter is given this: `callback(null, app)`. */
export function givenTo(
  source: Source,
  parameter: Identifier,
  index: number,
  members: readonly string[],
): Step[] {
  return (indexOf(source).calls.get(parameter.name) ?? []).flatMap((call) => {
    const given = call.arguments[index]
    const isIts =
      call.callee.type === 'Identifier' && source.bindings.resolve(call.callee)?.node === parameter
    return isIts && given ? [{ source, node: given, members }] : []
  })
}

/** Where a parameter is itself given to a function: `boot(callback)`. */
export function passedOn(source: Source, parameter: Identifier): Identifier[] {
  return (indexOf(source).passed.get(parameter.name) ?? []).filter(
    (one) => source.bindings.resolve(one)?.node === parameter,
  )
}

/** `new Promise((resolve) => … resolve(app))`; null: something else is made. */
export function resolvedBy({ source, node, members }: Step): Step[] | null {
  if (node.type !== 'NewExpression' || keyOf(node.callee) !== 'Promise') return null
  const [executor] = node.arguments
  if (!executor || !isFunction(executor) || !('params' in executor)) return null
  const [resolve] = executor.params
  return resolve?.type === 'Identifier' ? givenTo(source, resolve, 0, members) : null
}

/** The module of `import('./app.js').then(…)`. */
export function awaitedBy(
  source: Source,
  { callee }: Node & { type: 'CallExpression' },
): string | null {
  if (callee.type !== 'MemberExpression' || keyOf(callee.property) !== 'then') return null
  return moduleOfCall(source, bare(callee.object))?.module ?? null
}

/** The function of `promise.then(function)`, of which the whole is what that returns. */
export function thenOf(call: Node): Node | null {
  const called = methodCall(call)
  return called?.name === 'then' ? (called.given[0] ?? null) : null
}
