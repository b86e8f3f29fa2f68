/** What a name of a loop stands for: each element of a list, and which part of it. */
import type { Node } from '@babel/types'
import { keyOf, methodCall, namesOf, type Binding } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'

/** As a member: every element of a list, every value of an object. */
export const EACH = '*'

interface Looped {
  /** What is gone through. */
  readonly list: Node
  /** Of each element. */
  readonly members: readonly string[]
}

/** `for (const route of routes)`, `routes.forEach((route) => …)`, `({ path, router }) =>`. */
export function loopedOver(source: Source, binding: Binding): Looped | null {
  const { node, name } = binding
  const list =
    binding.kind === 'parameter' ? listOfCallback(source, node) : listOfStatement(source, node)
  if (list === null) return null
  const pattern = node.type === 'VariableDeclarator' ? node.id : node
  const inner = namesOf(pattern, pattern).find((one) => one.name === name)
  return { list, members: inner?.value?.members ?? [] }
}

function listOfCallback(source: Source, parameter: Node): Node | null {
  const callback = source.parents.get(parameter)
  if (!callback || !('params' in callback)) return null
  if ((callback.params as Node[])[0] !== parameter) return null
  const call = source.parents.get(callback)
  const called = call && methodCall(call)
  const isLoop = /^(?:forEach|map|each)$/.test(called?.name ?? '')
  return called && isLoop && called.given[0] === callback ? called.object : null
}

function listOfStatement(source: Source, declarator: Node): Node | null {
  const declaration = source.parents.get(declarator)
  const loop = declaration && source.parents.get(declaration)
  return loop?.type === 'ForOfStatement' && loop.left === declaration ? loop.right : null
}

/** The elements of a list at this place, of which the way begins with its number. */
export function elementsAt(list: Node, name: string | undefined): Node[] {
  if (list.type !== 'ArrayExpression') return []
  const elements = list.elements.filter((one) => one !== null)
  const chosen = name === EACH ? elements : [list.elements[Number(name)] ?? null]
  return chosen.flatMap((one) => (one ? [one.type === 'SpreadElement' ? one.argument : one] : []))
}

/** `Object.values(routes)` goes through what `routes` has. */
export function listIn(node: Node): Node | null {
  const called = methodCall(node)
  return called?.name === 'values' && keyOf(called.object) === 'Object'
    ? (called.given[0] ?? null)
    : null
}
