/** One step on into what things consist of: members of classes, of what constructors make, and of objects. */
import type { Node } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { ancestorsOf, functionAround, isFunction } from '../../syntax/walk.ts'
import type { Step } from './callbacks.ts'
import type { Spot } from './codebase.ts'
import { EACH } from './loops.ts'
import { isClass } from './makings.ts'
import { indexOf } from './reach-index.ts'

export function classMembers(
  { source, node }: Spot,
  members: readonly string[],
  values: (spot: Spot) => Spot[],
): Step[] {
  if (!isClass(node))
    // what a function makes of its `this`
    return isFunction(node) && members.length > 0
      ? writes(source, `this.${members[0]}`)
          .filter((value) => isOfConstructor(source, value, node))
          .map((value) => ({ source, node: value, members: members.slice(1) }))
      : []
  const [name, ...rest] = members
  if (name === undefined) return []
  const steps: Step[] = []
  for (const member of node.body.body) {
    if (!('key' in member) || keyOf(member.key) !== name) continue
    if (member.type === 'ClassMethod' || member.type === 'ClassPrivateMethod') {
      const isGetter = member.kind === 'get'
      const given = isGetter ? returnsOf(member, source) : [member]
      steps.push(...given.map((node) => ({ source, node, members: rest })))
    } else if ('value' in member && member.value)
      steps.push({ source, node: member.value, members: rest })
  }
  for (const value of writes(source, `this.${name}`))
    for (const around of ancestorsOf(source.parents, value))
      if (around === node) steps.push({ source, node: value, members: rest })
  if (steps.length === 0 && node.superClass)
    for (const spot of values({ source, node: node.superClass }))
      if (spot.node !== node) steps.push({ ...spot, members })
  return steps
}

export function objectMember({ source, node, members }: Step): Step[] {
  if (node.type !== 'ObjectExpression') return []
  const [name, ...rest] = members
  const steps: Step[] = []
  // what stands last counts first
  for (const property of node.properties.toReversed()) {
    if (property.type === 'SpreadElement') {
      steps.push({ source, node: property.argument, members })
      continue
    }
    if (name !== EACH && (property.computed || keyOf(property.key) !== name)) continue
    const value = property.type === 'ObjectMethod' ? property : property.value
    steps.push({ source, node: value, members: rest })
    if (name !== EACH) break
  }
  return name === EACH ? steps.toReversed() : steps
}

export function writes(source: Source, way: string): readonly Node[] {
  return indexOf(source).writes.get(way) ?? []
}

export function returnsOf(node: Node, source: Source): readonly Node[] {
  return indexOf(source).returns.get(node) ?? []
}

/** Written in the function itself, or in a method of its prototype. */
function isOfConstructor(source: Source, value: Node, constructor: Node): boolean {
  const around = functionAround(source.parents, value)
  if (around === constructor) return true
  const isPrototype = (one: Node | undefined) =>
    one?.type === 'AssignmentExpression' &&
    one.left.type === 'MemberExpression' &&
    one.left.object.type === 'MemberExpression' &&
    keyOf(one.left.object.property) === 'prototype'
  const parent = source.parents.get(value)
  return isPrototype(parent) || (around !== null && isPrototype(source.parents.get(around)))
}
