/** What of service-node a file has already: its import, its service, and where that is mounted. */
import type { Node } from '@babel/types'
import { importsOf } from '../syntax/imports.ts'
import type { Source } from '../syntax/parse.ts'
import { textOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { ancestorsOf } from '../syntax/walk.ts'
import { PACKAGE } from './import-line.ts'
import { compact, type MadeApplication } from './made-applications.ts'

const GUARDS: ReadonlySet<string> = new Set(['verifyClaims', 'enforce'])
const ADAPTERS: ReadonlySet<string> = new Set([
  'express',
  'fastify',
  'koa',
  'hono',
  'nest',
  'node',
  'next',
  'upgrade',
])

export function importsPackage(source: Source): boolean {
  return importsOf(source).some(({ module, isTypeOnly }) => module === PACKAGE && !isTypeOnly)
}

/** `service.express()`, `verifyClaims().fastify()`, or of a service that another file has made. */
export function isAdapterCall(source: Source, node: Node): boolean {
  return adapterOf(source, node) !== null
}

/** `service.node(listener)`; `service.upgrade` is for WebSockets alone, and requests go past it. */
export function isRequestGuard(source: Source, node: Node): boolean {
  return (adapterOf(source, node) ?? 'upgrade') !== 'upgrade'
}

function adapterOf(source: Source, node: Node): string | null {
  const call = bare(node)
  if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return null
  const { object, property } = call.callee
  if (property.type !== 'Identifier' || !ADAPTERS.has(property.name)) return null
  return isService(source, object) ? property.name : null
}

function isService(source: Source, expression: Node): boolean {
  const node = bare(expression)
  if (node.type === 'CallExpression') return isGuardCall(source, node)
  if (node.type !== 'Identifier') return false
  const binding = source.bindings.resolve(node)
  const value = binding?.values.length === 1 ? binding.values[0] : undefined
  if (value && value.members.length === 0 && isGuardCall(source, bare(value.expression)))
    return true
  const reference = referenceOf(source, node)
  // another file's service
  return reference !== null && source.services?.has(reference.module) === true
}

/** What the middleware is called in a file, where it has a name there. */
export function serviceNameIn(source: Source): string | null {
  for (const node of source.nodes)
    if (node.type === 'Identifier' && isService(source, node)) return node.name
  return null
}

export function isGuardCall(source: Source, node: Node): boolean {
  if (node.type !== 'CallExpression') return false
  const reference = referenceOf(source, node.callee)
  return reference?.module === PACKAGE && GUARDS.has(reference.members[0] ?? '')
}

/** `app.use(service.express())`: what each is mounted on, for every path. */
export function mountCalls(source: Source): { readonly call: Node; readonly receiver: Node }[] {
  return source.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
    const { object, property } = node.callee
    if (property.type !== 'Identifier' || !/^(?:use|register)$/.test(property.name)) return []
    const at = node.arguments.findIndex((argument) => isAdapterCall(source, argument))
    if (at === -1) return []
    const [first] = node.arguments
    const isEverywhere =
      at === 0 || (first?.type === 'StringLiteral' && /^(?:\/?\*?)$/.test(first.value))
    return isEverywhere ? [{ call: node, receiver: object }] : []
  })
}

/** By what the names stand for: two functions may each have an `app` of their own. */
export function isMountedOn(source: Source, { receiver, name, call }: MadeApplication): boolean {
  const own = name?.type === 'Identifier' ? source.bindings.resolveAt(call, name.name) : undefined
  return mountCalls(source).some(({ receiver: node }) => {
    if (compact(textOf(source, node)) !== compact(receiver)) return false
    if (own !== undefined)
      return node.type === 'Identifier' && source.bindings.resolve(node) === own
    return name !== null || classAround(source, node) === classAround(source, call)
  })
}

/** `this.app` is another in another class. */
function classAround(source: Source, node: Node): Node | null {
  for (const around of ancestorsOf(source.parents, node))
    if (around.type === 'ClassBody') return around
  return null
}

/** `express().use(service.express())`, somewhere along the chain. */
export function isMountedInChain(source: Source, making: Node): boolean {
  let node = making
  for (const around of ancestorsOf(source.parents, making)) {
    if (around.type === 'CallExpression' && around.callee === node) {
      if (around.arguments.some((argument) => isAdapterCall(source, argument))) return true
    } else if (around.type !== 'MemberExpression' || around.object !== node) return false
    node = around
  }
  return false
}
