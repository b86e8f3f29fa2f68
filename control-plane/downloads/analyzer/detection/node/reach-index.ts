/** Looked up again and again while names are followed, and so made once for each file and reach. */
import type { Identifier, Node } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import { exportsOf } from '../../syntax/exports.ts'
import { importsOf, moduleOfCall } from '../../syntax/imports.ts'
import { oncePer } from '../../syntax/once-per.ts'
import type { Source } from '../../syntax/parse.ts'
import { interopArgument } from '../../syntax/references.ts'
import { functionAround } from '../../syntax/walk.ts'
import type { Reach } from './codebase.ts'

type Call = Node & { type: 'CallExpression' | 'NewExpression' }

/** `const self = this`, and what compilers call it. */
const STANDS_FOR_THIS = /^(?:_this\d*|self|that)$/

export const indexOf = oncePer((source: Source) => {
  /** What each function returns. */
  const returns = new Map<Node, Node[]>()
  /** `this.app` and `server.app`: what is assigned to them anywhere in the file. */
  const writes = new Map<string, Node[]>()
  /** By the last name of what is called. */
  const calls = new Map<string, Call[]>()
  /** `require('./routes')(app)`, by the module. */
  const callsOfModule = new Map<string, Call[]>()
  /** Names that are given to a call, by the name. */
  const passed = new Map<string, Identifier[]>()
  /** `super(…)` of constructors. */
  const superCalls: Call[] = []
  for (const node of source.nodes)
    switch (node.type) {
      case 'ReturnStatement': {
        const around = functionAround(source.parents, node)
        if (around !== null && node.argument) add(returns, around, node.argument)
        break
      }
      case 'ArrowFunctionExpression':
        if (node.body.type !== 'BlockStatement') add(returns, node, node.body)
        break
      case 'AssignmentExpression': {
        const way = wayOf(node.left)
        if (way === null) break
        add(writes, way, node.right)
        const [owner = '', name = ''] = way.split('.')
        if (STANDS_FOR_THIS.test(owner)) add(writes, `this.${name}`, node.right)
        break
      }
      case 'CallExpression':
      case 'NewExpression': {
        const { callee } = node
        for (const one of node.arguments) if (one.type === 'Identifier') add(passed, one.name, one)
        if (callee.type === 'Super') superCalls.push(node)
        const name = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
        if (name !== null) add(calls, name, node)
        const asked = moduleOfCall(source, node.callee)
        if (asked !== null) add(callsOfModule, asked.module, node)
        break
      }
      default:
    }
  return { exports: exportsOf(source), returns, writes, calls, callsOfModule, passed, superCalls }
})

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

function wayOf(left: Node): string | null {
  if (left.type !== 'MemberExpression') return null
  const key = keyOf(left.property)
  const { object } = left
  // Web.prototype.start = … is what `this.start` is to its other methods
  const isPrototype = object.type === 'MemberExpression' && keyOf(object.property) === 'prototype'
  const isThis = object.type === 'ThisExpression' || isPrototype
  const owner = isThis ? 'this' : object.type === 'Identifier' ? object.name : null
  return owner === null || key === null ? null : `${owner}.${key}`
}

interface Caller {
  readonly source: Source
  readonly call: Call
}

/** Of one file by another: its names there, and the modules that stand for it in calls. */
interface Importer {
  readonly source: Source
  readonly names: string[]
  readonly modules: string[]
}

/** Calls that may be of this function: by its name, or by a name that importers of its file gave. */
export function callersIn(reach: Reach): (target: Node, source: Source) => Caller[] {
  const importers = new Map<Source, Importer[]>()
  for (const source of reach.sources.values()) {
    const byTarget = new Map<Source, Importer>()
    const of = (module: string) => {
      const target = reach.target(source, module)
      if (target === undefined) return undefined
      const known = byTarget.get(target) ?? { source, names: [], modules: [] }
      byTarget.set(target, known)
      return known
    }
    for (const { module, local, node } of importsOf(source)) {
      const name = local ?? nameOfWrapped(source, node)
      const importer = of(module)
      if (name !== null) importer?.names.push(name)
    }
    for (const module of indexOf(source).callsOfModule.keys()) of(module)?.modules.push(module)
    for (const [target, importer] of byTarget) add(importers, target, importer)
  }
  const ofSuper = [...reach.sources.values()].flatMap((source) =>
    indexOf(source).superCalls.map((call) => ({ source, call })),
  )
  return (target, source) => {
    const names = namesOfFunction(target, source)
    const own = names.flatMap((name) => callsIn(source, name))
    const others = (importers.get(source) ?? []).flatMap((one) => [
      ...[...names, ...one.names].flatMap((name) => callsIn(one.source, name)),
      ...callsIn(one.source, 'default').filter(({ call }) => isOfNames(call, one.names)),
      ...one.modules.flatMap((module) => callsIn(one.source, module, 'callsOfModule')),
    ])
    const made = isConstructor(target) ? ofSuper : []
    return [
      ...new Map([...own, ...others, ...made].map((caller) => [caller.call, caller])).values(),
    ]
  }
}

/** `const web_1 = __importDefault(require('./web'))` */
function nameOfWrapped({ parents }: Source, asked: Node): string | null {
  const call = parents.get(asked)
  const declared = call && interopArgument(call) === asked ? parents.get(call) : undefined
  return declared?.type === 'VariableDeclarator' ? keyOf(declared.id) : null
}

/** `new web_1.default(app)`, as TypeScript writes it. */
function isOfNames({ callee }: Call, names: readonly string[]): boolean {
  const object = callee.type === 'MemberExpression' ? callee.object : null
  return object?.type === 'Identifier' && names.includes(object.name)
}

function callsIn(source: Source, name: string, by: 'calls' | 'callsOfModule' = 'calls'): Caller[] {
  return (indexOf(source)[by].get(name) ?? []).map((call) => ({ source, call }))
}

export function isConstructor(node: Node): boolean {
  return node.type === 'ClassMethod' && node.kind === 'constructor'
}

/** Its own, the variable's that it is given to, the member's that it is. */
function namesOfFunction(target: Node, source: Source): string[] {
  // a constructor is called by the name of its class
  if (isConstructor(target)) {
    const body = source.parents.get(target)
    const made = body && source.parents.get(body)
    return made ? namesOfFunction(made, source) : []
  }
  const parent = source.parents.get(target)
  const names: (Node | null | undefined)[] = [
    'id' in target ? target.id : null,
    'key' in target ? target.key : null,
  ]
  if (parent?.type === 'VariableDeclarator') names.push(parent.id)
  else if (parent?.type === 'ObjectProperty' || parent?.type === 'ClassProperty')
    names.push(parent.key)
  else if (parent?.type === 'AssignmentExpression' && parent.left.type === 'MemberExpression')
    names.push(parent.left.property)
  return names.flatMap((name) => (name ? (keyOf(name) ?? []) : []))
}
