/** What a file gives to others by which name: ES modules and CommonJS alike. */
import type { CallExpression, Node } from '@babel/types'
import { keyOf, namesOf } from './bindings.ts'
import { moduleOfCall } from './imports.ts'
import type { Source } from './parse.ts'
import { literal } from './texts.ts'
import { isFunction } from './walk.ts'

type Export =
  /** `=` is all of `module.exports`, which to an importer is the default too. */
  | { readonly name: string; readonly value: Node }
  /** Of another module; the name `*` passes everything on. */
  | { readonly name: string; readonly module: string; readonly imported: string }

export const WHOLE = '='

export function exportsOf(source: Source): Export[] {
  return source.nodes
    .flatMap((node): Export[] => {
      switch (node.type) {
        case 'ExportDefaultDeclaration':
          return [{ name: 'default', value: node.declaration }]
        case 'ExportAllDeclaration':
          return [{ name: '*', module: node.source.value, imported: '*' }]
        case 'ExportNamedDeclaration':
          return namedExports(node)
        case 'TSExportAssignment':
          return [{ name: WHOLE, value: node.expression }]
        case 'AssignmentExpression': {
          const name = exportedName(source, node.left)
          return name === null ? [] : [{ name, value: lastValue(node.right) }]
        }
        case 'CallExpression':
          return definedExports(source, node)
        default:
          return []
      }
    })
    .flatMap(spread)
}

function namedExports(node: Node & { type: 'ExportNamedDeclaration' }): Export[] {
  const { declaration, source: from } = node
  if (declaration?.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) =>
      namesOf(id).map(({ name, node }) => ({ name, value: node })),
    )
  if (declaration && 'id' in declaration && declaration.id?.type === 'Identifier')
    return [{ name: declaration.id.name, value: declaration }]
  return node.specifiers.flatMap((specifier): Export[] => {
    const name = keyOf(specifier.exported)
    if (name === null) return []
    if (specifier.type === 'ExportNamespaceSpecifier')
      return from ? [{ name, module: from.value, imported: '*' }] : []
    if (specifier.type !== 'ExportSpecifier') return []
    const { local } = specifier
    if (from) return [{ name, module: from.value, imported: keyOf(local) ?? 'default' }]
    return [{ name, value: local }]
  })
}

/** `module.exports = …`, `exports.app = …`, `module.exports.app = …`. */
function exportedName(source: Source, left: Node): string | null {
  if (left.type !== 'MemberExpression' || left.computed) return null
  const key = keyOf(left.property)
  if (key === null) return null
  if (isGlobal(source, left.object, 'module')) return key === 'exports' ? WHOLE : null
  if (isGlobal(source, left.object, 'exports')) return key
  const { object } = left
  const isModuleExports =
    object.type === 'MemberExpression' &&
    isGlobal(source, object.object, 'module') &&
    keyOf(object.property) === 'exports'
  return isModuleExports ? key : null
}

/** `exports = module.exports = …` gives the global something else, and leaves it one. */
function isGlobal(source: Source, node: Node, name: string): boolean {
  if (node.type !== 'Identifier' || node.name !== name) return false
  const declared = source.bindings.resolve(node)?.node
  return declared === undefined || declared.type === 'AssignmentExpression'
}

/** `Object.defineProperty(exports, 'app', { get … })`, and what compilers write for `export * from`. */
function definedExports(source: Source, { callee, arguments: given }: CallExpression): Export[] {
  const [first, second, third] = given
  const called = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
  const module = called === '__exportStar' && first ? moduleOfCall(source, first)?.module : null
  if (module) return [{ name: '*', module, imported: '*' }]
  if (!first || !isExports(source, first)) return []
  if (called === 'defineProperty' && third?.type === 'ObjectExpression') {
    const name = literal(second)
    return name === null
      ? []
      : third.properties.flatMap((one) => got(one).map((value) => ({ name, value })))
  }
  return called === 'assign' && second?.type === 'ObjectExpression'
    ? [{ name: WHOLE, value: second }]
    : []
}

/** What a property descriptor gives: its value, or all that its getter returns. */
function got(property: Node): Node[] {
  if (property.type === 'ObjectProperty' && keyOf(property.key) === 'value') return [property.value]
  const isMethod = property.type === 'ObjectMethod'
  if (!isMethod && property.type !== 'ObjectProperty') return []
  if (keyOf(property.key) !== 'get') return []
  const getter = isMethod ? property : property.value
  if (!isFunction(getter) || !('body' in getter)) return []
  if (getter.body.type !== 'BlockStatement') return [getter.body]
  return getter.body.body.flatMap((one) =>
    one.type === 'ReturnStatement' && one.argument ? [one.argument] : [],
  )
}

function isExports(source: Source, node: Node): boolean {
  return isGlobal(source, node, 'exports') || exportedName(source, node) === WHOLE
}

/** `exports = module.exports = app` gives `app`. */
function lastValue(node: Node): Node {
  let value = node
  while (value.type === 'AssignmentExpression') value = value.right
  return value
}

/** `module.exports = { app, server: make() }` gives each of its names as well. */
function spread(exported: Export): Export[] {
  if (!('value' in exported) || exported.value.type !== 'ObjectExpression') return [exported]
  if (exported.name !== WHOLE && exported.name !== 'default') return [exported]
  const inner = exported.value.properties.flatMap((property): Export[] => {
    if (property.type === 'SpreadElement') return []
    const name = property.computed ? null : keyOf(property.key)
    if (name === null) return []
    return [{ name, value: property.type === 'ObjectMethod' ? property : property.value }]
  })
  return [exported, ...inner]
}
