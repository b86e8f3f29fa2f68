/**
 * What names stand for: every declaration with all values that it is ever given, found from any use
 * of it. Assignments are gathered in the whole file, whatever their order: what a name *may* be.
 */
import type { File, Identifier, Node } from '@babel/types'
import { isFunction } from './walk.ts'

/** `const { app } = make()` gives `app` the member `app` of the expression `make()`. */
interface Value {
  readonly expression: Node
  readonly members: readonly string[]
}

export interface Binding {
  readonly name: string
  readonly kind: 'import' | 'variable' | 'function' | 'class' | 'parameter'
  /** What declares it: a declarator, a function, a class, a parameter, a specifier of an import. */
  readonly node: Node
  /** The initialiser, and what is assigned later on. */
  readonly values: readonly Value[]
}

export interface Bindings {
  /** undefined: a global, or nothing at all. */
  resolve(use: Identifier): Binding | undefined
  /** As if `name` stood at `node`. */
  resolveAt(node: Node, name: string): Binding | undefined
  /** Of the file's top level, in order. */
  readonly top: ReadonlyMap<string, Binding>
}

interface Growing extends Omit<Binding, 'values'> {
  readonly values: Value[]
}

type Names = Map<string, Growing>

export function bindingsOf(
  file: File,
  nodes: readonly Node[],
  parents: ReadonlyMap<Node, Node>,
): Bindings {
  const scopes = new Map<Node, Names>()
  const namesIn = (scope: Node): Names => {
    const names = scopes.get(scope) ?? new Map<string, Growing>()
    scopes.set(scope, names)
    return names
  }
  // kept for each node: looked for anew, a chain of ten thousand calls would take a billion steps
  const scopeAround = new Map<Node, Node>()
  for (const node of nodes) {
    const parent = parents.get(node)
    if (parent === undefined || node === file.program) continue
    scopeAround.set(node, opensScope(parent) ? parent : (scopeAround.get(parent) ?? file.program))
  }
  const scopeOf = (node: Node, opens: (node: Node) => boolean): Node => {
    let scope = scopeAround.get(node) ?? file.program
    while (!opens(scope) && scope !== file.program) scope = scopeAround.get(scope) ?? file.program
    return scope
  }
  const declare = (scope: Node, name: string, kind: Binding['kind'], node: Node, value?: Value) => {
    const names = namesIn(scope)
    const there = names.get(name)
    if (there !== undefined) return void (value !== undefined && there.values.push(value))
    names.set(name, { name, kind, node, values: value === undefined ? [] : [value] })
  }

  const resolveAt = (node: Node, name: string): Growing | undefined => {
    const own: Node | undefined = opensScope(node) ? node : scopeAround.get(node)
    for (let at = own; at !== undefined; at = scopeAround.get(at)) {
      const found = scopes.get(at)?.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  for (const node of nodes)
    switch (node.type) {
      case 'VariableDeclarator': {
        const declaration = parents.get(node)
        const isVar = declaration?.type === 'VariableDeclaration' && declaration.kind === 'var'
        const scope = scopeOf(node, isVar ? opensFunctionScope : opensScope)
        for (const { name, value } of namesOf(node.id, node.init))
          declare(scope, name, 'variable', node, value)
        break
      }
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
      case 'TSDeclareFunction':
      case 'TSEnumDeclaration': {
        const kind = node.type === 'ClassDeclaration' ? 'class' : 'function'
        const value = { expression: node, members: [] }
        if (node.id && node.type !== 'TSDeclareFunction')
          declare(scopeOf(node, opensScope), node.id.name, kind, node, value)
        break
      }
      case 'FunctionExpression':
      case 'ClassExpression':
        if (node.id)
          declare(node, node.id.name, 'function', node, { expression: node, members: [] })
        break
      case 'ImportDefaultSpecifier':
      case 'ImportNamespaceSpecifier':
      case 'ImportSpecifier':
        declare(file.program, node.local.name, 'import', node)
        break
      case 'TSImportEqualsDeclaration':
        declare(file.program, node.id.name, 'import', node)
        break
      case 'CatchClause':
        if (node.param)
          for (const { name } of namesOf(node.param)) declare(node, name, 'parameter', node.param)
        break
      default:
    }
  for (const node of nodes)
    if (isFunction(node))
      for (const parameter of node.params)
        for (const { name, value } of namesOf(parameter))
          declare(node, name, 'parameter', parameter, value)

  for (const node of nodes)
    if (node.type === 'AssignmentExpression' && /^(?:\|\||&&|\?\?)?=$/.test(node.operator))
      for (const { name, value } of namesOf(node.left, node.right)) {
        if (value === undefined) continue
        const binding = resolveAt(node, name)
        // `a = …` without a declaration makes a global
        if (binding === undefined) declare(file.program, name, 'variable', node, value)
        else binding.values.push(value)
      }

  return {
    resolve: (use) => resolveAt(use, use.name),
    resolveAt,
    top: namesIn(file.program),
  }
}

function opensFunctionScope(node: Node): boolean {
  return isFunction(node) || node.type === 'Program' || node.type === 'StaticBlock'
}

function opensScope(node: Node): boolean {
  switch (node.type) {
    case 'BlockStatement':
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'SwitchStatement':
    case 'CatchClause':
    case 'ClassExpression':
    case 'TSModuleBlock':
      return true
    default:
      return opensFunctionScope(node)
  }
}

interface Named {
  readonly name: string
  readonly node: Identifier
  readonly value: Value | undefined
}

/** The names of a pattern, with the part of `from` that each is given, and once more with its default. */
export function namesOf(pattern: Node, from?: Node | null): Named[] {
  const found: Named[] = []
  const waiting: { pattern: Node; members: readonly string[] | null; fallback?: Node }[] = [
    { pattern, members: [] },
  ]
  // those inside of a pattern wait behind the others
  for (const { pattern, members, fallback } of waiting)
    switch (pattern.type) {
      case 'Identifier': {
        const { name } = pattern
        const value = from && members !== null ? { expression: from, members } : undefined
        if (value !== undefined || fallback === undefined)
          found.push({ name, node: pattern, value })
        if (fallback !== undefined)
          found.push({ name, node: pattern, value: { expression: fallback, members: [] } })
        break
      }
      case 'AssignmentPattern':
        waiting.push({ pattern: pattern.left, members, fallback: pattern.right })
        break
      case 'TSParameterProperty':
        waiting.push({ pattern: pattern.parameter, members })
        break
      case 'RestElement':
        waiting.push({ pattern: pattern.argument, members: null })
        break
      case 'ObjectPattern':
        for (const property of pattern.properties) {
          if (property.type === 'RestElement') waiting.push({ pattern: property, members: null })
          else {
            const key = property.computed ? null : keyOf(property.key)
            const inner = key === null || members === null ? null : [...members, key]
            waiting.push({ pattern: property.value, members: inner })
          }
        }
        break
      case 'ArrayPattern':
        for (const [index, element] of pattern.elements.entries())
          if (element)
            waiting.push({ pattern: element, members: members && [...members, String(index)] })
        break
      default:
    }
  return found
}

/** `app.listen(3000)`: what is called, on what, and with what. */
export function methodCall(node: Node) {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return null
  const { property, object } = node.callee
  return { name: keyOf(property), object, given: node.arguments }
}

/** `a`, `'a'` and `1` as keys of an object; null where it is computed. */
export function keyOf(key: Node): string | null {
  if (key.type === 'Identifier') return key.name
  if (key.type === 'StringLiteral') return key.value
  if (key.type === 'NumericLiteral') return String(key.value)
  if (key.type === 'PrivateName') return `#${key.id.name}`
  return null
}
