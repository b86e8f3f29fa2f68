/**
 * From a mention to where the application behind it is made: through names, members, files, factories,
 * classes and what frameworks return of themselves. What cannot be followed is no application, never
 * a wrong one.
 */
import type { Identifier, Node, ObjectExpression } from '@babel/types'
import { LIMITS } from '../../../../../shared/limits.ts'
import { keyOf, methodCall, namesOf } from '../../syntax/bindings.ts'
import { moduleOfCall, specifiedBy } from '../../syntax/imports.ts'
import type { Source } from '../../syntax/parse.ts'
import { bare, interopArgument } from '../../syntax/references.ts'
import { ancestorsOf, functionAround, isFunction } from '../../syntax/walk.ts'
import { awaitedBy, givenTo, passedOn, resolvedBy, thenOf, type Step } from './callbacks.ts'
import type { Reach, Spot } from './codebase.ts'
import { exported, ofOwnExports } from './given-away.ts'
import { EACH, elementsAt, listIn, loopedOver } from './loops.ts'
import { classAround, isClass, makingAt, type Making } from './makings.ts'
import { classMembers, objectMember, returnsOf, writes } from './members.ts'
import { ofGlobal } from './globals.ts'
import { callersIn, isConstructor } from './reach-index.ts'

export interface Tracer {
  /** Every making that this may be. */
  makings(spot: Spot): Making[]
  /** Every expression without a name of its own that this may be: a literal, a function, a call. */
  values(spot: Spot): Spot[]
  /** One step on from there; null: this is as far as it goes, and none: nobody knows. */
  next(step: Step): Step[] | null
}

const MERGES =
  /^(?:assign|extend|defaults(?:Deep)?|merge(?:Deep)?|deepmerge|freeze|_objectSpread2?|__assign|_extends)$/
const nameOf = (callee: Node) => (callee.type === 'MemberExpression' ? callee.property : callee)

/** Of `a.b.c.…`: more is a circle. */
const MEMBERS_MAX = 10

export function createTracer(reach: Reach): Tracer {
  const callers = callersIn(reach)
  let stepsLeft: number = LIMITS.analyzerStepsMax

  /** A chain of calls would be followed from each of its links anew; null: it is being followed. */
  const valuesByNode = new Map<Node, Spot[] | null>()

  function values(spot: Spot): Spot[] {
    const known = valuesByNode.get(spot.node)
    if (known !== undefined) return known ?? []
    valuesByNode.set(spot.node, null)
    const found = followed(spot)
    valuesByNode.set(spot.node, found)
    return found
  }

  function followed({ source, node }: Spot): Spot[] {
    const found: Spot[] = []
    const seen = new Map<Node, Set<string>>()
    const waiting: Step[] = [{ source, node, members: [] }]
    for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
      const at = { ...step, node: bare(step.node) }
      const way = at.members.join('.')
      const ways = seen.get(at.node) ?? new Set()
      if (ways.has(way) || --stepsLeft < 0 || at.members.length > MEMBERS_MAX) continue
      seen.set(at.node, ways.add(way))
      const next = follow(at)
      if (next === null) found.push({ source: at.source, node: at.node })
      else waiting.push(...next.toReversed())
    }
    return found
  }

  /** null: this is as far as it goes. */
  function follow(step: Step): Step[] | null {
    const { source, node, members } = step
    if (makingAt(source, node) !== null && (members.length === 0 || !isClass(node))) return null
    switch (node.type) {
      case 'Identifier':
        return followName(step, node)
      case 'ThisExpression':
        return followMember(step)
      case 'Super': {
        const superClass = classAround(source, node)?.superClass
        return superClass ? [{ source, node: superClass, members }] : []
      }
      case 'MemberExpression':
      case 'OptionalMemberExpression': {
        const key = keyOf(node.property)
        // routers[i] may be each of them
        const isAny = node.computed && !/Literal$/.test(node.property.type)
        if (key === null && !isAny) return []
        return [{ source, node: node.object, members: [isAny ? EACH : (key ?? EACH), ...members] }]
      }
      case 'CallExpression':
      case 'OptionalCallExpression':
      case 'ImportExpression':
        return followCall(step)
      case 'NewExpression': {
        const resolved = resolvedBy(step)
        if (resolved !== null) return resolved
        const made = values({ source, node: node.callee })
        // of a class that extends an application
        if (members.length === 0)
          return made.filter(({ source, node }) => makingAt(source, node)).map(whole)
        return made.flatMap((spot) => classMembers(spot, members, values))
      }
      case 'ConditionalExpression':
        return [node.consequent, node.alternate].map((node) => ({ source, node, members }))
      case 'LogicalExpression':
        return [node.left, node.right].map((node) => ({ source, node, members }))
      case 'AssignmentExpression':
        return [{ source, node: node.right, members }]
      case 'ObjectExpression':
        return members.length === 0 ? null : objectMember(step)
      case 'ArrayExpression':
        if (members.length === 0) return null
        return elementsAt(node, members[0]).map((one) => ({
          source,
          node: one,
          members: members.slice(1),
        }))
      case 'ClassDeclaration':
      case 'ClassExpression':
        return members.length === 0 ? null : classMembers({ source, node }, members, values)
      default:
        return members.length === 0 ? null : []
    }
  }

  function followName({ source, members }: Step, use: Identifier): Step[] {
    const binding = source.bindings.resolve(use)
    if (binding === undefined)
      return [
        ...ofOwnExports(reach, source, use.name, members),
        ...ofGlobal(reach, use.name, members),
      ]
    if (binding.kind === 'import') {
      const { module, imported } = specifiedBy(source, binding.node) ?? {}
      if (module === undefined || imported === undefined) return []
      return exported(reach, source, module, imported === '*' ? members : [imported, ...members])
    }
    // const app = express(); app.handler = …
    const written = members.length > 0 ? writes(source, `${use.name}.${members[0]}`) : []
    const inner = namesOf(binding.node, binding.node).find(({ name }) => name === use.name)
    const passed =
      binding.kind === 'parameter'
        ? argumentsFor(source, binding.node, [...(inner?.value?.members ?? []), ...members])
        : []
    const looped = loopedOver(source, binding)
    if (looped !== null)
      return [{ source, node: looped.list, members: [EACH, ...looped.members, ...members] }]
    return [
      ...written.map((node) => ({ source, node, members: members.slice(1) })),
      ...passed,
      ...binding.values.map((value) => ({
        source,
        node: value.expression,
        members: [...value.members, ...members],
      })),
    ]
  }

  function followCall(step: Step): Step[] | null {
    const { source, node, members } = step
    const asked = moduleOfCall(source, node)
    if (asked !== null) return exported(reach, source, asked.module, members)
    if (node.type !== 'CallExpression' && node.type !== 'OptionalCallExpression') return []
    const list = members[0] === EACH ? listIn(node) : null
    if (list !== null) return [{ source, node: list, members }]
    const wrapped = interopArgument(node)
    if (wrapped !== null) return [{ source, node: wrapped, members }]
    // Object.assign({}, defaults, options): a member may be of each of them
    const merge = keyOf(nameOf(node.callee)) ?? ''
    if (members.length > 0 && MERGES.test(merge)) {
      const parts = node.arguments.map((one) => ({
        source,
        node: one.type === 'SpreadElement' ? one.argument : one,
        members,
      }))
      // of defaults the first counts, else the last
      return merge.startsWith('defaults') ? parts : parts.toReversed()
    }
    const then = thenOf(node)
    if (then !== null) return ofThen(source, then, members)
    const called = values({ source, node: node.callee })
    const functions = called.filter(({ node }) => isFunction(node))
    if (functions.length > 0)
      return functions.flatMap((spot) =>
        returnsOf(spot.node, spot.source).map((node) => ({ source: spot.source, node, members })),
      )
    // app.use(…), app.callback(), express().disable(…): of the application itself
    const callee = bare(node.callee)
    if (callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression') {
      const of = values({ source, node: callee.object }).filter(
        (spot) => makingAt(spot.source, spot.node) !== null,
      )
      if (of.length > 0) return of.map((spot) => ({ ...spot, members: [] }))
    }
    // const app = websockify(new Koa()): a package gives back what it adds to
    const [first] = node.arguments
    if (callee.type === 'Identifier' && first && makingAt(source, first)?.kind === 'application')
      return [{ source, node: first, members }]
    return members.length === 0 ? null : []
  }

  /** `Promise.resolve().then(() => require('./app.js'))`: what it is called with, or what it returns. */
  function ofThen(source: Source, given: Node, members: readonly string[]): Step[] {
    return values({ source, node: given }).flatMap((spot) =>
      isFunction(spot.node)
        ? returnsOf(spot.node, spot.source).map((node) => ({ source: spot.source, node, members }))
        : [],
    )
  }

  /** `this.app` in a class, or in an object's method. */
  function followMember({ source, node, members }: Step): Step[] {
    for (const around of ancestorsOf(source.parents, node))
      if (isClass(around))
        return members.length === 0 && makingAt(source, around) !== null
          ? [{ source, node: around, members }]
          : classMembers({ source, node: around }, members, values)
      // not what compilers list methods in: { key: 'start', value: function () { … } }
      else if (around.type === 'ObjectExpression' && !isDescriptor(around))
        return [{ source, node: around, members }]
    // Web.prototype.start = function () { this.app.listen() }
    const [name, ...rest] = members
    return writes(source, `this.${name}`).map((value) => ({ source, node: value, members: rest }))
  }

  /** What a function is called with in its own file, and where it is imported by its name. */
  function argumentsFor(source: Source, parameter: Node, members: readonly string[]): Step[] {
    const around = functionAround(source.parents, parameter)
    if (around === null || !('params' in around)) return []
    const index = (around.params as Node[]).findIndex((one) => one === parameter)
    // import('./app.js').then(({ default: app }) => …)
    const call = source.parents.get(around)
    const asked = index === 0 && call?.type === 'CallExpression' ? awaitedBy(source, call) : null
    if (asked !== null) return exported(reach, source, asked, members)
    return [
      ...calledBack(source, around, index, members),
      ...calledWith(source, around, index, members),
    ]
  }

  /** `create((error, app) => …)`, where `create` says `callback(null, app)`, or passes it on. */
  function calledBack(
    source: Source,
    callback: Node,
    index: number,
    members: readonly string[],
    depth = 0,
  ): Step[] {
    const call = source.parents.get(callback)
    if (call?.type !== 'CallExpression' || --stepsLeft < 0 || depth > MEMBERS_MAX) return []
    const at = call.arguments.findIndex((one) => one === callback)
    if (at < 0) return []
    // make().then((app) => …)
    if (at === 0 && index === 0 && methodCall(call)?.name === 'then')
      return [{ source, node: methodCall(call)?.object ?? call, members }]
    return values({ source, node: call.callee }).flatMap((called): Step[] => {
      if (!isFunction(called.node) || !('params' in called.node)) return []
      const parameter = called.node.params[at]
      if (parameter?.type !== 'Identifier') return []
      const own = givenTo(called.source, parameter, index, members)
      const further = passedOn(called.source, parameter)
      return [
        ...own,
        ...further.flatMap((one) => calledBack(called.source, one, index, members, depth + 1)),
      ]
    })
  }

  function calledWith(
    source: Source,
    around: Node,
    index: number,
    members: readonly string[],
  ): Step[] {
    const made = isConstructor(around) ? classAround(source, around) : around
    return callers(around, source).flatMap((caller) => {
      const given = caller.call.arguments[index]
      if (!given || --stepsLeft < 0) return []
      const called = values({ source: caller.source, node: caller.call.callee })
      const isOfIt = called.some(({ node }) => node === made)
      return isOfIt ? [{ source: caller.source, node: given, members }] : []
    })
  }

  return {
    values,
    makings: (spot) => values(spot).flatMap(({ source, node }) => makingAt(source, node) ?? []),
    next: follow,
  }
}

const whole = (spot: Spot): Step => ({ ...spot, members: [] })

function isDescriptor({ properties }: ObjectExpression): boolean {
  const [key, value] = properties.map((one) => ('key' in one ? keyOf(one.key) : null))
  return properties.length === 2 && key === 'key' && value === 'value'
}
