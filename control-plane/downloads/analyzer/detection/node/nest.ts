/** NestJS: on which platform, and a route for health in its controllers. */
import type { Node } from '@babel/types'
import { methodCall } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { placeOf } from '../../syntax/places.ts'
import { referenceOf } from '../../syntax/references.ts'
import { healthRank, routePath, type HealthPath } from '../health.ts'
import { spotsIn, type Reach } from './codebase.ts'
import { textAt } from './literals.ts'
import type { Making } from './makings.ts'
import type { Tracer } from './trace.ts'

export function nestPlatform({ source, node }: Making): 'express' | 'fastify' {
  const isFastify = (one: Node | undefined) =>
    one?.type === 'NewExpression' &&
    referenceOf(source, one.callee)?.module === '@nestjs/platform-fastify'
  return node.type === 'CallExpression' && node.arguments.some(isFastify) ? 'fastify' : 'express'
}

export function nestHealth(reach: Reach, tracer: Tracer): HealthPath {
  const prefix = globalPrefix(reach, tracer)
  if (prefix === null) return null
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') continue
    const controller = decorated(source, node, 'Controller', tracer)
    if (controller === null) continue
    for (const member of node.body.body) {
      const route = member.type === 'ClassMethod' ? decorated(source, member, 'Get', tracer) : null
      if (route === null) continue
      const path = routePath(prefix, controller, route)
      if (healthRank(path) !== null) return { path, at: placeOf(source, member) }
    }
  }
  return null
}

/** '' where there is none; null: more than a text says what it is. */
function globalPrefix(reach: Reach, tracer: Tracer): string | null {
  for (const { source, node } of spotsIn(reach)) {
    const called = methodCall(node)
    if (called?.name !== 'setGlobalPrefix') continue
    const [prefix, options] = called.given
    return prefix && !options ? textAt({ source, node: prefix }, tracer) : null
  }
  return ''
}

/** The path that a decorator gives, '' for none; null: it is not decorated so. */
function decorated(
  source: Source,
  node: { readonly decorators?: readonly Node[] | null },
  name: string,
  tracer: Tracer,
): string | null {
  for (const decorator of node.decorators ?? []) {
    if (decorator.type !== 'Decorator' || decorator.expression.type !== 'CallExpression') continue
    const { callee, arguments: given } = decorator.expression
    const reference = referenceOf(source, callee)
    if (reference?.module !== '@nestjs/common' || reference.members[0] !== name) continue
    const [path] = given
    return path === undefined ? '' : textAt({ source, node: path }, tracer)
  }
  return null
}
