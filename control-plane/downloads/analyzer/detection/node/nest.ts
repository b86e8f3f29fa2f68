/** NestJS: on which platform, and a route for health in its controllers. */
import type { Node } from '@babel/types'
import { methodCall } from '../../syntax/bindings.ts'
import { referenceOf } from '../../syntax/references.ts'
import type { HealthPath } from '../health.ts'
import { spotsIn, type Reach } from './codebase.ts'
import { controllerHealth } from './controllers.ts'
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
  return controllerHealth(reach, tracer, prefix, {
    module: '@nestjs/common',
    controllers: ['Controller'],
  })
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
