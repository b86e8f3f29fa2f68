/** Applications that others carry: what is mounted on their carrier stands before them too. */
import type { Node } from '@babel/types'
import type { Binding } from '../syntax/bindings.ts'
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
  const binding = source.bindings.resolveAt(call, name.name)
  if (isOnItsOwn(source, binding)) return false
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

/** `admin.listen(…)`, `createServer(admin)`, `export { admin }`: it may answer without its carrier. */
function isOnItsOwn(source: Source, binding: Binding | undefined): boolean {
  return source.nodes.some(
    (node) =>
      node.type === 'Identifier' &&
      node.name === binding?.name &&
      source.bindings.resolve(node) === binding &&
      (isServed(source, node) || isExported(source, node)),
  )
}

/** `admin.listen(…)`, `createServer(admin.callback())`, `serve({ fetch: admin.fetch })` */
function isServed(source: Source, use: Node): boolean {
  let node = use
  for (const around of ancestorsOf(source.parents, use)) {
    if (around.type === 'CallExpression' && around.callee !== node) {
      const { callee } = around
      const name = callee.type === 'MemberExpression' ? callee.property : callee
      return name.type === 'Identifier' && SERVES.test(name.name)
    }
    if (around.type === 'MemberExpression' && around.object === node) {
      const { property } = around
      if (property.type === 'Identifier' && property.name === 'listen') return true
    } else if (!/^(?:CallExpression|ObjectExpression|ObjectProperty)$/.test(around.type))
      return false
    node = around
  }
  return false
}

/** `module.exports = { admin }`, `export { admin }`, `export const admin = …` */
function isExported(source: Source, use: Node): boolean {
  let node = use
  for (const around of ancestorsOf(source.parents, use)) {
    switch (around.type) {
      case 'ExportSpecifier':
      case 'ExportDefaultDeclaration':
      case 'ExportNamedDeclaration':
        return true
      case 'VariableDeclarator':
        if (around.id !== node) return false
        break
      case 'AssignmentExpression':
        return node === around.right && EXPORTS.test(source.text.slice(around.left.start ?? 0))
      case 'VariableDeclaration':
      case 'ObjectExpression':
      case 'ObjectProperty':
        break
      default:
        return false
    }
    node = around
  }
  return false
}

const SERVES = /^(?:create(?:Secure|Adaptor)?Server|Server|serve)$/
const EXPORTS = /^(?:module\s*\.\s*)?exports\b/

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
