/** NestJS: on which platform, and a route for health in its controllers. */
import type { Node } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import { oncePer } from '../../syntax/once-per.ts'
import type { Source } from '../../syntax/parse.ts'
import { referenceOf } from '../../syntax/references.ts'
import { routePath, type HealthPath } from '../health.ts'
import { spotsIn, type Reach, type Spot } from './codebase.ts'
import { controllerHealth } from './controllers.ts'
import { textAt } from './literals.ts'
import type { Making } from './makings.ts'
import { propertyOf } from './serving.ts'
import type { Tracer } from './trace.ts'

export function nestPlatform({ source, node }: Making): 'express' | 'fastify' {
  const isFastify = (one: Node | undefined) =>
    one?.type === 'NewExpression' &&
    referenceOf(source, one.callee)?.module === '@nestjs/platform-fastify'
  return node.type === 'CallExpression' && node.arguments.some(isFastify) ? 'fastify' : 'express'
}

export function nestHealth(reach: Reach, tracer: Tracer): HealthPath {
  const spots = [...spotsIn(reach)]
  const isExcluded = globalPrefix(spots, tracer)
  const ofModules = modulePrefixes(spots, tracer)
  const versioned = versioning(spots, tracer)
  return controllerHealth(
    reach,
    tracer,
    (controller, path, own) => {
      const name = 'id' in controller ? keyOf(controller.id ?? controller) : null
      const inner = routePath((name === null ? null : ofModules.get(name)) ?? '', path)
      const prefix = isExcluded(inner)
      const version = versioned === null ? null : (own ?? versioned)
      return prefix === null
        ? null
        : routePath(
            prefix,
            version === null || version === '' ? '' : `v${version}`,
            (name === null ? null : ofModules.get(name)) ?? '',
          )
    },
    { module: '@nestjs/common', controllers: ['Controller'] },
  )
}

/** What stands before all paths, but for those that are left out of it; null: nobody can tell. */
function globalPrefix(spots: readonly Spot[], tracer: Tracer): (path: string) => string | null {
  for (const { source, node } of spots) {
    const called = methodCall(node)
    if (called?.name !== 'setGlobalPrefix') continue
    const [prefix, options] = called.given
    const text = prefix ? textAt({ source, node: prefix }, tracer) : null
    const left = options ? source.text.slice(options.start ?? 0, options.end ?? 0) : ''
    return (path) => {
      const [first = ''] = path.split('/').filter((segment) => segment !== '')
      return options && left.includes(first) ? null : text
    }
  }
  return () => ''
}

/** `app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' })`; '' for no default, null for none in paths. */
function versioning(spots: readonly Spot[], tracer: Tracer): string | null {
  for (const { source, node } of spots) {
    const called = methodCall(node)
    if (called?.name !== 'enableVersioning') continue
    const [options] = called.given
    if (options === undefined) return ''
    const [type] = propertyOf({ source, node: options }, 'type')
    if (type !== undefined && keyOf(lastOf(type.node)) !== 'URI') return null
    const [custom] = propertyOf({ source, node: options }, 'defaultVersion')
    return custom === undefined ? '' : (textAt(custom, tracer) ?? '')
  }
  return null
}

const lastOf = (node: Node) => (node.type === 'MemberExpression' ? node.property : node)

const namesRouterModule = oncePer(({ text }: Source) => /\bRouterModule\b/.test(text))

/** `RouterModule.register([{ path: '/api/v2', module: PublicModule }])`: of each controller what its module lies under. */
function modulePrefixes(spots: readonly Spot[], tracer: Tracer): ReadonlyMap<string, string> {
  const byModule = new Map<string, string>()
  for (const { source, node } of spots) {
    if (node.type !== 'ObjectExpression' || !namesRouterModule(source)) continue
    const [path] = propertyOf({ source, node }, 'path')
    const [module] = propertyOf({ source, node }, 'module')
    const text = path && module?.node.type === 'Identifier' ? textAt(path, tracer) : null
    if (text !== null) byModule.set(keyOf(module?.node ?? node) ?? '', text)
  }
  if (byModule.size === 0) return byModule
  const found = new Map<string, string>()
  for (const { source, node } of spots) {
    if (node.type !== 'ClassDeclaration') continue
    const prefix = byModule.get(keyOf(node.id ?? node) ?? '')
    if (prefix === undefined) continue
    for (const decorator of node.decorators ?? [])
      for (const given of argumentsOf(decorator))
        for (const list of propertyOf({ source, node: given }, 'controllers'))
          if (list.node.type === 'ArrayExpression')
            for (const one of list.node.elements)
              if (one?.type === 'Identifier') found.set(one.name, prefix)
  }
  return found
}

function argumentsOf(decorator: Node): readonly Node[] {
  const call = decorator.type === 'Decorator' ? decorator.expression : decorator
  return call.type === 'CallExpression' ? call.arguments : []
}
