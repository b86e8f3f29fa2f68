/** When a mount happens that stands in another function than the application is made in. */
import type { Node } from '@babel/types'
import { contains } from '../edits/made-applications.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { startOf } from '../syntax/places.ts'
import { functionAround } from '../syntax/walk.ts'

/** What comes first in its function, comes before the mount. */
export interface Moment {
  readonly at: Node
  /** It is called back, some time: all of the function that it is handed on in may come first. */
  readonly isLater: boolean
}

export interface When {
  readonly moments: readonly Moment[]
  /** A function that has the mount, and no line of the file calls. */
  readonly uncalled: Node | null
}

/** A function that calls a function, that calls a function, … */
const STEPS_MAX = 8

export function whenMounted(source: Source, mount: Node, makings: readonly Node[]): When {
  const moments: Moment[] = [{ at: mount, isLater: false }]
  let home = functionAround(source.parents, mount)
  for (let steps = 0; home !== null && !isHome(home, makings); steps++) {
    const caller = steps < STEPS_MAX ? callerOf(source, home) : null
    if (caller === null) return { moments, uncalled: home }
    moments.push(caller)
    home = functionAround(source.parents, caller.at)
  }
  return { moments, uncalled: null }
}

/** The application is made in it, or in a field of the class that it constructs. */
function isHome(home: Node, makings: readonly Node[]): boolean {
  if (home.type === 'ClassMethod' && home.kind === 'constructor') return true
  return makings.some((making) => contains(home, making))
}

function callerOf(source: Source, called: Node): Moment | null {
  const uses = usesOf(source, called)
  const calls = uses.filter(({ isLater }) => !isLater)
  const first = (calls.length > 0 ? calls : uses).sort((a, b) => startOf(a.at) - startOf(b.at))[0]
  return first ?? null
}

function usesOf(source: Source, called: Node): Moment[] {
  const parent = source.parents.get(called)
  if (called.type === 'ClassMethod' || called.type === 'ObjectMethod') {
    const key = keyOf(called.key)
    return source.nodes.flatMap((node) => {
      if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
      return keyOf(node.callee.property) === key ? [{ at: node, isLater: false }] : []
    })
  }
  if (parent?.type === 'CallExpression')
    return [{ at: parent, isLater: parent.callee !== called && !isCalledAtOnce(parent) }]
  const name = nameOf(called, parent)
  const binding = name?.type === 'Identifier' ? source.bindings.resolve(name) : undefined
  if (binding === undefined) return []
  return source.nodes.flatMap((node): Moment[] => {
    if (node.type !== 'Identifier' || node === name || node.name !== binding.name) return []
    const user = source.parents.get(node)
    if (user?.type !== 'CallExpression' || contains(called, node)) return []
    if (source.bindings.resolve(node) !== binding) return []
    return [{ at: user, isLater: user.callee !== node && !isCalledAtOnce(user) }]
  })
}

/** `list.forEach(…)` */
function isCalledAtOnce(call: Node & { type: 'CallExpression' }): boolean {
  if (call.callee.type !== 'MemberExpression') return false
  return /^(?:forEach|map|some|every|call|apply)$/.test(keyOf(call.callee.property) ?? '')
}

function nameOf(called: Node, parent: Node | undefined): Node | null {
  if (called.type === 'FunctionDeclaration') return called.id ?? null
  if (parent?.type === 'VariableDeclarator') return parent.id
  return parent?.type === 'AssignmentExpression' ? parent.left : null
}
